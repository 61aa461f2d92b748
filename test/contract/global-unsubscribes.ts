/** The global unsubscribe list. */
import { emails, gives, record, records, says } from './parameters.ts';
import { unsubscriber } from './records.ts';
import { collection } from './shapes.ts';
import type { Endpoint } from './types.ts';

export const globalUnsubscribes: Endpoint[] = [
  {
    methods: ['GET'],
    path: '/global-unsubscribes',
    success: gives({ unSubscribers: collection(unsubscriber) }),
  },
  {
    methods: ['POST'],
    path: '/global-unsubscribes/save',
    body: { email_address: emails('new@leaver.example, Other@Leaver.example') },
    success: says('Added Successfully'),
    same: () => [{ email_address: 'new@leaver.example,Other@Leaver.example' }],
  },
  {
    methods: ['DELETE'],
    path: '/global-unsubscribes/delete',
    query: { id: record('unsubscribers') },
    success: says('Deleted Successfully'),
    recordFailure: 'Record Not Found',
    alsoNotFound: (world) => [{ id: world.recipients[0] }],
  },
  {
    methods: ['POST'],
    path: '/global-unsubscribes/bulk-delete',
    body: { strIds: records('unsubscribers') },
    success: says('Deleted Successfully'),
    recordFailure: 'Record Not Found',
    alsoNotFound: (world) => [{ strIds: [world.unsubscribers[0], world.recipients[0]] }],
  },
];
