/** Unsubscribe groups and their recipients. */
import { emails, flag, gives, line, record, records, reference, says, text } from './parameters.ts';
import { group, groupRecipient, listedGroup } from './records.ts';
import { collection } from './shapes.ts';
import type { Endpoint } from './types.ts';

const groupBody = { group_name: line('Offers'), description: text('What is on sale'), is_display: flag('1') };

export const unsubscribeGroups: Endpoint[] = [
  {
    methods: ['GET'],
    path: '/unsubscribes-groups',
    success: gives({ unsubscribesGroups: collection(listedGroup) }),
  },
  {
    methods: ['POST'],
    path: '/unsubscribes-groups/save',
    body: groupBody,
    success: says('Saved Successfully'),
    also: () => [{ is_display: '0' }],
    shownAt: ['/unsubscribes-groups/details', 'id'],
  },
  {
    methods: ['GET'],
    path: '/unsubscribes-groups/details',
    query: { id: record('groups') },
    success: gives({ unsubscribesGroup: group }),
    recordFailure: 'Record Not Found',
  },
  {
    methods: ['POST'],
    path: '/unsubscribes-groups/update',
    query: { id: record('groups') },
    body: groupBody,
    success: says('Updated Successfully'),
    also: () => [{ is_display: '0' }],
    recordFailure: 'Record Not Found',
    shownAt: ['/unsubscribes-groups/details', 'id'],
  },
  {
    methods: ['POST'],
    path: '/unsubscribes-groups/manually-add',
    body: {
      unsubscribe_groups_id: reference('groups'),
      email_address: emails('new@leaver.example, Other@Leaver.example'),
    },
    success: says('Added Successfully'),
    same: () => [{ email_address: 'new@leaver.example,Other@Leaver.example' }],
  },
  {
    methods: ['GET'],
    path: '/unsubscribes-groups/recipients-list',
    query: { groupId: record('groups') },
    success: gives({ recipients: collection(groupRecipient) }),
    recordFailure: 'Record Not Found',
  },
  {
    methods: ['DELETE'],
    path: '/unsubscribes-groups/recipients-delete',
    query: { id: record('recipients') },
    success: says('Deleted Successfully'),
    recordFailure: 'Record Not Found',
    alsoNotFound: (world) => [{ id: world.unsubscribers[0] }],
  },
  {
    methods: ['POST'],
    path: '/unsubscribes-groups/recipients-bulk-delete',
    body: { strIds: records('recipients') },
    success: says('Deleted Successfully'),
    recordFailure: 'Record Not Found',
    alsoNotFound: (world) => [{ strIds: [world.recipients[0], world.unsubscribers[0]] }],
  },
];
