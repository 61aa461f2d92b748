/** People of a live automation whose address is corrected. */
import t from 'tap';
import { ACCEPTED, DAY, HOUR, LATER, startSeries, startShop } from '../support/shop.ts';

t.test('a person whose address is corrected keeps their place; the old address gets nothing more', async (t) => {
  const shop = await startShop(t);
  const { preview } = await startSeries(shop, { one: 0, two: 24, three: 24 });
  const ann = await shop.add('ann');
  await shop.pass(HOUR);
  await shop.correct(ann, 'anna');
  await shop.import(['ann']);
  await shop.pass(3 * DAY);
  t.strictSame(shop.accepted(), ['ann one', 'anna two', 'anna three']);
  t.match(await preview('ann'), { state: 'left', reason: 'the address was changed' });
});

t.test(
  'a person whose address is corrected before their join is applied enters once, under the new address',
  async (t) => {
    const shop = await startShop(t);
    await startSeries(shop, { one: 0 });
    const ann = await shop.add('ann');
    await shop.correct(ann, 'anna');
    await shop.pass(DAY);
    t.strictSame(shop.accepted(), ['anna one']);
  },
);

t.test('correcting an address is not a join: a person who was there before it went live stays outside', async (t) => {
  const shop = await startShop(t);
  const ann = await shop.add('ann');
  await startSeries(shop, { one: 0 });
  await shop.correct(ann, 'anna');
  await shop.pass(DAY);
  t.strictSame(shop.accepted(), []);
});

t.test('a mail that waits for the relay goes to the corrected address alone', async (t) => {
  const shop = await startShop(t);
  await startSeries(shop, { one: 0, two: 24 });
  const ann = await shop.add('ann');
  shop.relay.answer = () => LATER;
  await shop.pass(HOUR);
  await shop.correct(ann, 'anna');
  shop.relay.answer = () => ACCEPTED;
  await shop.pass(2 * DAY);
  t.strictSame(shop.accepted(), ['anna one', 'anna two']);
});

for (const [what, type] of [
  ['was deleted from the same type', 1],
  ['was moved to another type', 2],
] as const) {
  t.test(`the same mail never reaches both when the new address was in the series itself and ${what}`, async (t) => {
    const shop = await startShop(t);
    await shop.post('/contacts-type/add', { name: 'Others' });
    await startSeries(shop, { one: 0, two: 24, three: 24 });
    const anna = await shop.add('anna');
    await shop.pass(12 * HOUR);
    const ann = await shop.add('ann');
    await shop.pass(13 * HOUR);
    t.strictSame(shop.accepted(), ['anna one', 'ann one', 'anna two']);
    if (type === 1) await shop.remove('/contacts/delete', { contact_id: anna });
    else await shop.correct(anna, 'anna', 2);
    await shop.correct(ann, 'anna');
    await shop.pass(3 * DAY);
    t.strictSame(shop.accepted(), ['anna one', 'ann one', 'anna two', 'anna three'], 'from the place further on');
  });
}

t.test('after a correction is reversed the series goes on where it was', async (t) => {
  const shop = await startShop(t);
  await startSeries(shop, { one: 0, two: 24, three: 24 });
  const ann = await shop.add('ann');
  await shop.pass(HOUR);
  await shop.correct(ann, 'anna');
  await shop.pass(DAY);
  await shop.correct(ann, 'ann');
  await shop.pass(2 * DAY);
  t.strictSame(shop.accepted(), ['ann one', 'anna two', 'ann three']);
});

t.test(
  'a segment keeps its people when their address is corrected, and the marks of who was removed by hand',
  async (t) => {
    const shop = await startShop(t);
    await shop.post('/segment/store', {
      segment_name: 'All',
      contact_type_id: 1,
      select_field: ['email'],
      select_operator: ['contains'],
      value: ['example'],
    });
    await startSeries(shop, { one: 0, two: 24 }, { automation_for: 'segments_1', exit_criteria: 1 });
    const [ann, bob] = [await shop.add('ann'), await shop.add('bob')];
    await shop.pass(HOUR);
    const { contactEmails } = await shop.get('/segment/email/list', { segment_id: 1 });
    const removed = contactEmails.find(({ email }: { email: string }) => email === 'bob@example.org');
    await shop.remove('/segment/email/delete', { segment_recipient_id: removed.id });
    await shop.correct(ann, 'anna');
    await shop.correct(bob, 'bobby');
    await shop.pass(2 * DAY);
    t.strictSame(shop.accepted(), ['ann one', 'bob one', 'anna two']);
  },
);
