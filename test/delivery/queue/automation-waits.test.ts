/** The wait before a mail of an automation is worked out in SQL and in TypeScript. */
import Database from 'better-sqlite3';
import t from 'tap';
import { SCHEDULE_WAIT, waitMs } from '../../../src/delivery/queue/enrolment-state.ts';

t.test('the wait that a forecast shows is the wait after which the mail leaves', async (t) => {
  const client = new Database(':memory:');
  t.teardown(() => client.close());
  const inSql = client
    .prepare<object, number>(
      `SELECT ${SCHEDULE_WAIT} FROM (SELECT @waiting_type AS waiting_type, @waiting_period AS waiting_period) s`,
    )
    .pluck();
  const waits = [
    { waiting_type: 'instantly', waiting_period: 3, expected: 0 },
    { waiting_type: 'hours', waiting_period: 3, expected: 3 * 3_600_000 },
    { waiting_type: 'days', waiting_period: 3, expected: 3 * 86_400_000 },
  ] as const;
  for (const { expected, ...schedule } of waits) {
    t.equal(inSql.get(schedule), expected, `${schedule.waiting_type} in SQL`);
    t.equal(waitMs(schedule), expected, `${schedule.waiting_type} in TypeScript`);
  }
  t.equal(waitMs(undefined), 0, 'after the last mail there is nothing to wait for');
});
