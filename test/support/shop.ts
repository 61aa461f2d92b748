/** An account with contacts, an unsubscribe group, a sender and a fake relay, for tests in which people change while mail is queued. */

import PostalMime from 'postal-mime';
import type { Test } from 'tap';
import type { Courier, Outcome } from '../../src/delivery/transport/courier.ts';
import { startApp } from './app.ts';
import { SENDER } from './sender.ts';

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

export interface Mail {
  to: string;
  envelopeFrom: string;
  from: string;
  replyTo: string;
  subject: string;
  html: string;
  at: string;
}

const answer = (kind: Outcome['kind'], code: number, enhanced: string, reply: string): Outcome => ({
  kind,
  stage: kind === 'accepted' ? 'body' : 'rcpt',
  code,
  enhanced,
  reply: `${code} ${enhanced} ${reply}`,
});
export const ACCEPTED = answer('accepted', 250, '2.0.0', 'ok');
export const LATER = answer('deferred', 451, '4.3.0', 'not now');
export const UNKNOWN = answer('refused', 550, '5.1.1', 'no such user');
export const REFUSED = answer('refused', 554, '5.6.0', 'content refused');

interface Relay {
  /** The relay's answer to a mail for this address. */
  answer(to: string): Outcome;
  /** Every mail the relay got, whatever it answered. */
  handed: { to: string; envelopeFrom: string; raw: string; at: string; isAccepted: boolean }[];
}

/** An account with sender 1, group 1 and contact type 1, and actions on them. `settings` are those of the installation. */
export async function startShop(t: Test, settings: Record<string, string> = {}) {
  const relay: Relay = { answer: () => ACCEPTED, handed: [] };
  const courier: Courier = {
    room: () => 100,
    send: async ({ start, to, from }) => {
      const message = start();
      if (message === null) return 'withdrawn';
      // Do not count the verification mail of the sender.
      const isOwn = to.endsWith('example.com');
      const outcome = isOwn ? ACCEPTED : relay.answer(to);
      const at = app.clock.now().toISOString().slice(5, 16);
      const raw = message.bytes.toString('latin1');
      if (!isOwn) relay.handed.push({ to, envelopeFrom: from, raw, at, isAccepted: outcome.kind === 'accepted' });
      return outcome;
    },
    close: async () => undefined,
  };
  const app = await startApp(t, settings, () => courier);
  const call = async (method: string, path: string, options: object) => {
    const { status, text, body } = await app.one.call(method, path, options);
    if (status !== 200) throw new Error(`${path}: ${text}`);
    return body.message;
  };
  const post = (path: string, form: Record<string, unknown>) => call('POST', path, { form });
  const get = (path: string, query: Record<string, unknown> = {}) => call('GET', path, { query });
  const act = (path: string, query: Record<string, unknown>) => call('POST', path, { query });
  const remove = (path: string, query: Record<string, unknown>) => call('DELETE', path, { query });

  await post('/contacts-type/add', { name: 'Readers' });
  await post('/unsubscribes-groups/save', { group_name: 'News', description: 'n', is_display: 1 });
  await post('/sender/save', SENDER);
  await app.background();

  return {
    app,
    relay,
    /** What a background that is started again sends by. */
    courierOf: () => courier,
    post,
    get,
    act,
    remove,
    sender: SENDER,

    /** Adds `<name>@example.org` and gives the contact's id. */
    async add(name: string, type = 1): Promise<number> {
      await post('/contacts/add', {
        contact_type_id: type,
        email: `${name}@example.org`,
        first_name: name,
        country: 1,
      });
      return Number(app.db.prepare('SELECT max(id) FROM contacts').pluck().get());
    },

    import: (names: readonly string[], type = 1) =>
      call('POST', '/contacts/upload-csv', {
        multipart: [
          ['contact_type_id', String(type)],
          [
            'file',
            {
              filename: 'a.csv',
              content: `email,first_name\n${names.map((name) => `${name}@example.org,New ${name}`).join('\n')}`,
            },
          ],
        ],
      }),

    /** Gives a contact the address `<name>@example.org`. */
    correct: (id: number, name: string, type = 1) =>
      post('/contacts/update', { contact_id: id, contact_type_id: type, email: `${name}@example.org`, country: 1 }),

    pass: app.pass,

    /** The mails that the relay has accepted in order, as recipient and subject: `ann one`. */
    accepted: () =>
      relay.handed
        .filter(({ isAccepted }) => isAccepted)
        .map(({ to, raw }) => `${to.split('@')[0]} ${/^Subject: (.*)$/m.exec(raw)?.[1]?.trim()}`),

    /** The accepted mails, parsed. */
    mails: (): Promise<Mail[]> =>
      Promise.all(
        relay.handed
          .filter(({ isAccepted }) => isAccepted)
          .map(async ({ to, envelopeFrom, raw, at }) => {
            const { from, replyTo, subject = '', html = '' } = await PostalMime.parse(raw);
            return {
              to,
              envelopeFrom,
              from: `${from?.name} <${from?.address}>`,
              replyTo: replyTo?.[0]?.address ?? '',
              subject,
              html,
              at,
            };
          }),
      ),
  };
}

export type Shop = Awaited<ReturnType<typeof startShop>>;

/** Makes a live automation for contact type 1 or another target. Mails are given by subject, each with its wait in hours. */
export async function startSeries(shop: Shop, waits: Record<string, number>, options: Record<string, unknown> = {}) {
  const { post, get, remove } = shop;
  const { utr } = await post('/automations/create', {
    type: 'welcome',
    automation_for: 'contacts_1',
    automation_name: 'Welcome',
    unsubscribe_group_id: 1,
    exit_criteria: 0,
    ...options,
  });
  const addMail = (subject: string, hours: number, sender_id = 1) =>
    post('/automations/schedule/create', {
      utr,
      sender_id,
      subject,
      waiting_period: Math.max(1, hours),
      waiting_type: hours === 0 ? 'instantly' : 'hours',
      template_id: 1,
      preview_img: 'blank.png',
      template_html: '<p>Hello ((first_name))</p>',
    });
  for (const [subject, hours] of Object.entries(waits)) await addMail(subject, hours);
  const live = () => get('/automations/set-live', { utr });
  await live();
  return {
    utr,
    addMail,
    live,
    pause: () => get('/automations/pause', { utr }),
    async deleteMail(subject: string) {
      const { automation_schedules: mails } = await get('/automations/schedule', { utr });
      const mail = mails.find((one: { subject: string }) => one.subject === subject);
      await remove('/automations/schedule/delete', { utr: mail.utr });
    },
    report: async () => (await get('/automations/report', { utr })).report,
    preview: async (name: string) => (await get('/automations/preview', { utr, email: `${name}@example.org` })).preview,
  };
}

/** Starts a single send to contact type 1 or other targets. SEND_RATE sets how many mails are sent per second. */
export async function startSend(shop: Shop, given: Record<string, unknown> = {}): Promise<string> {
  const { utr } = await shop.post('/single/send/create', {
    template_id: 1,
    template_html: '<p>Hello ((first_name))</p>',
    sender_id: 1,
    unsubscribe_group_id: 1,
    single_send_name: 'News',
    subject: 'news',
    preheader: 'p',
    recipient_id: ['contacts_1'],
    schedule_type: 0,
    ...given,
  });
  shop.app.clock.advance(11_000);
  await shop.app.background();
  return utr;
}
