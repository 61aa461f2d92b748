/**
 * Keila: a contact has email, first_name, last_name, data (JSON) and one of the states active, unsubscribed and unreachable. The CSV
 * file of "Export" has the columns Email, First name, Last name, Data and, in newer releases, Status (source code,
 * `KeilaWeb.ContactController` and `Keila.Contacts.Contact`); `GET /api/v1/contacts` has them as JSON (API documentation, "Contacts").
 */
import { parseJson } from '../../../json.ts';
import {
  addAttributes,
  type KnownColumns,
  type Leaving,
  readJson,
  recordsOf,
  rowsOf,
  textOf,
  type Vendor,
  valuesOf,
} from '../export-files.ts';

const COLUMNS: KnownColumns = {
  id: null,
  email: null,
  'first name': 'first_name',
  'last name': 'last_name',
  data: null,
  status: null,
  inserted_at: null,
  updated_at: null,
  'inserted at': null,
  'updated at': null,
};

export const keila: Vendor = {
  title: 'Keila',
  listsField: 'keila_lists',
  used: ['email', 'data', 'status'],
  async *read(files, ignored) {
    for (const file of files) {
      if (/\.json$/i.test(file.name)) {
        for (const record of recordsOf(await readJson(file), 'data')) {
          const { data, status, ...texts } = record;
          const plain = new Map(Object.entries(texts).map(([name, value]) => [name, textOf(value)]));
          const values = valuesOf(plain, COLUMNS, ignored);
          addAttributes(values, data);
          yield { email: textOf(record.email), values, lists: [], leavings: leavingOf(textOf(status)) };
        }
      } else if (/\.csv$/i.test(file.name)) {
        for await (const row of rowsOf(file)) {
          const values = valuesOf(row, COLUMNS, ignored);
          addAttributes(values, parseJson(row.get('data') ?? ''));
          yield { email: row.get('email') ?? '', values, lists: [], leavings: leavingOf(row.get('status') ?? '') };
        }
      } else ignored.files.add(file.name);
    }
  },
};

/** A file without the state may contain unsubscribed contacts. The user is told if a file contains no leavers. */
function leavingOf(status: string): Leaving[] {
  const state = status.toLowerCase();
  if (state === 'active' || state === '') return [];
  return [{ kind: state === 'unreachable' ? 'bounce' : 'all' }];
}
