/** A sent campaign, the links of its recipients, and what their visits leave in the database. */
import type { Test } from 'tap';
import { startApp, type TestApp } from './app.ts';
import { mustSucceed, sendCampaign } from './campaign.ts';

/** One group that the preference page shows, and two that it does not. */
export const GROUPS = [
  { name: 'News', isDisplay: 0 as const },
  { name: 'Offers', isDisplay: 1 as const },
  { name: 'Internal', isDisplay: 0 as const },
];

/** A sent campaign, its first mail, and the paths of that mail: to unsubscribe, to the pixel and of the first link. */
export async function sentCampaign(t: Test, settings: Record<string, string> = {}, campaign = {}) {
  const app = await startApp(t, settings);
  const { utr, mails } = await sendCampaign(t, app, { groups: GROUPS, ...campaign });
  const [mail] = mails;
  if (mail === undefined) throw new Error('no mail arrived');
  const { u = '', o = '', c = '' } = mail.paths;
  return { app, utr, mail, mails, u, o, c };
}

/** What create and update take of a single send's record. */
export function fieldsOf(send: Record<string, unknown>): Record<string, unknown> {
  const { template_id, template_html, sender_id, unsubscribe_group_id, single_send_name, subject, preheader } = send;
  return {
    ...{ template_id, template_html, sender_id, unsubscribe_group_id, single_send_name, subject, preheader },
    recipient_id: ['contacts_1'],
    schedule_type: 0,
  };
}

/** Creates a single send as an earlier one was; gives its utr. */
export async function sendAgain(t: Test, app: TestApp, earlier: string, more: object = {}): Promise<string> {
  const { body } = await app.one.call('GET', '/single-send/details', { query: { utr: earlier } });
  const form = { ...fieldsOf(body.message.singleSend[0]), ...more };
  const { utr } = (await mustSucceed(t, app.one)('/single/send/create', form)) as { utr: string };
  return utr;
}

/** Everything a visit may change. */
export function stateOf({ db }: TestApp) {
  const rows = (table: string) => db.prepare(`SELECT * FROM ${table}`).all();
  return JSON.stringify(['unsubscribers', 'consent_log', 'events', 'deliveries', 'mailings', 'links'].map(rows));
}

/** The group of every unsubscribe; null stands for all mail. */
export function groupsLeft({ db }: TestApp): (number | null)[] {
  return db.prepare<[], number | null>('SELECT unsubscribe_groups_id FROM unsubscribers ORDER BY 1').pluck().all();
}

/** Writes the opens and clicks that wait in memory, as the application does by itself every 100 ms. */
export function flushHits({ fastify, clock }: TestApp): void {
  while (fastify.deps.hits.flush(clock.now().getTime()));
}

/** What the single send counts. */
export function countersOf({ db }: TestApp) {
  return db
    .prepare("SELECT delivered, unique_opens, total_opens, unsubscribes FROM mailings WHERE owner_kind = 'single'")
    .get() as Record<string, number>;
}
