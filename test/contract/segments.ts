/** Segments and their recipients; creating and updating them are additions. */
import { email, gives, line, record, reference, says, saysInErrors } from './parameters.ts';
import { segment, segmentRecipient } from './records.ts';
import { collection } from './shapes.ts';
import type { Endpoint } from './types.ts';

export const segments: Endpoint[] = [
  {
    methods: ['GET'],
    path: '/segment/list',
    success: gives({ segments: collection(segment) }),
  },
  {
    methods: ['GET'],
    path: '/segment/email/list',
    query: { segment_id: record('segments') },
    success: gives({ contactEmails: collection(segmentRecipient) }),
    recordFailure: 'Record not found',
  },
  {
    methods: ['POST'],
    path: '/segment/email/store',
    body: {
      segment_id: reference('segments'),
      first_name: line('Nora'),
      last_name: line('New'),
      email: email('nora@guest.example'),
    },
    success: says('Added Successfully'),
  },
  {
    methods: ['DELETE'],
    path: '/segment/email/delete',
    query: { segment_recipient_id: record('segmentRecipients') },
    success: says('Deleted Successfully'),
    recordFailure: 'Record Not Found',
  },
  {
    methods: ['DELETE'],
    path: '/segment/delete',
    query: { segment_id: record('segments') },
    success: saysInErrors('Deleted Successfully'),
    recordFailure: 'Record Not Found',
  },
];
