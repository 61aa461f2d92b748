/** Which A/B tests the background reads. */
import t from 'tap';
import { MAIL } from '../../support/ab-tests.ts';
import { planned } from '../../support/query-plans.ts';
import { startShop } from '../../support/shop.ts';

t.test('the tests that are due are one look-up in an index, which has all that is read of the others', async (t) => {
  const plans = await planned(async () => {
    const { app, import: add, post, pass } = await startShop(t);
    await add(Array.from({ length: 20 }, (_, at) => `r${at}`));
    const { utr } = await post('/single/send/create', { ...MAIL, schedule_type: 0 });
    await post('/single/send/variants', { utr, subjects: ['two'], share: 50, winner_by: 'clicks', hours: 4 });
    app.clock.advance(11_000);
    await app.background();
    await pass(2000);
    t.equal(app.db.prepare('SELECT count(*) FROM ab_tests WHERE winner IS NULL').pluck().get(), 1);
  });
  t.strictSame(
    plans
      .filter(({ text }) => text.includes('INDEXED BY ab_tests'))
      .map(({ steps }) => steps.filter((step) => / USING /.test(step) && !step.startsWith('UNION'))),
    [
      [
        'SEARCH ab_tests USING COVERING INDEX ab_tests_due (<expr><?)',
        'SEARCH ab_tests USING COVERING INDEX ab_tests_tried (tried_at>?)',
      ],
      ['SEARCH ab_tests USING COVERING INDEX ab_tests_due (<expr>=?)'],
    ],
  );
});
