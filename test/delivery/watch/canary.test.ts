/** The canary of a single send, and its hold by results, from the API to a relay. */
import t from 'tap';
import { recordBounce } from '../../../src/delivery/feedback/bounces/record.ts';
import type { Outcome } from '../../../src/delivery/transport/courier.ts';
import { replyOutcome } from '../../../src/delivery/transport/smtp/outcome.ts';
import { Canaries } from '../../../src/delivery/watch/canary.ts';
import type { TestApp } from '../../support/app.ts';
import { ACCEPTED } from '../../support/launched-mailing.ts';
import { createSend, RECALL, readyToSend } from '../../support/single-sends.ts';
import { begun, begunAndRun, DOMAINS, PEOPLE, UNKNOWN } from './watched-send.ts';

const MINUTE = 60_000;
const LATER: Outcome = replyOutcome('rcpt', { code: 450, text: '4.2.0 greylisted, try again later' });

const atDomains =
  (...numbers: number[]) =>
  (to: string) =>
    numbers.some((number) => to.endsWith(`@d${number}.example`)) ? UNKNOWN : ACCEPTED;

function byDomain(addresses: Iterable<string>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const to of addresses) {
    const domain = to.slice(to.indexOf('@') + 1);
    counts[domain] = (counts[domain] ?? 0) + 1;
  }
  return counts;
}

/** Reports something about the first accepted mails, as mail that comes back or a feedback loop does. */
function report(app: TestApp, kind: 'bounce' | 'complaint', count: number): void {
  const ids = app.db
    .prepare<[number], number>(
      'SELECT id FROM deliveries WHERE state = 2 AND mailing_id = (SELECT max(id) FROM mailings) ORDER BY id LIMIT ?',
    )
    .pluck();
  for (const deliveryId of ids.all(count))
    recordBounce(app.db, { deliveryId, kind, suppress: true, diagnostic: '550 5.1.1' }, app.clock.now(), '');
}

t.test('the first part goes to every domain alike, the rest by itself half an hour later', async (t) => {
  const { relay, pass, report } = await begunAndRun(t);
  const counts = Object.values(byDomain(relay.started));
  t.equal(counts.length, DOMAINS, 'also on a list that is sorted by domain');
  t.ok(
    counts.every((count) => count >= 27 && count <= 33),
    String(counts),
  );
  t.ok(relay.started.length <= 300);
  const { watch } = await report();
  t.match(watch, {
    canary_percent: 5,
    canary_minutes: 30,
    canary_stage: 'waiting',
    canary_recipients: relay.started.length,
    continues_at: '2026-01-15T09:30:10.000000Z',
  });
  t.equal(watch.domains.length, DOMAINS);
  t.match(watch.domains[0], { mails: watch.domains[0].delivered, bounces: 0, complaints: 0, waiting: 0 });
  const first = relay.started.length;
  await pass(29 * MINUTE);
  t.equal(relay.started.length, first, 'nobody else');
  await pass(MINUTE);
  t.equal(relay.started.length, PEOPLE);
  t.equal(new Set(relay.started).size, PEOPLE, 'everybody once');
  t.match(await report(), { status: 3, watch: { canary_stage: 'released', continues_at: null } });
});

t.test('who is not in the first batch is told that its results are awaited', async (t) => {
  const { app, relay, utr, pass } = await begunAndRun(t);
  const first = new Set(relay.started);
  const [inside = ''] = first;
  const outside = Array.from({ length: 100 }, (_, at) => `p${at}@d0.example`).find((email) => !first.has(email)) ?? '';
  const rule = async (email: string) => {
    const { why } = (await app.one.call('GET', '/single-send/why', { query: { utr, email } })).body.message;
    return why.rules.find(({ rule }: { rule: string }) => rule === 'canary');
  };
  t.match(await rule(inside), { is_met: 1, value: 'The contact is in the first batch.' });
  t.match(await rule(outside), {
    is_met: 0,
    value: /^Waits for the results of the first batch of 300, until 2026-01-15 09:\d\d UTC\.$/,
  });
  await pass(31 * MINUTE);
  t.match(await rule(outside), { is_met: 1, value: 'The first batch is over.' });
});

t.test('whoever of the first part waits for the rate of their domain is tried before the wait begins', async (t) => {
  const send = await begunAndRun(t, { settings: { SEND_RATE_PER_DOMAIN: '1' } });
  t.match((await send.report()).watch, { canary_stage: 'sending' });
  t.ok(send.relay.started.length < 100, `${send.relay.started.length} were tried at once`);
  for (let second = 0; second < 40; second++) await send.pass(1000);
  t.match((await send.report()).watch, { canary_stage: 'waiting', canary_recipients: send.relay.started.length });
});

t.test('a first part that bounces holds the rest, with a table by domain; resume lets it go', async (t) => {
  const { app, relay, act, pass, report, utr } = await begunAndRun(t, { answer: atDomains(1, 3) });
  // Those who were being handed over at that moment are counted a little later.
  await pass(10_000);
  const held = await report();
  t.match(held, { held_code: 'too_many_bounces', held_reason: /^Of the first 2\d\d e-mails, \d\d bounced\./ });
  const first = relay.started.length;
  t.ok(first >= 200 && first <= 300, 'as soon as it is sure');
  const worst = held.watch.domains.slice(0, 2);
  t.strictSame(worst.map(({ domain }: { domain: string }) => domain).sort(), ['d1.example', 'd3.example']);
  for (const { mails, bounces, delivered } of worst) t.match({ bounces, delivered }, { bounces: mails, delivered: 0 });
  const { overview } = (await app.one.call('GET', '/overview')).body.message;
  t.match(overview.campaigns, [{ utr, state: 'held', held_code: 'too_many_bounces' }], 'and Home says so');
  await pass(120 * MINUTE);
  t.equal(relay.started.length, first, 'time alone does not release it');
  t.equal(await act('resume'), 200);
  await pass(0);
  t.equal(relay.started.length, PEOPLE, 'and it is not held for the same once more');
  t.match(await report(), { status: 3, held_code: null });
  t.equal(await act('resume'), 409);
});

t.test('who is left out of the first part by the frequency caps does not make its results unclear', async (t) => {
  const { app, relay, pass, report } = await begun(t);
  // Three in four people had a mail today.
  app.db.exec(`
    INSERT INTO mailings (id, user_id, owner_kind, owner_id, content, state, created_at) VALUES (999, 1, 'single', 999, '{}', 'done', '');
    INSERT INTO deliveries (mailing_id, address_id, state, updated_at)
      SELECT 999, id, 2, ${app.clock.now().getTime()} FROM addresses WHERE normalized_email GLOB 'p*@d*' AND id % 4 <> 0`);
  await app.one.call('POST', '/sending/caps/save', { form: { caps: ['1/1'] } });
  await pass(RECALL);
  await pass(31 * MINUTE);
  t.match(await report(), {
    status: 3,
    held_code: null,
    states: { accepted: PEOPLE / 4, suppressed: (3 * PEOPLE) / 4 },
  });
  t.equal(relay.started.length, PEOPLE / 4);
});

t.test('a held first part can be cancelled: nobody else gets it', async (t) => {
  const { relay, act, pass, report } = await begunAndRun(t, { answer: atDomains(1, 3) });
  t.equal(await act('cancel'), 200);
  await pass(120 * MINUTE);
  t.ok(relay.started.length <= 300);
  t.match(await report(), { status: 3, states: { cancelled: PEOPLE - relay.started.length } });
});

t.test('what comes back while the rest waits holds it', async (t) => {
  for (const [kind, count, code] of [
    ['bounce', 40, 'too_many_bounces'],
    ['complaint', 5, 'too_many_complaints'],
  ] as const) {
    const sent = await begunAndRun(t);
    report(sent.app, kind, count);
    await sent.pass(31 * MINUTE);
    t.match(await sent.report(), { held_code: code });
    const first = sent.relay.started.length;
    t.ok(first <= 300);
    const { watch } = await sent.report();
    const sum = (key: string) =>
      watch.domains.reduce((total: number, domain: Record<string, number>) => total + (domain[key] ?? 0), 0);
    t.equal(sum(kind === 'bounce' ? 'bounces' : 'complaints'), count, 'and is in the table');
  }
});

t.test('a restart releases no mailing that is held because of its results', async (t) => {
  const { app, relay, pass, report } = await begunAndRun(t, { answer: atDomains(1, 3) });
  const first = relay.started.length;
  app.restartBackground(() => relay);
  await pass(60 * MINUTE);
  t.match(await report(), { held_code: 'too_many_bounces' });
  t.equal(relay.started.length, first);
});

t.test('a first part that servers put off is held after the wait, and resume lets it go', async (t) => {
  let answer = LATER;
  const { act, pass, report, started } = await begunAndRun(t, { answer: () => answer });
  t.match(await report(), { watch: { canary_stage: 'waiting' }, held_code: null });
  for (let minutes = 0; minutes < 31; minutes++) await pass(MINUTE);
  t.match(await report(), { held_code: 'canary_unclear', watch: { domains: { length: DOMAINS } } });
  t.ok(started().size <= 300, 'retries only');
  answer = ACCEPTED;
  t.equal(await act('resume'), 200);
  for (let minutes = 0; minutes < 40; minutes++) await pass(MINUTE);
  t.equal(started().size, PEOPLE);
  t.match(await report(), { status: 3, states: { accepted: PEOPLE } });
});

t.test('whoever of the first part was put off is tried again while the rest waits', async (t) => {
  const tried = new Set<string>();
  const greylisting = (to: string) => {
    if (tried.has(to)) return ACCEPTED;
    tried.add(to);
    return LATER;
  };
  const { pass, report, started } = await begunAndRun(t, { answer: greylisting });
  for (let minutes = 0; minutes < 5; minutes++) await pass(MINUTE);
  const { held_code, states, watch } = await report();
  t.match({ held_code, states }, { held_code: null, states: { accepted: watch.canary_recipients } });
  t.equal(started().size, watch.canary_recipients);
});

t.test('the rest can be sent at once while it waits; a pause keeps the first part the first', async (t) => {
  const send = await begun(t);
  send.app.clock.advance(RECALL);
  while (send.relay.started.length < 50) await send.app.step();
  const pausing = send.act('pause');
  while ((await Promise.race([pausing, send.app.step()])) !== 200);
  t.equal(await send.act('resume'), 200);
  await send.pass(0);
  t.ok(send.started().size <= 300, 'resuming a pause is no release');
  t.match(await send.report(), { watch: { canary_stage: 'waiting' } });
  t.equal(await send.act('resume'), 200);
  await send.pass(0);
  t.equal(send.started().size, PEOPLE);
});

t.test('a send without a canary is held in the middle only if the account wants that', async (t) => {
  const mixed = (to: string) => (Number(/\d+/.exec(to)?.[0]) % 5 === 0 ? UNKNOWN : ACCEPTED);
  const { relay, report, act, pass } = await begunAndRun(t, { answer: mixed, canary: {}, holdsAll: true });
  t.match(await report(), { held_code: 'too_many_bounces', watch: { canary_stage: null } });
  t.ok(relay.started.length >= 200 && relay.started.length <= 300, `${relay.started.length} mails had left`);
  t.match((await report()).watch.domains[0], { domain: 'd0.example' }, 'the list is sorted by domain');
  t.equal(await act('resume'), 200);
  await pass(0);
  t.equal(relay.started.length, PEOPLE);

  for (const [canary, started] of [
    [{}, PEOPLE],
    [{ canary_percent: 1 }, 300],
  ] as const) {
    const send = await begun(t, { answer: mixed, canary });
    await send.pass(RECALL);
    t.ok(started === PEOPLE ? send.relay.started.length === started : send.relay.started.length <= started);
  }
});

t.test('domains after the first 20 000 are counted together', async (t) => {
  const mixed = (to: string) => (Number(/\d+/.exec(to)?.[0]) % 5 === 0 ? UNKNOWN : ACCEPTED);
  const { app, report, pass } = await begunAndRun(t, { answer: mixed, canary: {}, holdsAll: true });
  app.db.exec(`
    WITH RECURSIVE n(at) AS (SELECT 0 UNION ALL SELECT at + 1 FROM n WHERE at < 20009)
      INSERT INTO addresses (user_id, normalized_email) SELECT 1, 'q' || at || '@e' || min(at, 20000) || '.example' FROM n;
    INSERT INTO deliveries (mailing_id, address_id, state, attempt)
      SELECT (SELECT max(mailing_id) FROM deliveries), id, 3, 1 FROM addresses WHERE normalized_email GLOB 'q*@e*' ORDER BY id;
    UPDATE mailings SET bounces = bounces + 20010 WHERE id = (SELECT max(mailing_id) FROM deliveries)`);
  await pass(MINUTE);
  const { domains } = (await report()).watch;
  const named = domains.map(({ domain }: { domain: string }) => domain);
  t.notOk(named.includes('e20000.example'), 'of ten people');
  t.match(domains.at(-1), { domain: '' });
  t.ok(domains.at(-1).bounces >= 20_010);
});

t.test('refusals for another reason than the address hold, too; a small audience gets all of it at once', async (t) => {
  const refused = replyOutcome('body', { code: 552, text: '5.3.4 too large' });
  const { report } = await begunAndRun(t, {
    answer: (to) => (Number(/\d+/.exec(to)?.[0]) % 3 === 0 ? refused : ACCEPTED),
    canary: {},
    holdsAll: true,
  });
  t.match(await report(), { held_code: 'too_many_refusals' });
  const small = await begunAndRun(t, { people: 900, answer: () => ACCEPTED });
  t.equal(small.relay.started.length, 900);
  t.match(await small.report(), { status: 3, watch: { canary_stage: 'released', canary_recipients: 0 } });
});

t.test('after a kill at any moment the first part has the same people, and everybody gets the mail', async (t) => {
  const send = await begun(t, { people: 1500, canary: { canary_percent: 1, canary_minutes: 5 } });
  const { app, relay, started, report, pass } = send;
  app.clock.advance(RECALL);
  for (let kills = 0; (await report()).watch?.canary_stage !== 'waiting'; kills++) {
    if (kills > 500) throw new Error('it does not end');
    await app.step();
    if (kills % 2 === 0) app.restartBackground(() => relay);
    t.ok(started().size <= 300);
  }
  t.equal(started().size, (await report()).watch.canary_recipients);
  const released = () => app.db.prepare("SELECT stage = 'released' FROM watched_mailings").pluck().get() === 1;
  app.clock.advance(5 * MINUTE);
  while (!released()) await app.step();
  app.restartBackground(() => relay);
  await pass(0);
  t.equal(started().size, 1500);
  t.match(await report(), { status: 3, states: { accepted: 1500 } });
});

t.test('the first part of a large list is chosen in pages, each at once after the other', async (t) => {
  const { app } = await begunAndRun(t, { people: 2500 });
  app.db.exec("UPDATE watched_mailings SET stage = 'choosing', chosen = NULL");
  const canaries = new Canaries(app.db, () => app.clock.now().getTime());
  const chosen = app.db.prepare<[], number | null>('SELECT json_array_length(chosen) FROM watched_mailings').pluck();
  t.equal(await canaries.advance(() => false), true, 'there is more to do');
  t.equal(chosen.get(), null);
  t.equal(await canaries.advance(() => false), true);
  t.ok(chosen.get(), 'all of it is chosen');
});

t.test('options of a canary are checked, kept by an update that lacks them, and copied', async (t) => {
  const { app, body } = await readyToSend(t);
  for (const canary of [{ canary_percent: 6 }, { canary_minutes: 4 }, { canary_minutes: 1441 }]) {
    const { status } = await app.one.call('POST', '/single/send/create', { form: { ...body, ...canary } });
    t.equal(status, 422, JSON.stringify(canary));
  }
  const utr = await createSend(app, { ...body, canary_percent: 2, canary_minutes: 60 });
  await app.one.call('POST', '/single/send/update', { form: { ...body, utr } });
  const draft = async (of: string) =>
    (await app.one.call('GET', '/single-send/draft', { query: { utr: of } })).body.message.draft;
  t.match(await draft(utr), { canary_percent: 2, canary_minutes: 60 });
  await app.one.call('POST', '/single/send/save', { form: { utr, canary_percent: 0 } });
  t.match(await draft(utr), { canary_percent: 0, canary_minutes: 60 });
  const copy = await app.one.call('POST', '/single/send/duplicate', { query: { utr } });
  const copied = new URLSearchParams(String(copy.headers.location).split('?')[1]).get('utr') ?? '';
  t.match(await draft(copied), { canary_percent: 0, canary_minutes: 60 });
});
