/** An automation with its mails, made through the API, and people who join it. */

import type { Test } from 'tap';
import { startApp, type TestApp } from './app.ts';
import { SENDER } from './sender.ts';

/** In milliseconds. */
export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

interface Mail {
  to: string;
  subject: string;
  at: string;
}

/** An account with a list, a group, a sender and a welcome series of three mails: at once, after 2 days, 12 hours later. */
export async function withWelcomeSeries(
  t: Test,
  { exit = 0, settings = {} }: { exit?: number; settings?: Record<string, string> } = {},
) {
  const app = await startApp(t, settings);
  const post = async (path: string, form: Record<string, unknown>) => {
    const answer = await app.one.call('POST', path, { form });
    if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`);
    return answer.body.message;
  };
  const get = async (path: string, query: Record<string, unknown> = {}) => app.one.call('GET', path, { query });
  await post('/contacts-type/add', { name: 'Readers' });
  await post('/unsubscribes-groups/save', { group_name: 'News', description: 'n', is_display: 1 });
  await post('/sender/save', SENDER);
  await app.background();
  app.db.exec('DELETE FROM outbox');
  const { utr } = await post('/automations/create', {
    type: 'welcome',
    automation_for: 'contacts_1',
    automation_name: 'Welcome',
    unsubscribe_group_id: 1,
    exit_criteria: exit,
  });
  const addMail = (subject: string, waiting_type: string, waiting_period: number) =>
    post('/automations/schedule/create', {
      utr,
      sender_id: 1,
      subject,
      waiting_period,
      waiting_type,
      template_id: 1,
      preview_img: 'blank.png',
      template_html: '<p>Hello ((first_name))</p>',
    });
  await addMail('one', 'instantly', 1);
  await addMail('two', 'days', 2);
  await addMail('three', 'hours', 12);
  const join = (name: string) =>
    post('/contacts/add', { contact_type_id: 1, email: `${name}@example.org`, first_name: name, country: 1 });
  const live = async () => {
    const answer = await get('/automations/set-live', { utr });
    if (answer.status !== 200) throw new Error(answer.text);
  };
  return { app, utr, post, get, join, pass: app.pass, live, addMail };
}

/**
 * The welcome series (one at once, two after 2 days, three 12 hours later) with a segment of those whose first name is ann, and functions
 * that add steps. `step` and `mail` return the utr.
 */
export async function withPaths(t: Test, settings: Record<string, string> = {}) {
  const world = await withWelcomeSeries(t, { settings });
  const { app, utr, post, get } = world;
  await post('/segment/store', {
    segment_name: 'Anns',
    contact_type_id: 1,
    select_field: ['first_name'],
    select_operator: ['is'],
    value: ['ann'],
  });
  const call = (path: string, form: Record<string, unknown>) => app.one.call('POST', path, { form: { utr, ...form } });
  const added = async (path: string, form: Record<string, unknown>) => {
    const { status, body, text } = await call(path, form);
    if (status !== 200) throw new Error(text);
    return body.message;
  };
  const at = { waiting_type: 'instantly', waiting_period: 1 };
  const step = async (form: Record<string, unknown>): Promise<string> =>
    (await added('/automations/step/add', { ...at, ...form })).utr;
  const mail = async (subject: string, form: Record<string, unknown>): Promise<string> =>
    (
      await added('/automations/schedule/add', {
        ...at,
        sender_id: 1,
        template_id: 1,
        subject,
        template_html: '<p>Hello</p>',
        ...form,
      })
    ).utr;
  const series = async () => (await get('/automations/series', { utr })).body.message.series;
  const utrOf = async (subject: string): Promise<string> =>
    (await series()).steps.find((one: { subject: string }) => one.subject === subject).utr;
  const of = (name: string) =>
    mailsOf(app)
      .filter(({ to }) => to.startsWith(`${name}@`))
      .map(({ subject }) => subject);
  const outline = async () =>
    (await series()).steps.map(({ kind, subject, branch }: Record<string, string | null>) =>
      `${branch ?? ''} ${subject || kind}`.trim(),
    );
  return { ...world, call, step, mail, series, utrOf, of, outline };
}

/** The mails in the outbox, oldest first. */
export const mailsOf = (app: TestApp): Mail[] =>
  app.db.prepare<[], Mail>('SELECT envelope_to AS "to", subject, created_at AS at FROM outbox ORDER BY id').all();

/** The same as moment, local part of the address, and subject: `01-15T09:00 ann one`. */
export const mailsInBrief = (app: TestApp) =>
  mailsOf(app).map(({ to, subject, at }) => `${at.slice(5, 16)} ${to.split('@')[0]} ${subject}`);
