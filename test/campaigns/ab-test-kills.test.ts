/** A/B tests of the built service, which is killed in each of their phases. */
import t, { type Test } from 'tap';
import { type Received, Service, type Sink, startSink } from '../support/service.ts';
import { startAbTest, until } from '../support/service-campaign.ts';

const PEOPLE = 600;
/** How many connections a relay gets at most: so many mails may be on their way when the process ends. */
const CONNECTIONS = 5;

/** Lets the relay answer some more mails, then kills the service and starts it again. */
async function killAfter(service: Service, sink: Sink, mails: number): Promise<void> {
  sink.allow(sink.mails.length + mails);
  const reached = sink.mails.length + mails;
  await until(
    () => sink.mails.length,
    (count) => count >= reached,
  );
  await service.end('SIGKILL');
  await service.start();
}

/** Checks that nobody got mails of two variants or under two Message-IDs; gives how many people got each subject. */
function countPeople(t: Test, mails: readonly Received[]): Record<string, number> {
  const seen = new Map<string, Set<string>>();
  const counts: Record<string, number> = {};
  for (const { to, raw } of mails) {
    // The sender gets a mail by which to confirm its address.
    if (!to.startsWith('reader')) continue;
    const text = raw.toString();
    const [, subject = ''] = /^Subject: (.*?)\r$/m.exec(text) ?? [];
    const [id] = /^Message-ID: .*$/m.exec(text) ?? [];
    const isOther = text.includes('Other mail');
    if (isOther !== (subject === 'Other')) t.fail(`${subject} has the content of another variant`);
    if (!seen.has(to)) counts[subject] = (counts[subject] ?? 0) + 1;
    seen.set(to, (seen.get(to) ?? new Set()).add(`${subject} ${id}`));
  }
  t.ok(
    [...seen.values()].every(({ size }) => size === 1),
    'everybody got mails of one variant with one Message-ID only',
  );
  return counts;
}

t.test('killed in every phase of an A/B test, nobody is lost and nobody gets two variants', async (t) => {
  const sink = await startSink(t);
  sink.allow(0);
  const service = new Service(t, {
    SMTP_URL: sink.url,
    SMTP_CONNECTIONS: String(CONNECTIONS),
    SENDER_VERIFICATION: 'optional',
  });
  await service.start();
  const test = await startAbTest(service, PEOPLE);
  for (const mails of [1, 80, 60]) await killAfter(service, sink, mails);
  t.match(await test.report(), { state: 'sending' }, 'the kills were in the test phase');
  sink.allow(Number.POSITIVE_INFINITY);
  const waiting = await until(test.report, (report) => report?.state === 'waiting');
  const { News: first = 0, Other: other = 0 } = countPeople(t, sink.mails);
  t.equal(first + other, PEOPLE - (waiting?.rest ?? 0), 'all of the test group and nobody else');
  t.match(waiting?.variants, [
    { recipients: first, delivered: first },
    { recipients: other, delivered: other },
  ]);

  sink.allow(0);
  await service.end('SIGKILL');
  await service.start();
  t.match(await test.report(), { state: 'waiting' });
  await test.choose(1);
  await killAfter(service, sink, 50);
  sink.allow(Number.POSITIVE_INFINITY);
  await until(test.counters, ({ delivered }) => delivered === PEOPLE);
  t.strictSame(countPeople(t, sink.mails), { News: first, Other: PEOPLE - first }, 'everybody has a mail');
});
