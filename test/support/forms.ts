/** Public forms for tests: one that is ready, people who fill it in, and the mails that ask them. */
import { createChallenge, solveChallenge } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';
import PostalMime from 'postal-mime';
import type { Test } from 'tap';
import type { Tokens } from '../../src/delivery/links/tokens.ts';
import type { Answer, TestApp } from './app.ts';
import { mustSucceed } from './campaign.ts';
import { SHOP_SENDER } from './sender.ts';

/** Longer than a form is filled in by a robot. */
export const TYPING_MS = 5000;

export interface ReadyForm {
  id: number;
  /** The path of its page. */
  path: string;
}

/** An account with a contact type, a sender and a form. */
export async function addReadyForm(t: Test, app: TestApp, more: Record<string, unknown> = {}): Promise<ReadyForm> {
  const must = mustSucceed(t, app.one);
  await must('/contacts-type/add', { name: 'Readers' });
  await must('/sender/save', SHOP_SENDER);
  return addForm(t, app, more);
}

/** One more form. */
export async function addForm(t: Test, app: TestApp, more: Record<string, unknown> = {}): Promise<ReadyForm> {
  const given = { name: 'Footer', contact_type_id: 1, sender_id: 1, ...more };
  const { id, url } = (await mustSucceed(t, app.one)('/forms/create', given)) as { id: number; url: string };
  return { id, path: new URL(url).pathname };
}

/** The hidden field of a form as somebody sends it who has solved its challenge: made by us, so that it takes no time. */
export async function solvedProof(tokens: Tokens, form: number, at: number): Promise<string> {
  const challenge = await createChallenge({
    algorithm: 'PBKDF2/SHA-256',
    cost: 1,
    counter: 1,
    deriveKey,
    data: { form, at },
    hmacSignatureSecret: tokens.sign('form-challenge', 'signature'),
    hmacKeySignatureSecret: tokens.sign('form-challenge', 'solution'),
  });
  return encode({ challenge, solution: await solveChallenge({ challenge, deriveKey }) });
}

/** Solves the challenge of a hidden field as a browser does. */
export async function solve(proof: string): Promise<string> {
  const { challenge } = JSON.parse(Buffer.from(proof, 'base64').toString());
  return encode({ challenge, solution: await solveChallenge({ challenge, deriveKey }) });
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64');
}

/** The text of the hidden field of a page. */
export function proofOn(page: string): string {
  return /name="proof" value="([^"]*)"/.exec(page)?.[1] ?? '';
}

/** Sends a form with a proof of work, from a network of its own. */
export async function subscribe(
  app: TestApp,
  form: ReadyForm,
  email: string,
  more: Record<string, unknown> = {},
  network = '192.0.2.1',
): Promise<Answer> {
  const proof = await solvedProof(app.tokens, form.id, app.clock.now().getTime() - TYPING_MS);
  return app.page('POST', form.path, {
    form: { email, consent: '1', proof, ...more },
    headers: { 'x-forwarded-for': network },
  });
}

/** The mails that ask for a confirmation, oldest first: to whom, and the path of the link. */
export async function askedMails(app: TestApp): Promise<{ to: string; path: string; raw: string; subject: string }[]> {
  await app.background();
  const rows = app.db
    .prepare<[], { envelope_to: string; raw: Buffer }>(
      `SELECT envelope_to, raw FROM outbox JOIN mailings m ON m.id = mailing_id WHERE m.owner_kind = 'form' ORDER BY outbox.id`,
    )
    .all();
  return Promise.all(
    rows.map(async ({ envelope_to: to, raw }) => {
      const { text = '', subject = '' } = await PostalMime.parse(raw);
      return { to, path: pathIn(text), raw: raw.toString(), subject };
    }),
  );
}

/** The path of the link in a mail. */
export function pathIn(text: string): string {
  return /https?:\/\/[^/\s]+(\/f\/confirm\/\S+)/.exec(text)?.[1] ?? '';
}
