/** Contact types. */
import { gives, line, record, says, saysInErrors } from './parameters.ts';
import { contactType, listedContactType } from './records.ts';
import { collection } from './shapes.ts';
import type { Endpoint } from './types.ts';

export const contactTypes: Endpoint[] = [
  {
    methods: ['GET'],
    path: '/contacts-type',
    success: gives({ contactTypes: collection(listedContactType) }),
  },
  {
    methods: ['POST'],
    path: '/contacts-type/add',
    body: { name: line('Members', 2) },
    success: says('Added Successfully'),
    also: () => [{ name: 'Me' }],
  },
  {
    methods: ['GET'],
    path: '/contacts-type/view',
    query: { contact_type_id: record('contactTypes') },
    success: gives({ contactType }),
    recordFailure: 'Record Not Found',
  },
  {
    methods: ['POST'],
    path: '/contacts-type/update',
    body: { id: record('contactTypes'), name: line('Members', 2) },
    success: says('Updated Successfully'),
    recordFailure: 'Record Not Found',
    shownAt: ['/contacts-type/view', 'contact_type_id'],
  },
  {
    methods: ['DELETE'],
    path: '/contacts-type/delete',
    query: { contact_type_id: record('contactTypes') },
    success: saysInErrors('Deleted Successfully'),
    recordFailure: 'Record Not Found',
  },
];
