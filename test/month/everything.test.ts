/** A month of a shop that uses every feature at once; what its relay took must keep what each of them promises. */
import t from 'tap';
import { mailingCounters } from '../../fixtures/mailing-counters.ts';
import { untilFlushed } from '../support/recipient-links.ts';
import { storeSegment } from '../support/segments.ts';
import { type Left, Shop } from './everything-world.ts';

const SEED = Number(process.env.SEED ?? 20_261_123);
const PEOPLE = 1100;
const DAYS = 30;
/** When somebody in the shop is at work. */
const MORNING = 9;

const isReceipt = ({ subject }: Pick<Left, 'subject'>) => subject.startsWith('Receipt');
const key = ({ to, subject }: Pick<Left, 'to' | 'subject'>) => `${to} ${subject}`;

t.test('with every feature on each keeps its promises, and every recipient has one state', async (t) => {
  t.comment(`SEED=${SEED}`);
  const shop = await Shop.open(t, SEED, PEOPLE);
  const { app, left, hits, leavers, receipts } = shop;
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
    21: async () => {
      await send('Variant A');
      const test = { subjects: ['Variant B'], share: 40, winner_by: 'opens', hours: 12 };
      await shop.post('/single/send/variants', { utr: sends.get('Variant A')?.utr, ...test });
    },
    25: () => send('Send 3', { canary_percent: 2 }),
  };
  for (let day = 0; day < DAYS; day++) {
    for (let hour = 0; hour < 24; hour++) {
      if (hour === MORNING && scripted[day] !== undefined) {
        await untilFlushed(app);
        await scripted[day]?.();
      }
      if (hour % 6 === 0 && day < DAYS - 1) await shop.sendReceipt();
      await shop.hour();
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
  const toAll = named('Send 1').length;
  t.equal(toAll, shop.people.filter((one) => !one.startsWith('gone')).length - 88, 'the first send went to everybody');

  const slept = named('Send 2').filter(({ to }) => !readers(startOf('Send 2 again'), 'Send 2').has(to));
  const stayed = slept.filter(({ to }) => (leavers.get(to) ?? shop.now) > startOf('Send 2 again'));
  t.strictSame(
    named('Send 2 again')
      .map(({ to }) => to)
      .sort(),
    stayed.map(({ to }) => to).sort(),
    'who did not open it',
  );
  const engagedThen = readers(startOf('Engaged'));
  t.strictSame(
    named('Engaged')
      .filter(({ to }) => !engagedThen.has(to))
      .map(key),
    [],
    'only people who had opened something',
  );

  const both = [...named('Variant A'), ...named('Variant B')].map(({ to }) => to);
  t.equal(new Set(both).size, both.length, 'nobody got two variants');
  t.ok(both.length > 900 && named('Variant B').length > 150, `${both.length} people got one of two variants`);

  for (const { name, kept, right } of mailingCounters(app.db)) t.strictSame(kept, right, name);
  const waiting = app.db.prepare('SELECT count(*) FROM deliveries WHERE state < 2').pluck().get();
  t.equal(waiting, 0, 'every recipient has a final state');
  t.ok(['Series 1', 'Series 2', 'Awake', 'Send 3'].every((subject) => named(subject).length > 50));
  t.comment(`${left.length} mails, ${hits.length} opens and clicks, ${leavers.size} left`);
});
