/**
 * Brevo: "Export contacts" creates a CSV file with the chosen attributes, ADDED_TIME and MODIFIED_TIME, and optionally the
 * subscription status and the ids of lists (API reference, "Export contacts": `exportSubscriptionStatus`, `exportMetadata`).
 * The API's answers have more: `GET /v3/contacts` has `emailBlacklisted`, `listIds` and `listUnsubscribed`; `GET
 * /v3/smtp/blockedContacts` has the reason why a contact is blocked ("Get the list of blocked or unsubscribed transactional contacts").
 * The attribute SMS is the mobile number with its country code ("Create a contact").
 */
import { isObject } from '../../../json.ts';
import {
  addAttributes,
  type ExportedPerson,
  type KnownColumns,
  type Leaving,
  type Row,
  readJson,
  recordsOf,
  rowsOf,
  textOf,
  textsOf,
  type Vendor,
  valuesOf,
} from '../export-files.ts';

/** Known columns. First and last names have attributes with different names; FNAME and LNAME are those of "Create a contact". */
const COLUMNS: KnownColumns = {
  email: null,
  'contact id': null,
  contact_id: null,
  added_time: null,
  modified_time: null,
  'added on': null,
  'last changed on': null,
  firstname: 'first_name',
  fname: 'first_name',
  prenom: 'first_name',
  vorname: 'first_name',
  lastname: 'last_name',
  lname: 'last_name',
  nom: 'last_name',
  nachname: 'last_name',
  langue: 'language',
  sprache: 'language',
  sms: 'phone_number',
};
/** Columns that tell whether the contact is blocked: yes or no. */
const BLOCKED = ['blacklisted', 'blocklisted', 'email_blacklisted', 'email_blocklisted', 'emailblacklisted'];
/** Columns with the state of the subscription in words. */
const STATUS = [
  'email_marketing',
  'email marketing',
  'email_marketing_status',
  'email subscription status',
  'subscription_status',
];
const LISTS = ['_listids', 'listids', 'list_ids', 'list ids'];
/** Columns that are read on their own and become no field. */
const UNMAPPED_COLUMNS = new Set([...BLOCKED, ...STATUS, ...LISTS]);

export const brevo: Vendor = {
  title: 'Brevo',
  listsField: 'brevo_lists',
  used: ['email'],
  async *read(files, ignored) {
    for (const file of files) {
      if (/\.json$/i.test(file.name)) {
        for (const record of recordsOf(await readJson(file), 'contacts')) yield fromRecord(record);
      } else if (/\.csv$/i.test(file.name)) {
        // The export can be filtered to blocked contacts, in a file whose name says so.
        const isBlockedFile = /blocklist|blacklist|unsubscri/i.test(file.name);
        for await (const row of rowsOf(file))
          yield {
            email: row.get('email') ?? '',
            values: valuesOf(new Map([...row].filter(([name]) => !UNMAPPED_COLUMNS.has(name))), COLUMNS, ignored),
            lists: LISTS.flatMap((name) => (row.get(name) ?? '').match(/\d+/g) ?? []).map(listName),
            leavings: isBlockedFile || isBlocked(row) ? [{ kind: 'all' }] : [],
          };
      } else ignored.files.add(file.name);
    }
  },
};

/** Returns a name for a list. Exports have only the number of a list. */
const listName = (id: string) => `Brevo ${id}`;

/** Returns true for a contact that is not clearly subscribed, and so gets no mail. */
function isBlocked(row: Row): boolean {
  const states = STATUS.map((name) => row.get(name)?.toLowerCase() ?? '').filter((state) => state !== '');
  return (
    BLOCKED.some((name) => /^(?:yes|true|1|oui|ja)$/i.test(row.get(name) ?? '')) ||
    states.some((state) => !/^(?:subscribed|yes|true|1)$/.test(state))
  );
}

function fromRecord(record: Record<string, unknown>): ExportedPerson {
  const email = textOf(record.email);
  const code = isObject(record.reason) ? textOf(record.reason.code) : '';
  if (code !== '') return { email, values: null, lists: [], leavings: [leavingByCode(code)] };
  const attributes = new Map<string, string>();
  addAttributes(attributes, record.attributes);
  const leavings: Leaving[] = textsOf(record.listUnsubscribed).map((id) => ({ kind: 'group', name: listName(id) }));
  if (record.emailBlacklisted !== false) leavings.push({ kind: 'all' });
  const values = valuesOf(attributes, COLUMNS, { columns: new Set(), files: new Set() });
  return { email, values, lists: textsOf(record.listIds).map(listName), leavings };
}

/**
 * Returns why a blocked contact gets no mail, by the code of the block: unsubscribedViaMA, unsubscribedViaEmail, unsubscribedViaApi,
 * adminBlocked, hardBounce, contactFlaggedAsSpam.
 */
function leavingByCode(code: string): Leaving {
  if (code === 'hardBounce') return { kind: 'bounce' };
  return { kind: code === 'contactFlaggedAsSpam' ? 'complaint' : 'all' };
}
