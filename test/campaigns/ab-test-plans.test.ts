/** A/B tests and who is measured: what the plan of a test says, which tests are possible, and what the report counts. */
import t from 'tap';
import { DELIVERY_STATE, TRACKING_CHOICE } from '../../src/database/schema/index.ts';
import { MAIL, prepareAbTest } from '../support/ab-tests.ts';

t.test(
  'what the groups can show depends on those whose opens and clicks are recorded, in the audience and before',
  async (t) => {
    const shop = await prepareAbTest(t, { share: 100 });
    const { db } = shop.app;
    const plan = async () => (await shop.get('/single-send/variants', { utr: shop.utr })).plan;
    t.match(await plan(), { per_variant: 100, measured_per_variant: 100 });
    db.exec(`UPDATE addresses SET tracking_choice = CASE WHEN id % 10 < 3 THEN ${TRACKING_CHOICE.allowed} ELSE ${TRACKING_CHOICE.refused} END
    WHERE normalized_email LIKE 'r%' AND id % 10 < 5`);
    t.match(await plan(), { per_variant: 100, measured_per_variant: 80 }, 'who refused is not measured');
    await shop.post('/tracking/save', { mode: 'consent' });
    const consent = await plan();
    t.match(consent, { recipients: 200, per_variant: 100, measured_per_variant: 30 });
    t.ok(consent.opens.smallest_difference > 0.3, consent.opens.smallest_difference);
    // 4 000 mails that were delivered, 600 of them measured, of which 120 were opened.
    db.exec(`INSERT INTO mailings (user_id, owner_kind, owner_id, state, content, created_at, finished_at, delivered, unmeasured, people_opens)
    VALUES (1, 'single', 900, 'done', '{}', '2026-01-01', '2026-01-01', 4000, 3400, 120)`);
    t.match((await plan()).opens, { base_rate: 0.2, base_mails: 600 });
    await shop.post('/single/send/variants', { utr: shop.utr, subjects: ['two'], winner_by: 'hand' });
    for (const mode of ['off', 'totals']) {
      await shop.post('/tracking/save', { mode });
      t.match(await plan(), { measured_per_variant: 0, opens: { smallest_difference: null } });
    }
    await shop.post('/tracking/save', { mode: 'person' });
    t.match(await plan(), { per_variant: 20, measured_per_variant: 16 });
    db.exec('UPDATE single_sends SET tracking = 0');
    t.match(await plan(), { measured_per_variant: 0 });
  },
);

t.test('in an account that learns nothing of people no winner is found by what they do, only by hand', async (t) => {
  const shop = await prepareAbTest(t);
  const save = (winner_by: string) =>
    shop.app.one.call('POST', '/single/send/variants', { form: { utr: shop.utr, subjects: ['new'], winner_by } });
  for (const mode of ['off', 'totals']) {
    await shop.post('/tracking/save', { mode });
    for (const measure of ['opens', 'clicks'])
      t.match(await save(measure), { status: 422, body: { errors: { winner_by: [/not counted/] } } });
  }
  await shop.post('/single/send/save', { utr: shop.utr, subject: 'still to be changed' });
  await shop.start();
  t.match(await shop.report(), { status: 0, held_code: 'content_invalid', held_reason: /not counted/ });
  t.equal((await save('hand')).status, 200);
  await shop.post('/tracking/save', { mode: 'consent' });
  t.equal((await save('clicks')).status, 200);
});

t.test(
  'a change that makes a test impossible is refused with the field; saving a test can take a first part away',
  async (t) => {
    const shop = await prepareAbTest(t);
    const change = (path: string, form: Record<string, unknown>) =>
      shop.app.one.call('POST', path, { form: { utr: shop.utr, ...form } });
    const update = (form: Record<string, unknown>) =>
      change('/single/send/update', { ...MAIL, schedule_type: 0, ...form });
    const canary = { status: 422, body: { errors: { canary_percent: [/first batch/] } } };
    t.match(await update({ canary_percent: 1 }), canary);
    t.match(await change('/single/send/save', { canary_percent: 1 }), canary);
    t.match(await update({ tracking: 0 }), { status: 422, body: { errors: { tracking: [/not counted/] } } });
    t.equal((await update({ subject: 'other', canary_percent: 0 })).status, 200);

    const test = { subjects: ['two'], canary_percent: 0 };
    shop.app.db.exec('UPDATE single_sends SET canary_percent = 5');
    t.equal((await change('/single/send/save', { subject: 'one' })).status, 200, 'what was so before can be left so');
    t.equal((await change('/single/send/variants', { ...test, canary_percent: 1 })).status, 422);
    t.equal((await change('/single/send/variants', { ...test, subjects: ['one'] })).status, 422);
    const faulty = await change('/single/send/variants', { ...test, subjects: ['((if city))b'] });
    t.match(faulty, { status: 422, body: { errors: { subjects: [/line 1, column 1/] } } });
    const stored = () => shop.app.db.prepare('SELECT canary_percent FROM single_sends').pluck().get();
    t.equal(stored(), 5, 'a test that is refused changes nothing');
    t.equal((await change('/single/send/variants', test)).status, 200);
    t.equal(stored(), 0);
  },
);

t.test('the report counts each recipient of a large group once, whatever became of their mails', async (t) => {
  const shop = await prepareAbTest(t, { share: 100 });
  await shop.start();
  const { db } = shop.app;
  // 41 000 more people with B: 21 000 opened it, a part of those clicked, some are not measured and some failed.
  db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 41000)
    INSERT INTO addresses (user_id, normalized_email) SELECT 1, 'x' || i || '@example.org' FROM n;
    INSERT INTO deliveries (mailing_id, address_id, state, by_person, is_unmeasured, variant)
    SELECT (SELECT mailing_id FROM ab_tests), a.id, iif(n > 40000, ${DELIVERY_STATE.failed}, ${DELIVERY_STATE.accepted}),
      CASE WHEN n <= 20500 THEN 1 WHEN n <= 21000 THEN 3 ELSE 0 END, n > 21000 AND n <= 22000, 1
    FROM (SELECT id, CAST(substr(normalized_email, 2) AS INTEGER) AS n FROM addresses WHERE normalized_email LIKE 'x%') a`);
  const small = Number(
    db
      .prepare(
        "SELECT count(*) FROM deliveries JOIN addresses a ON a.id = address_id WHERE variant = 1 AND a.normalized_email LIKE 'r%'",
      )
      .pluck()
      .get(),
  );
  const large = (await shop.report()).ab_test.variants[1];
  t.match(large, {
    recipients: small + 41_000,
    delivered: small + 40_000,
    opens: { people: 21_000, rate: 21_000 / (small + 39_000) },
    clicks: { people: 500 },
  });
  t.match((await shop.report()).ab_test.variants[0], {
    recipients: 200 - small,
    delivered: 200 - small,
    opens: { people: 0 },
  });
});
