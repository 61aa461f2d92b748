/**
 * Twilio SendGrid: "Export Contacts" of Marketing Campaigns creates a CSV file of contacts with reserved and custom fields. The reserved
 * ones are those of the API reference, "Add or Update a Contact": address_line_1, address_line_2, alternate_emails, city and others.
 * Suppressions are in separate files with names such as suppression_bounces.csv, which are downloaded from the pages below Suppressions:
 * - global unsubscribes (email, created) and group unsubscribes
 * - bounces and blocks (status, reason, email, created)
 * - invalid emails (reason, email, created)
 * - spam reports (ip, email, created)
 * The files are described in the documentation below "Suppressions Overview", the columns also in "Importing SendGrid Suppression List" of
 * sparkpost-cli.
 */
import { basename } from 'node:path/posix';
import {
  columnsOf,
  type KnownColumns,
  type Leaving,
  type Row,
  rowsOf,
  type Vendor,
  valuesOf,
} from '../export-files.ts';

const COLUMNS: KnownColumns = {
  email: null,
  alternate_emails: null,
  contact_id: null,
  created_at: null,
  updated_at: null,
  address_line_1: 'address_line1',
  address_line_2: 'address_line2',
};
/** A file with one of these columns has contacts. */
const CONTACT_COLUMNS = ['contact_id', 'first_name', 'last_name'];

export const sendgrid: Vendor = {
  title: 'SendGrid',
  listsField: 'sendgrid_lists',
  used: ['email', 'alternate_emails'],
  async *read(files, ignored) {
    for (const file of files) {
      const columns = /\.csv$/i.test(file.name) ? await columnsOf(file) : new Set<string>();
      const name = basename(file.name).toLowerCase();
      // A block is a temporary refusal, after which SendGrid itself tries again.
      if (!columns.has('email') || name.includes('block')) ignored.files.add(file.name);
      else if (CONTACT_COLUMNS.some((column) => columns.has(column)))
        for await (const row of rowsOf(file)) {
          const values = valuesOf(row, COLUMNS, ignored);
          const [alternate = ''] = (row.get('alternate_emails') ?? '')
            .split(/[,;|\s[\]"]+/)
            .filter((part) => part !== '');
          if (alternate !== '') values.set('alt_email', alternate);
          yield { email: row.get('email') ?? '', values, lists: [], leavings: [] };
        }
      else
        for await (const row of rowsOf(file))
          yield { email: row.get('email') ?? '', values: null, lists: [], leavings: [leavingOf(row, columns, name)] };
    }
  },
};

/**
 * Returns why the address of a row gets no mail, by the suppression list it is from. An unknown list counts as global unsubscribes, so that
 * nobody is mailed by mistake.
 */
function leavingOf(row: Row, columns: ReadonlySet<string>, fileName: string): Leaving {
  if (columns.has('ip') || fileName.includes('spam')) return { kind: 'complaint' };
  if (columns.has('reason') || fileName.includes('bounce') || fileName.includes('invalid')) return { kind: 'bounce' };
  const group = row.get('group_name') || row.get('group name') || row.get('group_id') || '';
  return group === '' ? { kind: 'all' } : { kind: 'group', name: group };
}
