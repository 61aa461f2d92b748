/** The days and hours at which mail leaves. */
import t, { type Test } from 'tap';
import { nextSendingTime } from '../../../src/delivery/timing/send-window.ts';
import { DAY, HOUR, mailsInBrief, withWelcomeSeries } from '../../support/automations.ts';
import { createSend, outboxOf, RECALL, readyToSend, sendReport } from '../../support/single-sends.ts';

const ALL_DAYS = [1, 2, 3, 4, 5, 6, 7];
const WORK = { days: [1, 2, 3, 4, 5], opens: '09:00', closes: '18:00' };

/** Until when mail waits at a time, both in UTC. */
function untilIn(zone: string, window: typeof WORK, now: string): string | null {
  return (
    nextSendingTime(window, new Date(`${now}Z`), zone)
      ?.toISOString()
      .slice(0, 16) ?? null
  );
}

t.test('mail waits until the next of the hours', async (t) => {
  // 15 January 2026 is a Thursday.
  const cases: [now: string, until: string | null][] = [
    ['2026-01-15T08:59:59', '2026-01-15T09:00'],
    ['2026-01-15T09:00:00', null],
    ['2026-01-15T17:59:59', null],
    ['2026-01-15T18:00:00', '2026-01-16T09:00'],
    ['2026-01-16T18:00:00', '2026-01-19T09:00'],
    ['2026-01-18T12:00:00', '2026-01-19T09:00'],
  ];
  for (const [now, until] of cases) t.equal(untilIn('UTC', WORK, now), until, now);
  t.equal(untilIn('UTC', { ...WORK, days: [4] }, '2026-01-15T18:00:00'), '2026-01-22T09:00', 'once a week');
  t.equal(untilIn('UTC', { days: ALL_DAYS, opens: '00:00', closes: '24:00' }, '2026-01-15T23:59:59'), null, 'always');
  t.equal(untilIn('Asia/Tokyo', WORK, '2026-01-15T09:00:00'), '2026-01-16T00:00', 'in its zone');
});

t.test('a change of the clock skips no day but one whose hours it skips, and repeats no opening', async (t) => {
  // In Berlin 2:00 to 3:00 is skipped on 29 March 2026 and occurs twice on 25 October.
  const night = { days: ALL_DAYS, opens: '02:15', closes: '02:45' };
  t.equal(untilIn('Europe/Berlin', night, '2026-03-29T00:50:00'), '2026-03-30T00:15', 'there is no 2:15 on that day');
  const longer = { days: ALL_DAYS, opens: '02:15', closes: '05:00' };
  t.equal(untilIn('Europe/Berlin', longer, '2026-03-29T00:50:00'), '2026-03-29T01:15', '3:15, as 2:15 is skipped');
  t.equal(untilIn('Europe/Berlin', night, '2026-10-25T00:00:00'), '2026-10-25T00:15');
  t.equal(untilIn('Europe/Berlin', night, '2026-10-25T01:20:00'), null, 'the second 2:20');
  const sundays = { ...night, days: [7] };
  t.equal(untilIn('Europe/Berlin', sundays, '2026-03-28T12:00:00'), '2026-04-05T00:15', 'the one of a week is skipped');
});

/** An account whose mail leaves at these times. It is Thursday, 9:00. */
async function withWindow(t: Test, window: Record<string, unknown>) {
  const { app, body } = await readyToSend(t);
  t.equal((await app.one.call('POST', '/sending/window/save', { form: window })).status, 200);
  const pass = async (ms: number) => {
    app.clock.advance(ms);
    await app.background();
  };
  return { app, body, pass };
}

t.test('a single send waits for its hours and says until when; pause, resume and cancel hold meanwhile', async (t) => {
  const { app, body, pass } = await withWindow(t, { days: ['5', '1'], opens: '10:00', closes: '12:00' });
  const utr = await createSend(app, body);
  const other = await createSend(app, body);
  await pass(RECALL);
  t.equal(outboxOf(app).length, 0);
  t.match(await sendReport(app, utr), { status: 2, held_code: null, waits_until: '2026-01-16T10:00:00.000000Z' });
  const act = async (action: string, which: string) =>
    (await app.one.call('POST', `/single/send/${action}`, { query: { utr: which } })).status;
  t.equal(await act('cancel', other), 200);
  t.equal(await act('pause', utr), 200);
  t.equal((await sendReport(app, utr)).waits_until, null, 'what is paused does not go on by itself');
  await pass(DAY + 2 * HOUR);
  t.equal(outboxOf(app).length, 0, 'the paused one does not leave within the hours');
  t.equal((await sendReport(app, utr)).waits_until, null);
  await pass(2 * HOUR);
  t.equal(await act('resume', utr), 200);
  await pass(0);
  t.equal(outboxOf(app).length, 0, 'resumed after the hours it waits for the next');
  await pass(3 * DAY - 2 * HOUR);
  t.equal(outboxOf(app).length, 3);
  t.match(await sendReport(app, utr), { status: 3, waits_until: null });
  t.match((await sendReport(app, other)).states, { cancelled: 3 });
});

t.test('what is not done when the hours end goes on the next day, and nobody gets it twice', async (t) => {
  const { app, body, pass } = await withWindow(t, { days: ALL_DAYS, opens: '09:00', closes: '10:00' });
  await createSend(app, body);
  await pass(RECALL);
  t.equal(outboxOf(app).length, 3);
  await createSend(app, body);
  await pass(2 * HOUR);
  t.equal(outboxOf(app).length, 3);
  await pass(DAY - 2 * HOUR);
  await pass(DAY);
  t.equal(outboxOf(app).length, 6);
});

t.test('mails of automations wait, other accounts and tests do not', async (t) => {
  const { app, post, join, pass, live } = await withWelcomeSeries(t);
  await app.two.call('POST', '/sending/window/save', { form: { days: ['7'], opens: '09:00', closes: '10:00' } });
  await post('/sending/window/save', { days: ALL_DAYS, opens: '11:00', closes: '20:00' });
  await live();
  await join('ann');
  await pass(4 * DAY);
  t.strictSame(mailsInBrief(app), ['01-15T11:00 ann one', '01-17T11:00 ann two', '01-18T11:00 ann three']);
});

t.test('what is no time is refused, and no day means at any time', async (t) => {
  const { app } = await withWindow(t, { days: ['1'], opens: '09:00', closes: '24:00' });
  const save = async (form: Record<string, unknown>) =>
    (await app.one.call('POST', '/sending/window/save', { form })).status;
  for (const form of [
    { days: ['0'], opens: '09:00', closes: '18:00' },
    { days: ['8'], opens: '09:00', closes: '18:00' },
    { days: ['1'], opens: '18:00', closes: '09:00' },
    { days: ['1'], opens: '09:00', closes: '09:00' },
    { days: ['1'], opens: '9:00', closes: '18:00' },
    { days: ['1'], opens: '09:00', closes: '24:01' },
    { days: ['1'], opens: '24:00', closes: '24:00' },
    { days: ['1'] },
  ])
    t.equal(await save(form), 422, JSON.stringify(form));
  t.equal((await app.one.call('GET', '/sending/window')).body.message.window.closes, '24:00');
  t.equal(await save({ days: '' }), 200);
  t.match((await app.one.call('GET', '/sending/window')).body.message, { window: null, waits_until: null });
});
