/** Sends a campaign through the interface and gives what arrives, for tests of what recipients meet. */

import PostalMime from 'postal-mime';
import type { Test } from 'tap';
import type { Caller, TestApp } from './app.ts';
import { SHOP_SENDER } from './sender.ts';

export interface Mail {
  to: string;
  raw: string;
  html: string;
  subject: string;
  /** Paths of the recipient's own addresses in it, by their first letter: u, o, c (the first link), w. */
  paths: Record<string, string>;
}

interface Campaign {
  people?: { email: string; first_name?: string }[];
  html?: string;
  subject?: string;
  groups?: { name: string; isDisplay: 0 | 1; description?: string }[];
}

/** A sent single send: account, groups (ids in order from `group`), its utr and its mails in the order of the people. */
export async function sendCampaign(t: Test, app: TestApp, campaign: Campaign = {}) {
  const {
    people = [{ email: 'anna@example.org', first_name: 'Anna' }],
    html = '<p>Hello ((first_name)), <a href="https://shop.example/new?for=((first_name))">news</a></p>',
    subject = 'For ((first_name))',
    groups = [{ name: 'News', isDisplay: 1 as const }],
  } = campaign;
  const { one } = app;
  const must = mustSucceed(t, one);
  for (const { name, isDisplay, description = `About ${name}` } of groups) {
    await must('/unsubscribes-groups/save', { group_name: name, description, is_display: isDisplay });
  }
  await must('/contacts-type/add', { name: 'Readers' });
  for (const person of people)
    await must('/contacts/add', { contact_type_id: 1, first_name: 'A', country: 1, ...person });
  await must('/sender/save', SHOP_SENDER);
  const { utr } = (await must('/single/send/create', {
    template_id: 1,
    template_html: html,
    sender_id: 1,
    unsubscribe_group_id: 1,
    single_send_name: 'News',
    subject,
    preheader: 'News',
    recipient_id: ['contacts_1'],
    schedule_type: 0,
  })) as { utr: string };
  app.clock.advance(11_000);
  await app.background();
  const held = app.db.prepare('SELECT held_reason FROM single_sends WHERE utr = ?').pluck().get(utr);
  if (held !== '' && held !== null) t.comment(`the campaign was not sent: ${held}`);
  return { utr, mails: await readOutbox(app) };
}

/** Calls a POST of the interface that is to succeed; gives its message. */
export function mustSucceed(t: Test, caller: Caller) {
  return async (path: string, form: Record<string, unknown>): Promise<unknown> => {
    const { status, text, body } = await caller.call('POST', path, { form });
    if (status !== 200) t.fail(`${path}: ${text}`);
    return body.message;
  };
}

/** The campaign mails that left, oldest first. */
export async function readOutbox(app: TestApp): Promise<Mail[]> {
  const rows = app.db
    .prepare<[], { envelope_to: string; raw: Buffer }>(
      `SELECT envelope_to, raw FROM outbox JOIN mailings ON mailings.id = mailing_id
       WHERE owner_kind <> 'system' ORDER BY outbox.id`,
    )
    .all();
  return Promise.all(
    rows.map(async ({ envelope_to, raw }) => {
      const { html = '', subject = '' } = await PostalMime.parse(raw);
      const found = [...html.matchAll(/http:\/\/mail\.example\.com(\/([uocw])\/[^"<\s]+)/g)];
      const paths = Object.fromEntries(found.reverse().map(([, path, letter]) => [letter, path]));
      return { to: envelope_to, raw: raw.toString('latin1'), html, subject, paths };
    }),
  );
}
