/**
 * A month of a shop that uses every feature at once; what its relay took must keep what each of them promises. With a seed, as `npm run
 * test:month` gives it, the shop begins with 1100 people; otherwise with a quarter of them.
 */
import t from 'tap';
import { mailingCounters } from '../../fixtures/mailing-counters.ts';
import { storeSegment } from '../support/segments.ts';
import type { Left } from './everything-relay.ts';
import { DAY, HOMES, HOUR, Shop } from './everything-world.ts';

const SEED = Number(process.env.SEED ?? 20_261_123);
const PEOPLE = process.env.SEED === undefined ? 280 : 1100;
/** The most mails of campaigns that a person gets in 7 days. */
const MAX_MAILS = 2;
const WEEK_DAYS = 7;
/** One more than the month after which the sunset rule finds somebody inactive. */
const DAYS = 34;
/** The 33rd day, as a date. */
const LOCAL_DAY = '2026-02-17';
/** When somebody in the shop is at work. */
const MORNING = 9;

const WARM_UP = { domain: 'new.example', volume: 20, growth: 100, until_volume: 1000 };
/** The days on which the warm-up has mail to send, some each half an hour, and needs the background more often. */
const isWarmingUp = (day: number) => day >= 26 && day < 31;

const isReceipt = ({ subject }: Pick<Left, 'subject'>) => subject.startsWith('Receipt');
const sorted = (mails: readonly Left[]) => mails.map(({ to }) => to).sort();
const key = ({ to, subject }: Pick<Left, 'to' | 'subject'>) => `${to} ${subject}`;

t.test('with every feature on each keeps its promises, and every recipient has one state', async (t) => {
  t.comment(`SEED=${SEED}`);
  const shop = await Shop.open(t, SEED, PEOPLE);
  const { app, left, hits, leavers, receipts } = shop;
  const firstPeople = shop.people;
  await shop.post('/sending/caps/save', { caps: [`${MAX_MAILS}/${WEEK_DAYS}`] });
  await shop.post('/sending/window/save', { days: [1, 2, 3, 4, 5, 6, 7], opens: '08:00', closes: '20:00' });
  await shop.post('/sunset/save', { is_on: 1, months: 1, least_mails: 2, action: 'stop' });
  let asked = 0;
  await shop.openSeries(['Series 1', 'Series 2'], 5);
  const asleep = await storeSegment(app, ['activity.mails', 'opened none of the last', '2']);
  const engaged = await storeSegment(app, ['activity.last', 'is within', '30'], { segment_name: 'Engaged' });
  const sends = new Map<string, { utr: string; at: number }>();
  const send = async (subject: string, more: Record<string, unknown> = {}) => {
    sends.set(subject, { utr: await shop.send(subject, more), at: shop.now });
  };
  const scripted: Record<number, () => Promise<unknown>> = {
    1: () => send('Send 1', { canary_percent: 5 }),
    4: () => send('Send 2'),
    8: async () => {
      await shop.sendAgain(sends.get('Send 2')?.utr ?? '', 'Send 2 again');
      sends.set('Send 2 again', { utr: '', at: shop.now });
    },
    11: () => shop.import(90),
    13: () => send('Engaged', { recipient_id: [`segments_${engaged}`] }),
    18: () => send('Awake', { exclude_specific_recipient_id: [`segments_${asleep}`] }),
    19: async () => {
      await shop.askForConsent();
      asked = shop.now;
    },
    21: async () => {
      await send('Variant A');
      const test = { subjects: ['Variant B'], share: 40, winner_by: 'opens', hours: 12 };
      await shop.post('/single/send/variants', { utr: sends.get('Variant A')?.utr, ...test });
    },
    24: async () => {
      await shop.post('/contacts-type/add', { name: 'Newcomers' });
      await shop.import(150, 2);
    },
    25: () => send('Send 3', { canary_percent: 2 }),
    26: async () => {
      await shop.publish(1);
      await shop.openFeed();
      await shop.post('/senders/warm-ups/save', WARM_UP);
      await send('New domain', { sender_id: 2, recipient_id: ['contacts_2'] });
    },
    28: () => shop.publish(2),
    30: () => shop.post('/single/send/archive', { utr: sends.get('Send 3')?.utr, is_archived: 1 }),
    31: () =>
      send('Local', {
        ...{ recipient_id: ['contacts_2'], schedule_type: 1, local_time: 1 },
        ...{ schedule_date: LOCAL_DAY, schedule_time: '14:00' },
      }),
    32: () => send('Last'),
  };
  for (let day = 0; day < DAYS; day++) {
    for (let hour = 0; hour < 24; hour++) {
      if (hour === MORNING && scripted[day] !== undefined) {
        await scripted[day]?.();
        // Those are asked whom it is for before anything else happens.
        await app.background();
      }
      if (hour % 6 === 0 && day < DAYS - 1) await shop.sendReceipt();
      await shop.hour(isWarmingUp(day) ? 3 : 1);
    }
  }

  /** Who opened a mail, or any, as a person and before a moment. */
  const readers = (before: number, subject?: string) =>
    new Set(
      hits
        .filter(({ mail, isMachine, at }) => !isMachine && at < before && mail.subject === (subject ?? mail.subject))
        .map(({ mail }) => mail.to),
    );
  const named = (subject: string) => left.filter((mail) => mail.subject === subject);
  const startOf = (subject: string) => sends.get(subject)?.at ?? 0;
  const counts = new Map<string, number>();
  for (const mail of left) counts.set(key(mail), (counts.get(key(mail)) ?? 0) + 1);

  t.strictSame(
    [...counts].filter(([, times]) => times > 1),
    [],
    'nobody got a mail twice',
  );
  const late = left.filter((mail) => !isReceipt(mail) && mail.at > (leavers.get(mail.to) ?? mail.at));
  t.strictSame(late.map(key), [], 'nobody got a mail after they had left');
  t.strictSame(
    left.filter(isReceipt).map(key).sort(),
    receipts
      .filter(({ to }) => !to.startsWith('gone'))
      .map(key)
      .sort(),
    'every transactional mail arrived once, also for those who had left',
  );
  const reached = firstPeople.filter((one) => !one.startsWith('gone')).length;
  t.equal(named('Send 1').length, reached, 'the first send went to everybody');

  const campaigns = left.filter((mail) => !isReceipt(mail));
  /** The mails of campaigns that somebody got in the seven days that end with this moment's. */
  const inWeekOf = (person: string, moment: number) =>
    campaigns.filter(
      ({ to, at }) => to === person && at <= moment && Math.floor(at / DAY) > Math.floor(moment / DAY) - WEEK_DAYS,
    );
  const again = startOf('Send 2 again');
  const slept = named('Send 2').filter(({ to }) => !readers(again, 'Send 2').has(to));
  const free = slept.filter(
    ({ to }) => (leavers.get(to) ?? shop.now) > again && inWeekOf(to, again - 1).length < MAX_MAILS,
  );
  t.strictSame(
    sorted(named('Send 2 again')),
    sorted(free),
    'it went again to whoever did not open it and may get mail',
  );
  const engagedThen = readers(startOf('Engaged'));
  t.strictSame(
    named('Engaged')
      .filter(({ to }) => !engagedThen.has(to))
      .map(key),
    [],
    'only people who had opened something',
  );

  const hours = new Set(campaigns.map(({ at }) => new Date(at).getUTCHours()));
  t.ok(
    [...hours].every((hour) => hour >= 8 && hour < 20),
    `mail of campaigns left at ${[...hours]}`,
  );
  const tooMany = campaigns.filter(({ to, at }) => inWeekOf(to, at).length > MAX_MAILS);
  t.strictSame(tooMany.map(key), [], `nobody got more than ${MAX_MAILS} mails in ${WEEK_DAYS} days`);
  const since = campaigns.filter(({ at }) => at > asked);
  const isMeasured = ({ html }: Left) => html.includes('/o/');
  t.strictSame(
    since.filter((mail) => isMeasured(mail) !== shop.allowed.has(mail.to)).map(key),
    [],
    'who said yes is measured',
  );
  const stopped = shop.stopped();
  t.ok(stopped.size > 0, `${stopped.size} were stopped because they did nothing`);
  const active = [...stopped].filter(
    ([to, { since, at }]) =>
      !shop.allowed.has(to) ||
      hits.some((hit) => hit.mail.to === to && !hit.isMachine && hit.at >= since && hit.at < at),
  );
  t.strictSame(active, [], 'all of them are measured, and did nothing');
  const afterwards = named('Last').filter(({ to, at }) => at > (stopped.get(to)?.at ?? at));
  t.strictSame(afterwards.map(key), [], 'nobody got a mail after they were stopped');

  const both = [...named('Variant A'), ...named('Variant B')].map(({ to }) => to);
  t.equal(new Set(both).size, both.length, 'nobody got two variants');
  t.ok(
    both.length > PEOPLE * 0.8 && named('Variant B').length > PEOPLE * 0.13,
    `${both.length} people got one of two variants`,
  );

  t.equal(named('Item 1').length, 0, 'an item that was there before the feed was added is not sent');
  t.ok(named('Item 2').length > 50, `${named('Item 2').length} people got the next item`);
  const warmed = Map.groupBy(named('New domain'), ({ at }) => Math.floor(at / DAY));
  const byDay = [...warmed.values()].map(({ length }) => length);
  t.ok(
    byDay.length > 2 && byDay.every((mails, day) => mails <= WARM_UP.volume * 2 ** day),
    `mails of the new domain by day: ${byDay}`,
  );
  for (const { domain, country, at14 } of HOMES) {
    const [first] = named('Local').filter(({ to }) => to.endsWith(`@${domain}`));
    const wait = (first?.at ?? 0) - Date.parse(`${LOCAL_DAY}T${at14}Z`);
    t.ok(wait >= 0 && wait < HOUR, `who lives in ${country} gets it at 14:00 there, and not before`);
  }
  t.ok(named('Local').length > 130, `${named('Local').length} people got it at their own time`);
  t.equal(named('New domain').length, 146, 'in the end everybody got it whose address is right');
  const page = await shop.archived(sends.get('Send 3')?.utr ?? '');
  t.match(page, 'Offer');
  t.notMatch(
    page,
    /@(gmail|outlook|example)|\/[uoc]\/(?!shared)/,
    'the archive shows no address and no link of anybody',
  );

  for (const { name, kept, right } of mailingCounters(app.db)) t.strictSame(kept, right, name);
  const waiting = app.db.prepare('SELECT count(*) FROM deliveries WHERE state < 2').pluck().get();
  t.equal(waiting, 0, 'every recipient has a final state');
  t.ok(['Series 1', 'Series 2', 'Awake', 'Send 3'].every((subject) => named(subject).length > 50));
  t.comment(`${left.length} mails, ${hits.length} opens and clicks, ${leavers.size} left`);
});
