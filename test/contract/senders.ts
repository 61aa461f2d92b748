/** Senders. */
import { email, gives, header, line, optional, record, says, saysInErrors, shared } from './parameters.ts';
import { sender } from './records.ts';
import { collection } from './shapes.ts';
import type { Endpoint } from './types.ts';

const senderBody = {
  from_name: header('Nora of Lark'),
  from_email: email('nora@lark.example'),
  reply_to_email: email('Answers@lark.example'),
  country_id: shared('1'),
  state_id: optional(shared('1')),
  city_id: optional(shared('1')),
  zip_code: optional(line('0123 AB')),
  company_address: line('High Street 1'),
  company_address2: optional(line('Second floor')),
  nickname: line('Nora'),
};

export const senders: Endpoint[] = [
  {
    // Described as POST, shown as GET: both.
    methods: ['GET', 'POST'],
    path: '/senders',
    success: gives({ senders: collection(sender) }),
    acts: false,
  },
  {
    methods: ['POST'],
    path: '/sender/save',
    body: senderBody,
    success: says('Added Successfully'),
    // 0 and an empty text are no state and no city.
    also: () => [{ state_id: '0', city_id: '' }, { company_address: 'x'.repeat(255) }],
    shownAt: ['/sender/details', 'sender_id'],
  },
  {
    methods: ['GET'],
    path: '/sender/details',
    query: { sender_id: record('senders') },
    success: gives({ sender }),
    recordFailure: 'Record Not Found',
  },
  {
    methods: ['POST'],
    path: '/sender/update',
    body: { sender_id: record('senders'), ...senderBody },
    success: says('Updated Successfully'),
    also: () => [{ state_id: '0', city_id: '' }],
    recordFailure: 'Record Not Found',
    shownAt: ['/sender/details', 'sender_id'],
  },
  {
    methods: ['DELETE'],
    path: '/sender/delete',
    query: { sender_id: record('senders') },
    success: saysInErrors('Deleted Successfully'),
    recordFailure: 'Record Not Found',
  },
  {
    methods: ['GET'],
    path: '/sender/resend-mail',
    query: { sender_id: record('senders') },
    success: says('Verification Mail Send'),
    acts: true,
    recordFailure: 'Record Not Found',
  },
];
