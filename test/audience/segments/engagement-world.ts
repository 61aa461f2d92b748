/** People, their mails and what they, image proxies and machines do with them, and the same as a reckoning in memory has it. */
import type { Test } from 'tap';
import { HitBuffer } from '../../../src/delivery/feedback/opens-and-clicks.ts';
import { readerOf } from '../../../src/delivery/feedback/readers.ts';
import type { TestApp } from '../../support/app.ts';
import { DAY } from '../../support/automations.ts';
import { addContact, mustAnswer, queueSend, startWithFields } from '../../support/segments.ts';

export const OFFER = 'https://shop.example/offer';
export const PERSON_AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
export const MACHINE_AGENTS = ['python-requests/2.32.3', '', 'Some scanner/2'];
/** Loads the pictures of every mail. */
export const APPLE_AGENT = 'Mozilla/5.0';
/** Loads pictures when somebody looks at the mail, and within seconds of its arrival. */
export const GMAIL_AGENT = 'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)';
/** After so long it is settled who made an open or click. */
export const SETTLED = 11_000;

/** After a longer pause the service takes the clock for wrong. */
const MAX_STEP_MS = 4 * DAY;

/** A mail that somebody got, what they themselves did with it, and whether a proxy loaded its pictures for nobody in particular. */
interface Got {
  utr: string;
  mailing: number;
  delivery: number;
  address: number;
  at: number;
  isOpened: boolean;
  isProxied: boolean;
  clicked: Set<string>;
}

/** A person as the reckoning knows them. */
export interface Reader {
  name: string;
  joinedAt: number;
  mails: Got[];
  lastAt: number;
  lastClickAt: number;
  lastProxiedAt: number;
  /** How many mails of the automation they got; it has two. */
  ofSeries: number;
}

export interface World {
  app: TestApp;
  readers: Map<string, Reader>;
  hits: HitBuffer;
  series: { utr: string; mail: string; utrs: Set<string> };
  /** The newest mail in the outbox that was looked at. */
  seen: number;
  /** Is told after each time the background has worked, before what left is noted. */
  afterWork?: () => void;
}

export type Holds = (reader: Reader, now: number) => boolean;

export const isSeen = ({ isOpened, clicked }: Got) => isOpened || clicked.size > 0;
/** Returns true if the reader may have opened the mail. */
const isMaybeSeen = (mail: Got) => mail.isProxied || isSeen(mail);
const isClicked = ({ clicked }: Got) => clicked.size > 0;
export const since = (reader: Reader, now: number, days: number) =>
  reader.mails.filter(({ at }) => at >= now - days * DAY);
const last = (reader: Reader, now: number, count: number) =>
  since(reader, now, 365)
    .sort((one, other) => other.at - one.at || other.delivery - one.delivery)
    .slice(0, count);
/** Dates of rules are compared to the minute. */
export const within = (at: number, now: number, days: number) =>
  at > 0 && Math.floor(at / 60_000) >= Math.floor((now - days * DAY) / 60_000);

/** Returns true if the reader may have opened or clicked within this number of days. */
export const isMaybeActive = ({ lastAt, lastProxiedAt }: Reader, now: number, days: number) =>
  within(Math.max(lastAt, lastProxiedAt), now, days);

/** Rules and when they hold, about a single send, a mail of the automation and the automation. */
export function rulesAbout(single: string, { utr: series, mail }: World['series']): [rule: string[], holds: Holds][] {
  const got = (reader: Reader, utr: string) => reader.mails.find((one) => one.utr === utr);
  const about = (utr: string): [string[], Holds][] => [
    [['activity.mail', 'got', utr], (reader) => got(reader, utr) !== undefined],
    [['activity.mail', 'did not get', utr], (reader) => got(reader, utr) === undefined],
    [['activity.mail', 'opened', utr], (reader) => reader.mails.some((one) => one.utr === utr && isSeen(one))],
    [['activity.mail', 'clicked', utr], (reader) => reader.mails.some((one) => one.utr === utr && isClicked(one))],
    [
      ['activity.mail', 'got and did not open', utr],
      (reader) => reader.mails.some((one) => one.utr === utr && !isMaybeSeen(one)),
    ],
    [
      ['activity.mail', 'got and did not click', utr],
      (reader) => reader.mails.some((one) => one.utr === utr && !isClicked(one)),
    ],
  ];
  const hasClicked = (url: string) => (reader: Reader) => reader.mails.some(({ clicked }) => clicked.has(url));
  return [
    ...about(single),
    ...about(mail),
    [['activity.last', 'is within', '7'], ({ lastAt }, now) => within(lastAt, now, 7)],
    [['activity.last', 'is not within', '30'], (reader, now) => !isMaybeActive(reader, now, 30)],
    [['activity.last', 'is blank'], ({ lastAt, lastProxiedAt }) => lastAt + lastProxiedAt === 0],
    [['activity.last_click', 'is within', '20'], ({ lastClickAt }, now) => within(lastClickAt, now, 20)],
    [['activity.last_click', 'is not blank'], ({ lastClickAt }) => lastClickAt > 0],
    [['activity.mails', 'received at least', '3', '90'], (reader, now) => since(reader, now, 90).length >= 3],
    [['activity.mails', 'received at least', '4', '30'], (reader, now) => since(reader, now, 30).length >= 4],
    [['activity.mails', 'received fewer than', '2', '5'], (reader, now) => since(reader, now, 5).length < 2],
    [['activity.mails', 'opened any of the last', '5'], (reader, now) => last(reader, now, 5).some(isSeen)],
    [
      ['activity.mails', 'opened none of the last', '2'],
      (reader, now) => last(reader, now, 2).length === 2 && !last(reader, now, 2).some(isMaybeSeen),
    ],
    [['activity.mails', 'clicked any of the last', '5'], (reader, now) => last(reader, now, 5).some(isClicked)],
    [
      ['activity.mails', 'clicked none of the last', '4'],
      (reader, now) => last(reader, now, 4).length === 4 && !last(reader, now, 4).some(isClicked),
    ],
    [['activity.link', 'clicked', OFFER], hasClicked(OFFER)],
    [
      ['activity.link', 'did not click', 'https://shop.example/7'],
      (reader) => !hasClicked('https://shop.example/7')(reader),
    ],
    [['activity.automation', 'is in', series], ({ ofSeries }) => ofSeries < 2],
    [['activity.automation', 'is not in', series], ({ ofSeries }) => ofSeries >= 2],
    [['activity.automation', 'has finished', series], ({ ofSeries }) => ofSeries >= 2],
    [['activity.automation', 'has not finished', series], ({ ofSeries }) => ofSeries < 2],
  ];
}

/** An account with a live automation of two mails, and nobody in it. */
export async function newWorld(t: Test): Promise<World> {
  const app = await startWithFields(t);
  // Nothing is killed here, and a year has thousands of transactions.
  app.db.pragma('synchronous = OFF');
  const post = async (path: string, form: Record<string, unknown>) =>
    (await mustAnswer(app, 'POST', path, { form })).body.message;
  // Makes the sender and the group, and is refused for want of people.
  await queueSend(app, { recipient_id: ['contacts_2'] });
  app.clock.advance(60_000);
  await app.background();
  const { utr } = await post('/automations/create', {
    type: 'welcome',
    automation_for: 'contacts_1',
    automation_name: 'Series',
    unsubscribe_group_id: 1,
  });
  const utrs = new Set<string>();
  for (const [waiting_type, waiting_period] of [
    ['instantly', 1],
    ['days', 9],
  ])
    await post('/automations/schedule/create', {
      ...{ utr, sender_id: 1, subject: 'S', waiting_period, waiting_type, template_id: 1, preview_img: 'b.png' },
      template_html: `<p><a href="${OFFER}">offer</a></p>`,
    });
  for (const mail of app.db.prepare<[], string>('SELECT utr FROM automation_schedules ORDER BY id').pluck().all())
    utrs.add(mail);
  await mustAnswer(app, 'GET', '/automations/set-live', { query: { utr } });
  const [mail = ''] = utrs;
  return { app, readers: new Map(), hits: new HitBuffer(app.db), series: { utr, mail, utrs }, seen: 0 };
}

export async function join({ app, readers }: World): Promise<void> {
  const name = `p${readers.size}`;
  await addContact(app, `${name}@example.com`);
  const times = { joinedAt: app.clock.now().getTime(), lastAt: 0, lastClickAt: 0, lastProxiedAt: 0 };
  readers.set(name, { name, ...times, mails: [], ofSeries: 0 });
}

/** Lets time pass, and notes who got which mail meanwhile: from what left, not from the ledger. */
export async function pass(world: World, ms: number): Promise<void> {
  const { app } = world;
  for (let rest = ms; rest > 0; rest -= MAX_STEP_MS) {
    app.clock.advance(Math.min(rest, MAX_STEP_MS));
    await work(world);
    noteMails(world);
  }
}

/** Lets the background work. */
export async function work(world: World): Promise<void> {
  await world.app.background();
  world.afterWork?.();
}

function noteMails(world: World): void {
  const { app, readers, series } = world;
  const left = app.db.prepare<[number], { id: number; mailing: number; to: string; utr: string }>(`
    SELECT o.id, o.mailing_id AS mailing, o.envelope_to AS "to", coalesce(s.utr, c.utr) AS utr FROM outbox o JOIN mailings m ON m.id = o.mailing_id
      LEFT JOIN single_sends s ON m.owner_kind = 'single' AND s.id = m.owner_id
      LEFT JOIN automation_schedules c ON m.owner_kind = 'schedule' AND c.id = m.owner_id
    WHERE o.id > ? AND m.owner_kind IN ('single', 'schedule') ORDER BY o.id`);
  const ids = app.db.prepare<[number, string], { delivery: number; address: number }>(`
    SELECT d.id AS delivery, a.id AS address FROM deliveries d JOIN addresses a ON a.id = d.address_id WHERE d.mailing_id = ? AND a.normalized_email = ?`);
  for (const { id, mailing, to, utr } of left.all(world.seen)) {
    world.seen = id;
    const reader = readers.get(to.split('@')[0] ?? '');
    const found = ids.get(mailing, to);
    if (reader === undefined || found === undefined) throw new Error(`${to} is nobody`);
    if (series.utrs.has(utr)) reader.ofSeries++;
    reader.mails.push({
      utr,
      mailing,
      ...found,
      at: app.clock.now().getTime(),
      isOpened: false,
      isProxied: false,
      clicked: new Set(),
    });
  }
}

/** Sends a mail with two links to everybody; gives its utr. */
export async function send(world: World, number: number): Promise<string> {
  const html = `<p>Hello <a href="${OFFER}">offer</a> <a href="https://shop.example/${number % 10}">more</a></p>`;
  const utr = await queueSend(world.app, { recipient_id: ['contacts_1'], template_html: html });
  await pass(world, 11_000);
  return utr;
}

/** Somebody, a proxy or a machine opens a mail or clicks in it. */
export function act(
  { app, hits }: World,
  reader: Reader,
  mail: Got,
  agent: string,
  at: number,
  url: string | null,
): void {
  const link = url === null ? null : linkOf(app, mail.mailing, url);
  const ids = { ...mail, group: 1, user: 1, email: '' };
  hits.add({ ids, at, link, reader: readerOf(agent) });
  while (hits.flush(at));
  const isOfProxy = agent === APPLE_AGENT || agent === GMAIL_AGENT;
  // Proxies follow no links, and a hit of another in the first two seconds is a scanner's, whatever it says it is.
  if (MACHINE_AGENTS.includes(agent) || (isOfProxy ? url !== null : at - mail.at < 2000)) return;
  if (agent === APPLE_AGENT || (agent === GMAIL_AGENT && at - mail.at < 10_000)) {
    mail.isProxied = true;
    reader.lastProxiedAt = Math.max(reader.lastProxiedAt, at);
    return;
  }
  if (url === null) mail.isOpened = true;
  else mail.clicked.add(url);
  reader.lastAt = Math.max(reader.lastAt, at);
  if (url !== null) reader.lastClickAt = Math.max(reader.lastClickAt, at);
}

function linkOf(app: TestApp, mailing: number, url: string): number {
  return Number(app.db.prepare('SELECT number FROM links WHERE mailing_id = ? AND url = ?').pluck().get(mailing, url));
}

export const urlsOf = ({ app }: World, { mailing }: Got) =>
  app.db
    .prepare<[number], string>(
      "SELECT url FROM links WHERE mailing_id = ? AND url LIKE 'https://shop%' ORDER BY number",
    )
    .pluck()
    .all(mailing);

/** Who is in each segment, sorted, by the id of the segment. */
export function membersBySegment({ db }: TestApp): Map<number, string> {
  const rows = db.prepare<[], { segment_id: number; name: string }>(
    "SELECT segment_id, replace(email, '@example.com', '') AS name FROM segment_recipients WHERE is_removed = 0",
  );
  const names = new Map<number, string[]>();
  for (const { segment_id, name } of rows.all()) names.set(segment_id, [...(names.get(segment_id) ?? []), name]);
  return new Map([...names].map(([id, members]) => [id, members.sort().join(' ')]));
}
