/** Records that the interface cannot make. */
import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import {
  abTests,
  addresses,
  contactImports,
  DELIVERY_STATE,
  dkimKeys,
  passkeys,
  senders,
  singleSends,
  sunsetPeople,
  webhookEndpoints,
} from '../../src/database/schema/index.ts';
import { keepRoleMail } from '../../src/delivery/feedback/bounces/kept-mails.ts';
import { storeIntake } from '../../src/delivery/feedback/providers/intakes.ts';
import { createDkimKey } from '../../src/delivery/mime/dkim.ts';
import { addFeed, holdFeed } from '../../src/feeds/feeds.ts';
import { addForm } from '../../src/forms/forms.ts';
import { USUAL_TEXTS } from '../../src/forms/texts.ts';
import { NO_TIME } from '../../src/time/clock.ts';
import type { User } from '../../src/users/users.ts';
import { addEndpoint } from '../../src/webhooks/endpoints.ts';
import { queueTest } from '../../src/webhooks/log.ts';
import type { Caller, TestApp } from '../support/app.ts';

/** A block as the designer keeps it. */
export const BLOCK = JSON.stringify({
  tagName: 'mjml',
  attributes: {},
  children: [{ tagName: 'mj-body', attributes: {} }],
});

/** An import of nobody, which can be undone without consequences for others; gives its id. */
export function addImport(app: TestApp, user_id: number, type: string | undefined): string {
  const made = {
    user_id,
    contact_type_id: Number(type),
    file_name: 'nobody.csv',
    notes: [],
    errors: [],
    undo_until: '9999-01-01T00:00:00.000000Z',
    created_at: NO_TIME,
  };
  return String(app.drizzle.insert(contactImports).values(made).returning().get().id);
}

/** Two uploaded files, since one that is being previewed cannot be imported meanwhile; gives their ids. */
export async function lookAtTwo(
  { call }: Caller,
  file: { filename: string; content: string },
): Promise<{ uploads: string[]; previewable: string[] }> {
  const look = async (): Promise<string> =>
    (await call('POST', '/contacts/imports/look', { multipart: [['file', file]] })).body.message.upload.id;
  return { uploads: [await look()], previewable: [await look()] };
}

/** A mail to an address of the installation that names no mail of ours; gives its id. */
export function addRoleMail(app: TestApp): string {
  const mail = { report: { kind: 'unknown' as const }, sender: 'Ann', subject: 'Too much mail', text: 'Please stop.' };
  keepRoleMail(app.db, 'abuse', mail, app.clock);
  return String(app.db.prepare('SELECT max(id) FROM role_mails').pluck().get());
}

/** A passkey that nobody has; gives its id. */
export function addPasskey(app: TestApp, { id: user_id }: User): string {
  const credential = {
    user_id,
    credential_id: randomUUID(),
    public_key: Buffer.alloc(1),
    name: 'Laptop',
    created_at: NO_TIME,
  };
  return String(app.drizzle.insert(passkeys).values(credential).returning().get().id);
}

/** Makes the recipients of a completed single send look as if the relay had refused all of them. */
export function failAll(app: TestApp, utr: string): void {
  const mailing = app.db
    .prepare(
      "SELECT m.id FROM mailings m JOIN single_sends s ON m.owner_kind = 'single' AND m.owner_id = s.id WHERE s.utr = ?",
    )
    .pluck()
    .get(utr);
  app.db.prepare('UPDATE deliveries SET state = ? WHERE mailing_id = ?').run(DELIVERY_STATE.failed, mailing);
  app.db.prepare('UPDATE mailings SET failed = failed + delivered, delivered = 0 WHERE id = ?').run(mailing);
}

/** Gives a launched single send an A/B test that waits for somebody to choose; gives its utr. */
export function addAbTest(app: TestApp, utr: string): string {
  const variants = ['', 'B'].map((subject) => ({ subject, preheader: '', sender_name: '', template_id: 0 }));
  const ab_test = { variants: variants.slice(1), share: 20, winner_by: 'hand', hours: 24 } as const;
  const send = app.drizzle.update(singleSends).set({ ab_test }).where(eq(singleSends.utr, utr)).returning().get();
  const mailing_id = Number(
    app.db.prepare("SELECT id FROM mailings WHERE owner_kind = 'single' AND owner_id = ?").pluck().get(send.id),
  );
  app.drizzle
    .insert(abTests)
    .values({ ...ab_test, mailing_id, variants })
    .run();
  return utr;
}

/** Two addresses at which a provider reports events; gives their ids. */
export function addIntakes(app: TestApp, accountId: number): string[] {
  return [1, 2].map(() => String(storeIntake(app.db, { accountId, provider: 'brevo', secret: null }, app.clock.now())));
}

/**
 * A verified sender of a domain without a DKIM key, a domain with one, and a key to delete; the names of the domains
 * and the key's id. `nth` makes the names unique.
 */
export function addDomains(app: TestApp, user_id: number, nth: number): Record<string, string[]> {
  const domain = `unsigned${nth}.example`;
  const sender = app.drizzle.select().from(senders).where(eq(senders.user_id, user_id)).get();
  if (sender === undefined) throw new Error('the account has no sender');
  const { id: _id, ...like } = sender;
  app.drizzle
    .insert(senders)
    .values({ ...like, from_email: `hello@${domain}`, is_verified: 1 })
    .run();
  const keyOf = (name: string) => {
    const key = { domain: name, selector: 'test', private_key: createDkimKey('ed25519'), created_at: NO_TIME };
    return String(app.drizzle.insert(dkimKeys).values(key).returning().get().id);
  };
  const signed = `signed${nth}.example`;
  keyOf(signed);
  return { unsigned: [domain], signed: [signed], dkimKeys: [keyOf(`old${nth}.example`)] };
}

/** Two webhooks of an account that nobody is asked about, and the event of a test of the first. */
export function addWebhooks(app: TestApp, accountId: number): { webhooks: string[]; webhookEvents: string[] } {
  const input = { url: 'https://hooks.example.com/', note: '', events: [] };
  const made = [1, 2].map(() => addEndpoint(app.drizzle, accountId, input, app.clock.now()).id);
  const endpoint = app.drizzle
    .select()
    .from(webhookEndpoints)
    .where(eq(webhookEndpoints.id, Number(made[0])))
    .get();
  if (endpoint === undefined) throw new Error('the webhook was not added');
  const event = queueTest(app.db, endpoint, app.clock.now().getTime());
  return { webhooks: made.map(String), webhookEvents: [String(event)] };
}

/** A transactional mail of the account; gives its utr. */
export async function sendOne({ call }: Caller, sender: string | undefined): Promise<string[]> {
  const form = { sender_id: sender, email: 'zoe@example.com', subject: 'Receipt', text: 'Thank you' };
  return [(await call('POST', '/transactional/send', { form })).body.message.utr];
}

/** Three feeds of an account, of which nobody is asked and one is held; gives their ids. */
export function addFeeds(
  app: TestApp,
  accountId: number,
  type: string | undefined,
  sender: string | undefined,
): { feeds: string[]; heldFeeds: string[] } {
  const input = {
    ...{ feed_name: 'Blog', url: 'https://127.0.0.1/feed', sender_id: Number(sender), unsubscribe_group_id: 1 },
    ...{ recipient_id: [`contacts_${type}`], exclude_specific_recipient_id: [], template_id: 0, subject: 'News' },
    ...{ weekday: 1, time_of_day: '08:00', time_zone: 'UTC' },
  };
  const add = () => addFeed(app.drizzle, accountId, { ...input, rhythm: 'daily' }, app.clock.now());
  const held = add();
  holdFeed(app.drizzle, held, 'Held', app.clock.now());
  return { feeds: [add(), add()].map(String), heldFeeds: [String(held)] };
}

/** Two forms of an account that nobody fills in; gives their ids. */
export function addForms(
  app: TestApp,
  accountId: number,
  type: string | undefined,
  sender: string | undefined,
): string[] {
  const input = {
    ...USUAL_TEXTS.en,
    name: 'Footer',
    contact_type_id: Number(type),
    sender_id: Number(sender),
    segment_id: null,
    asks_tracking: 0,
    language: 'en',
    is_active: 1,
    intro: '',
    privacy_url: '',
    redirect_url: '',
  } as const;
  return [1, 2].map(() =>
    String(addForm(app.drizzle, accountId, { ...input, fields: [], group_ids: [] }, app.clock.now())),
  );
}

/** Two people whom the rule of an account about inactive contacts stopped; gives the ids of the entries. */
export function addInactive(app: TestApp, user_id: number): string[] {
  return ['asleep@example.org', 'away@example.org'].map((normalized_email) => {
    const address = app.drizzle.insert(addresses).values({ user_id, normalized_email }).returning().get();
    const entry = { user_id, address_id: address.id, action: 'stop', cutoff: 0, created_at: NO_TIME } as const;
    return String(app.drizzle.insert(sunsetPeople).values(entry).returning().get().id);
  });
}
