/** A summary of every endpoint, by resource: the headings and summaries of the OpenAPI document. */

const RESOURCES: Record<string, Record<string, string>> = {
  'Global unsubscribes': {
    'GET /global-unsubscribes': 'List the globally unsubscribed addresses',
    'POST /global-unsubscribes/save': 'Unsubscribe addresses from all mail',
    'DELETE /global-unsubscribes/delete': 'Remove an address from the global list',
    'POST /global-unsubscribes/bulk-delete': 'Remove several addresses from the global list',
  },
  'Unsubscribe groups': {
    'GET /unsubscribes-groups': 'List the groups',
    'POST /unsubscribes-groups/save': 'Add a group',
    'GET /unsubscribes-groups/details': 'Read a group',
    'POST /unsubscribes-groups/update': 'Change a group',
    'POST /unsubscribes-groups/manually-add': 'Unsubscribe addresses from a group',
    'GET /unsubscribes-groups/recipients-list': 'List the addresses unsubscribed from a group',
    'DELETE /unsubscribes-groups/recipients-delete': "Remove an address from a group's list",
    'POST /unsubscribes-groups/recipients-bulk-delete': "Remove several addresses from a group's list",
  },
  Segments: {
    'GET /segment/list': 'List the segments',
    'POST /segment/store': 'Add a segment',
    'POST /segment/update': 'Change a segment',
    'GET /segment/details': 'Read a segment',
    'DELETE /segment/delete': 'Delete a segment',
    'GET /segment/email/list': 'List the recipients of a segment',
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
    'GET /get-dynamic/content': 'List the placeholders a mail can contain',
    'GET /get-design/template': 'List the templates',
  },
  'Single sends': {
    'GET /single-send/list': 'List the single sends',
    'POST /single/send/create': 'Create a single send, sent at once or on a schedule',
    'POST /single/send/preview': 'Preview the audience and the mail of a single send',
    'GET /single-send/details': 'Read a single send',
    'POST /single/send/update': 'Change a single send that has not been sent',
    'GET /single/send/duplicate': 'Duplicate a single send',
    'POST /single/send/duplicate': 'Duplicate a single send',
    'DELETE /single/send/delete': 'Delete a single send',
    'POST /single/send/bulk-delete': 'Delete several single sends',
    'POST /single/send/cancel': 'Cancel a single send',
    'POST /single/send/pause': 'Pause a single send',
    'POST /single/send/resume': 'Resume a single send',
    'POST /single/send/test': 'Send a test of a single send',
    'GET /single-send/report': 'Read the report of a single send',
    'GET /single-send/recipients': 'List the recipients of a single send with their results',
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
    'GET /automations/report': 'Read the report of an automation (addition)',
    'GET /automations/preview': 'Preview what one person receives from an automation, and when (addition)',
  },
  Senders: {
    'GET /senders': 'List the senders',
    'POST /senders': 'List the senders',
    'POST /sender/save': 'Add a sender and send its verification mail',
    'GET /sender/details': 'Read a sender',
    'POST /sender/update': 'Change a sender',
    'DELETE /sender/delete': 'Delete a sender',
    'GET /sender/report': "Read the state of a sender's verification mail (addition)",
    'GET /sender/resend-mail': 'Send the verification mail again',
  },
  'Design pages': { 'POST /design-links/revoke': 'Revoke the links to the design page of a mail (addition)' },
  Places: { 'GET /get/country-state-city': 'List countries, states and cities' },
  'Bounces and suppressions': {
    'POST /bounces': 'Record a bounce or a complaint',
    'GET /suppressions/list': 'List the suppressed addresses',
    'DELETE /suppressions/delete': 'Remove an address from the suppression list',
  },
  Outbox: {
    'GET /outbox/list': 'List the mails in the built-in outbox',
    'GET /outbox/details': 'Read a mail in the built-in outbox',
  },
};

export const TAGS = Object.keys(RESOURCES);

const OPERATIONS = new Map(
  Object.entries(RESOURCES).flatMap(([tag, operations]) =>
    Object.entries(operations).map(([operation, summary]) => [operation, { tag, summary }]),
  ),
);

/** The resource and summary of an endpoint, by its method and its path under /api. Throws an Error when it has none. */
export function describeOperation(method: string, path: string): { tag: string; summary: string } {
  const operation = OPERATIONS.get(`${method.toUpperCase()} ${path}`);
  if (operation === undefined) throw new Error(`${method} ${path} has no summary in src/http/operations.ts`);
  return operation;
}
