/**
 * A provider that takes so many mails a second and puts off the rest, on a real SMTP server: the rate to it converges,
 * and everybody gets their mail.
 */
import t from 'tap';
import { pacedGroupsOf } from '../../../src/delivery/pacing/paced-groups.ts';
import { MINUTE_MS, SECOND_MS } from '../../../src/units.ts';
import { launchToSink } from '../../support/launched-mailing.ts';
import { until } from '../../support/until.ts';

const PEOPLE = 2000;
/** So many mails a second the provider takes. */
const LIMIT = 5;

const REFUSALS = [
  { point: 'rcpt', refusal: '451 4.7.650 The mail server has been temporarily rate limited due to IP reputation\r\n' },
  // To our client it also means that the relay closes the connection, so that everybody waits a little.
  { point: 'dot', refusal: '421 4.7.28 Our system has detected an unusual rate of unsolicited mail\r\n' },
] as const;

for (const { point, refusal } of REFUSALS)
  t.test(`${refusal.slice(0, 3)} above 5 mails a second: the rate settles near it, and nobody is lost`, async (t) => {
    const people = Array.from({ length: PEOPLE }, (_, at) => `r${at}@${at % 5 === 0 ? 'example.org' : 'gmail.com'}`);
    const { db, sink, pool, clock, background, mailing, rows } = await launchToSink(t, people, {});
    const minutes: { taken: number; refused: number }[] = [];
    let second = { at: 0, taken: 0 };
    const answer = (recipient: string) => {
      if (!recipient.includes('@gmail.com')) return '250 ok\r\n';
      const at = Math.floor(clock.monotonic() / SECOND_MS);
      if (second.at !== at) second = { at, taken: 0 };
      const minute = Math.floor(clock.monotonic() / MINUTE_MS);
      minutes[minute] ??= { taken: 0, refused: 0 };
      const isTaken = second.taken++ < LIMIT;
      minutes[minute][isTaken ? 'taken' : 'refused']++;
      return isTaken ? '250 ok\r\n' : refusal;
    };
    const recipients: string[] = [];
    sink.script =
      point === 'rcpt'
        ? { rcpt: ({ line }) => answer(line) }
        : {
            rcpt: ({ line, connection }) => {
              recipients[connection] = line;
              return '250 ok\r\n';
            },
            dot: ({ connection }) => answer(recipients[connection] ?? ''),
          };
    await background.untilIdle();
    const elsewhere = db.$client
      .prepare(
        "SELECT count(*) FROM deliveries d JOIN addresses a ON a.id = d.address_id WHERE a.normalized_email LIKE '%@example.org' AND d.state = 2",
      )
      .pluck();
    if (point === 'rcpt') t.equal(elsewhere.get(), PEOPLE / 5, 'people elsewhere got theirs at once');
    const underWay = db.$client.prepare<[], number>('SELECT count(*) FROM deliveries WHERE state = 1').pluck();
    while (mailing().finished_at === null && clock.monotonic() < 60 * MINUTE_MS) {
      clock.advance(SECOND_MS);
      // The clock of the test must not run ahead of a server that answers late, or of a pause after which the client connects again.
      await until(
        () => underWay.get() === 0 && pool.room() > 0,
        () => background.untilIdle(),
      );
      if (minutes.length === 4) t.match(pacedGroupsOf(db.$client, 1, clock.now()), [{ group: 'Google' }]);
    }
    t.match(mailing(), { state: 'done', delivered: PEOPLE, failed: 0, bounces: 0 });
    t.ok(rows().every(({ state }) => state === 2));
    // The first minutes are those of learning, and the last is not whole.
    for (const minute of minutes.slice(3, -1)) {
      t.ok(minute.taken >= LIMIT * 60 * 0.45, `${minute.taken} taken in a minute`);
      t.ok(minute.refused <= minute.taken / 20, `${minute.refused} refused beside ${minute.taken}`);
    }
    t.ok(minutes.length < 15, `it took ${minutes.length} minutes`);
  });
