/** What every endpoint of the API does in a few words, by resource: the headings and summaries of the OpenAPI document. */

const RESOURCES: Record<string, Record<string, string>> = {
  'Global unsubscribes': {
    'GET /global-unsubscribes': 'List the addresses that left everything',
    'POST /global-unsubscribes/save': 'Unsubscribe addresses from everything',
    'DELETE /global-unsubscribes/delete': 'Take an address off the list',
    'POST /global-unsubscribes/bulk-delete': 'Take several addresses off the list',
  },
  'Unsubscribe groups': {
    'GET /unsubscribes-groups': 'List the groups',
    'POST /unsubscribes-groups/save': 'Add a group',
    'GET /unsubscribes-groups/details': 'Read a group',
    'POST /unsubscribes-groups/update': 'Change a group',
    'POST /unsubscribes-groups/manually-add': 'Unsubscribe addresses from a group',
    'GET /unsubscribes-groups/recipients-list': 'List the addresses that left a group',
    'DELETE /unsubscribes-groups/recipients-delete': 'Take an address off a group',
    'POST /unsubscribes-groups/recipients-bulk-delete': 'Take several addresses off a group',
  },
  Segments: {
    'GET /segment/list': 'List the segments',
    'POST /segment/store': 'Add a segment',
    'POST /segment/update': 'Change a segment',
    'GET /segment/details': 'Read a segment',
    'DELETE /segment/delete': 'Delete a segment',
    'GET /segment/email/list': 'List who is in a segment',
    'POST /segment/email/store': 'Add a recipient to a segment by hand',
    'DELETE /segment/email/delete': 'Remove a recipient from a segment',
  },
  'Contact types': {
    'GET /contacts-type': 'List the contact types',
    'POST /contacts-type/add': 'Add a contact type',
    'GET /contacts-type/view': 'Read a contact type',
    'POST /contacts-type/update': 'Rename a contact type',
    'DELETE /contacts-type/delete': 'Delete a contact type',
  },
  Contacts: {
    'GET /contacts/list': 'List the contacts',
    'POST /contacts/add': 'Add a contact',
    'GET /contacts/details': 'Read a contact',
    'POST /contacts/update': 'Change a contact',
    'DELETE /contacts/delete': 'Delete a contact',
    'POST /contacts/bulk-delete': 'Delete several contacts',
    'GET /contacts/csv-sample/download': 'Download a sample of the CSV to upload',
    'GET /contacts/export': 'Download the contacts of a type as CSV',
    'POST /contacts/upload-csv': 'Import contacts from a CSV file',
    'GET /contacts/imports': 'List the imports',
    'GET /contacts/imports/details': 'Read what an import did',
  },
  Fields: {
    'GET /reserve-fields': 'List the fields every contact has',
    'GET /custom-fields': 'List your own fields',
    'POST /custom-fields/save': 'Add a field of your own',
    'DELETE /custom-fields/delete': 'Delete a field of your own',
  },
  Templates: {
    'GET /get-dynamic/content': 'List the placeholders a mail can carry',
    'GET /get-design/template': 'List the templates',
  },
  'Single sends': {
    'GET /single-send/list': 'List the single sends',
    'POST /single/send/create': 'Create a single send, to leave at once or later',
    'POST /single/send/preview': 'See whom a single send would reach, and its mail',
    'GET /single-send/details': 'Read a single send',
    'POST /single/send/update': 'Change a single send that waits',
    'GET /single/send/duplicate': 'Duplicate a single send',
    'POST /single/send/duplicate': 'Duplicate a single send',
    'DELETE /single/send/delete': 'Delete a single send',
    'POST /single/send/bulk-delete': 'Delete several single sends',
    'POST /single/send/cancel': 'Cancel a single send',
    'POST /single/send/pause': 'Pause a single send',
    'POST /single/send/resume': 'Resume a single send',
    'POST /single/send/test': 'Send a test of a single send',
    'GET /single-send/report': 'Read what became of a single send',
    'GET /single-send/recipients': 'List what became of each recipient',
  },
  Automations: {
    'GET /automations': 'List the automations',
    'POST /automations/create': 'Create an automation',
    'GET /automations/duplicate': 'Duplicate an automation',
    'GET /automations/details': 'Read an automation',
    'GET /automations/pause': 'Pause an automation',
    'GET /automations/set-live': 'Set an automation live',
    'DELETE /automations/delete': 'Delete an automation',
    'POST /automations/bulk-delete': 'Delete several automations',
    'GET /automations/schedule': 'List the mails of an automation',
    'POST /automations/schedule/create': 'Add a mail to an automation',
    'DELETE /automations/schedule/delete': 'Delete a mail of an automation',
    'GET /automations/report': 'Tell what became of an automation (addition)',
    'GET /automations/preview': 'Tell what one person receives from an automation, and when (addition)',
  },
  Senders: {
    'GET /senders': 'List the senders',
    'POST /senders': 'List the senders',
    'POST /sender/save': 'Add a sender and ask its address to confirm',
    'GET /sender/details': 'Read a sender',
    'POST /sender/update': 'Change a sender',
    'DELETE /sender/delete': 'Delete a sender',
    'GET /sender/report': 'Tell what became of the verification mail of a sender (addition)',
    'GET /sender/resend-mail': 'Ask a sender to confirm once more',
  },
  'Design pages': { 'POST /design-links/revoke': 'Take back the links to the design page of a mail (addition)' },
  Places: { 'GET /get/country-state-city': 'List countries, states and cities' },
  'Bounces and suppressions': {
    'POST /bounces': 'Record a bounce or a complaint',
    'GET /suppressions/list': 'List the addresses kept from mail',
    'DELETE /suppressions/delete': 'Let an address have mail again',
  },
  Outbox: {
    'GET /outbox/list': 'List the mails kept here instead of sent',
    'GET /outbox/details': 'Read a mail kept here',
  },
};

export const TAGS = Object.keys(RESOURCES);

const OPERATIONS = new Map(
  Object.entries(RESOURCES).flatMap(([tag, operations]) =>
    Object.entries(operations).map(([operation, summary]) => [operation, { tag, summary }]),
  ),
);

/** Resource and summary of an endpoint by its method and its path under /api; throws an Error for one that has none. */
export function describeOperation(method: string, path: string): { tag: string; summary: string } {
  const operation = OPERATIONS.get(`${method.toUpperCase()} ${path}`);
  if (operation === undefined) throw new Error(`${method} ${path} has no summary in src/http/operations.ts`);
  return operation;
}
