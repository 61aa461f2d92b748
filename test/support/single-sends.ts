/** An account that is ready to send, and what an owner sees of a single send. */
import type { Test } from 'tap';
import { type Caller, startApp, type TestApp } from './app.ts';

/** For how long an immediate send can be recalled, in milliseconds. */
export const RECALL = 10_000;

/** An account with a list of three, a group and a sender; gives the body of a send to them. */
export async function readyToSend(
  t: Test,
  settings: Record<string, string> = {},
  courierOf?: Parameters<typeof startApp>[2],
  logTo?: Parameters<typeof startApp>[3],
) {
  const app = await startApp(t, settings, courierOf, logTo);
  const { one } = app;
  await one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  for (const name of ['Ann', 'Bob', 'Zoë']) await addContact(one, 1, name);
  await one.call('POST', '/unsubscribes-groups/save', {
    form: { group_name: 'News', description: 'n', is_display: 1 },
  });
  await one.call('POST', '/sender/save', {
    form: {
      from_name: 'Lark',
      from_email: 'lark@example.com',
      reply_to_email: 'desk@example.com',
      country_id: 1,
      company_address: '1 Harbour St',
      nickname: 'l',
    },
  });
  await app.background();
  app.db.exec('DELETE FROM outbox');
  const body: Record<string, unknown> = {
    template_id: 1,
    template_html: '<p>Hello ((first_name|there)), see <a href="https://example.com/a">this</a></p>',
    sender_id: 1,
    unsubscribe_group_id: 1,
    single_send_name: 'Autumn',
    subject: 'For ((first_name|you))',
    preheader: 'News',
    recipient_id: ['contacts_1'],
    schedule_type: 0,
  };
  return { app, body };
}

/** Adds a contact with this first name and an address made from it. */
export const addContact = (caller: Caller, typeId: number, name: string) =>
  caller.call('POST', '/contacts/add', {
    form: {
      contact_type_id: typeId,
      first_name: name,
      email: `${name === 'Zoë' ? 'zoe' : name}@example.org`,
      country: 1,
    },
  });

/** Creates a single send; gives its utr. */
export async function createSend(app: TestApp, body: Record<string, unknown>): Promise<string> {
  const answer = await app.one.call('POST', '/single/send/create', { form: body });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body.message.utr;
}

/** The record of a single send. */
export const sendDetails = async (app: TestApp, utr: string) =>
  (await app.one.call('GET', '/single-send/details', { query: { utr } })).body.message.singleSend[0];

/** The report of a single send. */
export const sendReport = async (app: TestApp, utr: string) =>
  (await app.one.call('GET', '/single-send/report', { query: { utr } })).body.message.report;

/** All mails in the outbox, oldest first. */
export const outboxOf = (app: TestApp) =>
  app.db.prepare<[], { envelope_to: string; raw: Buffer }>('SELECT envelope_to, raw FROM outbox ORDER BY id').all();
