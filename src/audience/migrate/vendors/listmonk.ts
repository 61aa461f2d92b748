/**
 * listmonk: the CSV file of "Export" has the columns uuid, email, name, attributes (JSON), status, created_at and
 * updated_at, but no lists (source code, cmd/subscribers.go, `ExportSubscribers`). The answers of its API have more:
 * `GET /api/subscribers?per_page=all` has the lists with the state of each subscription, `GET /api/bounces` the
 * bounces, `GET /api/templates` the templates (documentation, "API / Subscribers", "Bounces", "Templates").
 */
import { isObject, parseJson } from '../../../json.ts';
import {
  addAttributes,
  type ExportedPerson,
  type ExportedTemplate,
  type Ignored,
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
  uuid: null,
  email: null,
  name: null,
  attributes: null,
  status: null,
  created_at: null,
  updated_at: null,
};

export const listmonk: Vendor = {
  title: 'listmonk',
  listsField: 'listmonk_lists',
  used: ['email', 'name', 'attributes', 'status'],
  async *read(files, ignored) {
    for (const file of files) {
      if (/\.json$/i.test(file.name)) {
        for (const record of recordsOf(await readJson(file), 'data', 'results')) yield* fromRecord(record, ignored);
      } else if (/\.csv$/i.test(file.name)) {
        for await (const row of rowsOf(file)) {
          const values = valuesOf(row, COLUMNS, ignored);
          addName(values, row.get('name') ?? '');
          addAttributes(values, parseJson(row.get('attributes') ?? ''));
          yield {
            email: row.get('email') ?? '',
            values,
            lists: [],
            leavings: leavingsByStatus(row.get('status') ?? ''),
          };
        }
      } else ignored.files.add(file.name);
    }
  },
};

/** Only enabled subscribers get mail; `disabled` is a state of earlier releases. */
function leavingsByStatus(status: string): Leaving[] {
  return status.toLowerCase() === 'enabled' ? [] : [{ kind: 'all' }];
}

/**
 * listmonk stores a name in one field. Its first word is the first name and the rest the last name, as in
 * `.Subscriber.FirstName` and `.LastName`.
 */
function addName(values: Map<string, string>, name: string): void {
  const [first = '', ...rest] = name.split(/\s+/);
  if (first !== '') values.set('first_name', first);
  if (rest.length > 0) values.set('last_name', rest.join(' '));
}

function* fromRecord(record: Record<string, unknown>, ignored: Ignored): Generator<ExportedPerson | ExportedTemplate> {
  const email = textOf(record.email);
  if (email !== '' && record.status !== undefined) yield subscriber(email, record);
  else if (email !== '' && record.type !== undefined) yield* bounce(email, textOf(record.type));
  else if (typeof record.body === 'string' && record.name !== undefined) {
    // Templates of transactional mails have different placeholders.
    if (record.type === 'tx') ignored.files.add(textOf(record.name));
    else yield { name: textOf(record.name), html: replaceTags(record.body) };
  }
}

function subscriber(email: string, record: Record<string, unknown>): ExportedPerson {
  const values = new Map<string, string>();
  addName(values, textOf(record.name));
  addAttributes(values, record.attribs);
  const lists = Array.isArray(record.lists) ? record.lists.filter(isObject) : [];
  const unsubscribed = lists.filter((list) => textOf(list.subscription_status) === 'unsubscribed');
  // listmonk sends to an unconfirmed subscription only where the list asks for no confirmation.
  const mailed = lists.filter(
    (list) =>
      !unsubscribed.includes(list) &&
      (textOf(list.subscription_status) !== 'unconfirmed' || textOf(list.optin) !== 'double'),
  );
  const hasNoMailedList = lists.length > 0 && mailed.length === 0;
  const fromLists: Leaving[] = unsubscribed.map((list) => ({ kind: 'group', name: textOf(list.name) }));
  return {
    email,
    values,
    lists: mailed.map((list) => textOf(list.name)),
    leavings: [
      ...fromLists,
      ...(hasNoMailedList ? [{ kind: 'all' } as const] : leavingsByStatus(textOf(record.status))),
    ],
  };
}

/** Yields a leaver for a hard bounce or a complaint. Soft bounces are ignored, because after one of them the address still gets mail. */
function* bounce(email: string, type: string): Generator<ExportedPerson> {
  if (type === 'hard' || type === 'complaint')
    yield { email, values: null, lists: [], leavings: [{ kind: type === 'hard' ? 'bounce' : 'complaint' }] };
}

/** Replaces template expressions ("Templating") by our placeholders and removes unknown ones, because they would be sent literally. */
function replaceTags(html: string): string {
  const placeholders: Readonly<Record<string, string>> = {
    '.Subscriber.Email': '((email))',
    '.Subscriber.FirstName': '((first_name))',
    '.Subscriber.LastName': '((last_name))',
    '.Subscriber.Name': '((full_name))',
    UnsubscribeURL: '((unsubscribe_preferences))',
    ManageURL: '((unsubscribe_preferences))',
    MessageURL: '((web_copy))',
  };
  return html.replaceAll(
    /\{\{-?\s{0,20}([^{}]{0,300}?)\s{0,20}-?\}\}/g,
    (_tag, name: string) => placeholders[name] ?? '',
  );
}
