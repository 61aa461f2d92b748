/** Contacts, segments, and sends to them through the API, for tests of who is in a segment. */
import type { Test } from 'tap';
import { type Answer, type CallOptions, startApp, type TestApp } from './app.ts';

/** Makes a live automation for everybody who joins a target; its parameters are the target's id and table, and a utr. */
export const INSERT_LIVE_AUTOMATION =
  "INSERT INTO automations (user_id, automation_for, automation_for_table, automation_name, exit_criteria, unsubscribe_group_id, automation_type, utr, status, created_at, updated_at) VALUES (1, ?, ?, 'A', 1, '1', 2, ?, 1, '', '')";

/** An account with contact types 1 and 2, custom fields 1 (`hobby`, text), 2 (`points`, number) and 3 (`seen`, datetime-local). */
export async function startWithFields(t: Test): Promise<TestApp> {
  const app = await startApp(t);
  for (const name of ['Readers', 'Writers']) await mustAnswer(app, 'POST', '/contacts-type/add', { form: { name } });
  for (const [field_name, field_type] of [
    ['hobby', 'text'],
    ['points', 'number'],
    ['seen', 'datetime-local'],
  ]) {
    await mustAnswer(app, 'POST', '/custom-fields/save', { form: { field_name, field_type } });
  }
  return app;
}

/** The answer to a call that must succeed. */
export async function mustAnswer(
  app: TestApp,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Answer> {
  const answer = await app.one.call(method, path, options);
  if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.text}`);
  return answer;
}

const idOf = (answer: Answer) => Number(/=(\d+)$/.exec(String(answer.headers.location))?.[1]);

/** Adds a contact to type 1, unless told otherwise; gives its id. */
export async function addContact(app: TestApp, email: string, values: Record<string, unknown> = {}): Promise<number> {
  const form = { contact_type_id: 1, email, country: 1, ...values };
  return idOf(await mustAnswer(app, 'POST', '/contacts/add', { form }));
}

/** Stores a segment of type 1 with one rule, unless told otherwise; gives its id. */
export async function storeSegment(app: TestApp, rule: string[], more: Record<string, unknown> = {}): Promise<number> {
  const [field = '', operator = '', ...value] = rule;
  const form = {
    segment_name: 'S',
    contact_type_id: 1,
    select_field: [field],
    select_operator: [operator],
    ...(value.length > 0 && { value }),
    ...more,
  };
  return idOf(await mustAnswer(app, 'POST', '/segment/store', { form }));
}

/** The recipients of a segment, as the API lists them. */
// biome-ignore lint/suspicious/noExplicitAny: records are asserted field by field
export async function recipientsOf(app: TestApp, segment_id: number): Promise<any[]> {
  return (await mustAnswer(app, 'GET', '/segment/email/list', { query: { segment_id } })).body.message.contactEmails;
}

/** The local parts of the addresses in a segment, sorted; asserts that its count is theirs. */
export async function membersOf(t: Test, app: TestApp, segment_id: number): Promise<string> {
  const list = await recipientsOf(app, segment_id);
  const { segment } = (await mustAnswer(app, 'GET', '/segment/details', { query: { segment_id } })).body.message;
  t.equal(segment.segment_emails_count, list.length, 'the count equals the list');
  return list
    .map(({ email }) => email.split('@')[0])
    .sort()
    .join(' ');
}

/** Imports a CSV file into a contact type. */
export async function uploadCsv(app: TestApp, csv: string, type = '1'): Promise<void> {
  await mustAnswer(app, 'POST', '/contacts/upload-csv', {
    multipart: [
      ['contact_type_id', type],
      ['file', { filename: 'c.csv', content: csv }],
    ],
  });
}

/** What to do with a segment that fails to recompute, where none may. */
export function rethrow(_segmentId: number, error: unknown): never {
  throw error;
}

/** A single send but for its targets. */
export const SEND = {
  template_id: 1,
  template_html: '<p>Hello ((first_name))</p>',
  sender_id: 1,
  unsubscribe_group_id: 1,
  single_send_name: 'News',
  subject: 'Hello ((first_name))',
  preheader: 'Pre',
  schedule_type: 0,
};

/** Queues a single send with these targets and other fields; the first one of an account comes with its sender and group. */
export async function queueSend(app: TestApp, fields: Record<string, string[] | string>): Promise<string> {
  if (app.db.prepare('SELECT 1 FROM senders').get() === undefined) {
    await mustAnswer(app, 'POST', '/unsubscribes-groups/save', {
      form: { group_name: 'News', description: 'All', is_display: 1 },
    });
    const from = { from_name: 'Lark', from_email: 'lark@example.com', reply_to_email: 'lark@example.com' };
    await mustAnswer(app, 'POST', '/sender/save', {
      form: { ...from, country_id: 1, company_address: 'Lane 1', nickname: 'Lark' },
    });
    await app.background();
    app.db.exec('DELETE FROM outbox');
  }
  return (await mustAnswer(app, 'POST', '/single/send/create', { form: { ...SEND, ...fields } })).body.message.utr;
}

/** The status of a single send, and why it is held. */
export function statusOf(app: TestApp, utr: string): { status: number; held_reason: string | null } {
  const row = app.db
    .prepare('SELECT status, english(held_reason) AS held_reason FROM single_sends WHERE utr = ?')
    .get(utr);
  return row as { status: number; held_reason: string | null };
}
