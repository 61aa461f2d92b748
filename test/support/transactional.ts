/** Transactional mail for tests: a request, and what an owner sees of it. */
import type { Test } from 'tap';
import type { Outcome } from '../../src/delivery/transport/courier.ts';
import type { Caller, TestApp } from './app.ts';
import { Relay } from './launched-mailing.ts';
import { readyToSend } from './single-sends.ts';

export const RECEIPT = {
  sender_id: 1,
  email: 'Ann@Example.org',
  name: 'Ann Lee',
  subject: 'Order ((order))',
  template_html:
    '<p>Thank you, ((full_name)). <a href="https://example.com/o/((order))">Your order</a>: ((note|none))</p>',
  data: { order: '12 & 13' },
};

/** Sends a mail, with this Idempotency-Key. */
export const post = (caller: Caller, json: unknown, key?: string) =>
  caller.call('POST', '/transactional/send', {
    json,
    ...(key !== undefined && { headers: { 'idempotency-key': key } }),
  });

/** Sends a mail of the first account; gives its utr. */
export async function sent(app: TestApp, json: unknown = RECEIPT, key?: string): Promise<string> {
  const { status, body, text } = await post(app.one, json, key);
  if (status !== 200) throw new Error(text);
  return body.message.utr;
}

/** The record of a mail. */
export const stateOf = async (app: TestApp, utr: string) =>
  (await app.one.call('GET', '/transactional/details', { query: { utr } })).body.message.mail;

/** How many pieces of attachments are kept. */
export const piecesOf = (app: TestApp) => app.db.prepare('SELECT count(*) FROM transactional_pieces').pluck().get();

/** An account with a sender, whose mail a relay answers. */
export async function withRelay(t: Test, answer: (to: string) => Outcome, settings: Record<string, string> = {}) {
  const relay = new Relay(answer);
  const { app, body } = await readyToSend(t, settings, () => relay);
  relay.started.length = 0;
  return { app, body, relay };
}
