/** Reasons in the database: their codes and values are shown in any language, and outlast a change of their English. */
import t from 'tap';
import { personTimeline } from '../../src/audience/person/timeline.ts';
import { storeTrackingChoices } from '../../src/audience/store-tracking-choice.ts';
import { findSuppressionReason, suppressAddress } from '../../src/audience/suppressions.ts';
import { reasonKind } from '../../src/database/functions/reply-kind.ts';
import { connect } from '../../src/database/open.ts';
import { auditLog, mailings } from '../../src/database/schema/index.ts';
import { holdForSettings, holdSending, sendingHeldReason } from '../../src/delivery/queue/holds.ts';
import { requeueFailed } from '../../src/delivery/queue/ledger/ended-deliveries.ts';
import { reasonCounter } from '../../src/delivery/queue/ledger/reason-counts.ts';
import { mailingReport } from '../../src/delivery/reporting/mailing-report.ts';
import { findRecipients } from '../../src/delivery/reporting/recipients.ts';
import { type Said, SENTENCES, type SentenceCode, sentence } from '../../src/errors/sentences.ts';
import { readStored, stored } from '../../src/errors/stored.ts';
import { keptFinding, readFinding } from '../../src/installation/health-checks/finding.ts';
import { Language } from '../../src/ui/words/index.ts';
import { lastFailure } from '../../src/webhooks/log.ts';
import { startApp, type TestApp } from '../support/app.ts';

/** A language whose words are the codes, with the values in brackets. */
const THIRD = new Language('en', 'en', 'UTC', {
  texts: {},
  fields: {},
  sentences: Object.fromEntries(
    Object.entries(SENTENCES).map(([code, text]) => [
      code,
      `${code}<${[...(text.match(/\{\w+\}/g) ?? [])].join('|')}>`,
    ]),
  ),
});

const bounced = sentence('returned', { cause: sentence('cause_full'), reply: '552 5.2.2 over quota' });
const gaveUp = sentence('given_up', { reply: '451 4.3.0 later' });
/** By state of the ledger. */
const REPLIES: [state: number, said: Said][] = [
  [2, '250 2.0.0 OK'],
  [2, sentence('kept_in_outbox')],
  [3, bounced],
  [4, gaveUp],
  [4, '550 5.7.1 no'],
  [5, sentence('over_cap', { mails: 3, days: 7 })],
  [5, sentence('unsubscribed_all')],
];

/** A mailing whose recipients have these replies, as the ledger would have stored and counted them. */
function fill({ db }: TestApp): void {
  db.exec(`INSERT INTO mailings (id, user_id, owner_kind, owner_id, content, state, delivered, failed, created_at)
    VALUES (1, 1, 'single', 1, '{}', 'sending', 2, 2, '2026-01-01')`);
  const count = reasonCounter(db);
  REPLIES.forEach(([state, said], at) => {
    const reply = stored(said);
    db.prepare('INSERT INTO addresses (id, user_id, normalized_email) VALUES (?, 1, ?)').run(
      at + 1,
      `p${at}@example.org`,
    );
    db.prepare(
      'INSERT INTO deliveries (id, mailing_id, address_id, state, attempt, reply) VALUES (?, 1, ?, ?, 1, ?)',
    ).run(at + 1, at + 1, state, reply);
    count([{ mailing_id: 1, state, reply, by: 1 }]);
  });
}

function recipients({ db }: TestApp, filter: Parameters<typeof findRecipients>[2] = {}) {
  return findRecipients(db, { id: 1, accountId: 1 }, filter, '', 100).recipients;
}

t.test(
  'a reason of each kind that is stored is shown in a third language, for which only words are added',
  async (t) => {
    const app = await startApp(t);
    const client = app.db;
    const db = connect(client.name);
    t.teardown(() => db.$client.close());
    const shown = (said: Said | null | undefined) => THIRD.sentence(said ?? '');
    fill(app);
    t.strictSame(
      recipients(app).map(({ reply }) => shown(reply)),
      [
        '250 2.0.0 OK',
        'kept_in_outbox<>',
        'returned<cause_full<>|552 5.2.2 over quota>',
        'given_up<451 4.3.0 later>',
        '550 5.7.1 no',
        'over_cap<3|7>',
        'unsubscribed_all<>',
      ],
      'what became of recipients',
    );
    t.strictSame(
      mailingReport(client, 1)
        .reasons.map(({ reason }) => shown(reason))
        .sort(),
      [
        '550 5.7.1 no',
        'given_up<451 4.3.0 later>',
        'over_cap<3|7>',
        'returned<cause_full<>|552 5.2.2 over quota>',
        'unsubscribed_all<>',
      ],
      'the reasons of a report',
    );
    const held_reason = sentence('held_mail', {
      subject: '2026',
      problem: sentence('content_broken', { problem: 'no' }),
    });
    db.update(mailings).set({ held_reason }).run();
    t.equal(shown(db.select().from(mailings).get()?.held_reason), 'held_mail<2026|content_broken<no>>');
    t.equal(client.prepare('SELECT held_reason FROM mailings').pluck().get(), stored(held_reason));
    holdSending(client, sentence('held_restored'));
    holdForSettings(client, sentence('held_settings'), 0);
    t.equal(shown(sendingHeldReason(client)), 'held_and<held_restored<>|held_settings<>>', 'two holds of all sending');
    suppressAddress(client, {
      user_id: 1,
      address_id: 3,
      kind: 'bounce',
      diagnostic: bounced,
      created_at: '2026-01-01',
    });
    t.equal(
      shown(findSuppressionReason(client, 1, 3)),
      'suppression_bounce<returned<cause_full<>|552 5.2.2 over quota>>',
    );
    const text = sentence('tracking_imported', { name: 'people.csv' });
    storeTrackingChoices(client, { accountId: 1, text, now: '2026-01-02T00:00:00.000000Z' }, [
      { address: 3, choice: 1 },
    ]);
    client
      .prepare(`
      INSERT INTO consent_log (user_id, address_id, action, source, consent_text, asked_at, asked_from, confirmed_from, created_at)
      VALUES (1, 3, 'subscribed', 'form', ':left_target', '2026-01-03T10:20:30.000000Z', '192.0.2.1', '192.0.2.2', '2026-01-03T00:00:00.000000Z')`)
      .run();
    const moments = await personTimeline(client, 1, 3, { limit: 10 });
    t.strictSame(
      moments.map(({ reason }) => shown(reason)).filter((reason) => /^(?:form_consent|tracking)/.test(reason)),
      ['form_consent<:left_target|2026-01-03 10:20|192.0.2.1|192.0.2.2>', 'tracking_imported<people.csv>'],
      'the timeline, in which what people agreed to is as it was shown',
    );
    client.exec(`INSERT INTO webhook_log (endpoint_id, event_id, type, attempt, is_success, status, reply, took_ms, at)
    VALUES (1, 1, 'x', 1, 0, 302, '${stored(sentence('webhook_redirect'))}', 1, 1)`);
    t.equal(shown(lastFailure(client, 1)), 'webhook_answer<302|webhook_redirect<>>');
    db.insert(auditLog)
      .values({
        account_id: 1,
        action: 'x',
        actor: sentence('actor_command_line'),
        subject: sentence('subject_codes_left', { count: 7 }),
        created_at: '',
      })
      .run();
    const { actor, subject } = db.select().from(auditLog).all().at(-1) ?? {};
    t.strictSame([shown(actor), shown(subject)], ['actor_command_line<>', 'subject_codes_left<7>']);
    const finding = {
      name: 'SPF',
      state: 'warn',
      found: sentence('spf_many', { count: 3 }),
      advice: [sentence('spf_many_cure')],
    } as const;
    const kept = readFinding(JSON.parse(JSON.stringify(keptFinding({ ...finding, advice: [...finding.advice] }))));
    t.strictSame(
      [kept.found, ...(kept.advice ?? [])].map(shown),
      ['spf_many<3>', 'spf_many_cure<>'],
      'findings as JSON',
    );
  },
);

t.test(
  'a changed English sentence changes nothing about stored rows: counts, reports, filters and retries go on',
  async (t) => {
    const app = await startApp(t);
    fill(app);
    const codes = [
      'kept_in_outbox',
      'returned',
      'cause_full',
      'given_up',
      'over_cap',
      'unsubscribed_all',
      'other_replies',
    ] as const;
    const before = codes.map((code): [SentenceCode, string] => [code, SENTENCES[code]]);
    t.teardown(() => {
      for (const [code, text] of before) Reflect.set(SENTENCES, code, text);
    });
    for (const [code, text] of before) Reflect.set(SENTENCES, code, `Other words ${text.replace('Given up', 'Ended')}`);
    t.match(String(sentence('given_up', { reply: 'x' })), /^Other words Ended/);

    const report = mailingReport(app.db, 1);
    t.match(report.states, { accepted: 1, kept: 1 });
    t.match(report.funnel, { kept: 1 });
    t.equal(recipients(app, { state: 'kept' }).length, 1);
    t.strictSame(
      report.reasons.map(({ reason }) => recipients(app, { reason: stored(reason) }).length),
      [1, 1, 1, 1, 1],
      'each reason of the report finds its recipient, as the pages ask',
    );
    t.strictSame(
      report.reasons.map(({ reason }) => recipients(app, { reason: String(reason) }).length),
      [1, 1, 1, 1, 1],
      'and as the API tells it',
    );
    t.equal(requeueFailed(app.db, 1, 10), 2);
    const counts =
      'SELECT state, reply_kind(reply), count(*) FROM deliveries WHERE state <> 2 GROUP BY 1, 2 ORDER BY 1, 2';
    t.strictSame(
      app.db.prepare('SELECT state, reason, count FROM delivery_reasons WHERE state <> 2 ORDER BY 1, 2').raw().all(),
      app.db.prepare(counts).raw().all(),
      'who is tried again is counted there',
    );
    const german = new Language('de', 'de-DE');
    t.equal(german.sentence(readStored(stored(gaveUp))), 'Nach 4 Tagen aufgegeben: 451 4.3.0 later');
  },
);

t.test('a reason of a later release stays as it is, is found, and is counted where it was', async (t) => {
  const app = await startApp(t);
  fill(app);
  const later = ':of_later{"reply":"550 5.7.1 12345678"}';
  app.db.exec(`UPDATE deliveries SET reply = '${later}' WHERE id = 5;
    UPDATE delivery_reasons SET reason = '${later}' WHERE reason = '550 5.7.1 no'`);
  const { reasons } = mailingReport(app.db, 1);
  const found = reasons.find(({ reason }) => String(reason) === later);
  t.equal(found?.count, 1);
  t.equal(recipients(app, { reason: stored(found?.reason ?? '') }).length, 1, 'as the pages ask');
  t.equal(recipients(app, { reason: later }).length, 1, 'as the API tells it');
  t.equal(requeueFailed(app.db, 1, 10), 2);
  const counted = app.db.prepare('SELECT state, count FROM delivery_reasons WHERE reason = ?').raw().all(later);
  t.strictSame(counted, [[0, 1]], 'the recipient waits, with what was said last');
});

t.test('what others wrote is stored well-formed, within a sentence too, so that it is found by what is shown', (t) => {
  for (const said of ['550 \ud83d', sentence('given_up', { reply: '550 \ud83d' })]) {
    const text = stored(said);
    t.ok(String(readStored(text)).isWellFormed(), text);
    t.match(text, /550 \ufffd/);
  }
  t.end();
});

t.test('the page of a report leads to the recipients of every reason, whatever characters are in it', async (t) => {
  const { one } = await startApp(t);
  const reply = '"\\'.repeat(100);
  const reason = reasonKind(stored(sentence('returned', { cause: sentence('cause_policy_for_now'), reply })));
  const found = await one.call('GET', '/single-send/recipients/find', { query: { utr: 'none', reason } });
  t.equal(found.status, 404, 'the campaign is missing, not the reason too long');
});

t.test('a page of recipients of a reason is searched among few rows, as each reason is read', async (t) => {
  const app = await startApp(t);
  app.db.exec(`INSERT INTO mailings (id, user_id, owner_kind, owner_id, content, state, created_at)
      VALUES (1, 1, 'single', 1, '{}', 'sending', '2026-01-01');
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 700)
    INSERT INTO addresses (id, user_id, normalized_email) SELECT i, 1, 'p' || i || '@example.org' FROM n;
    INSERT INTO deliveries (id, mailing_id, address_id, state, attempt, reply) SELECT id, 1, id, 4, 1, '550 no' FROM addresses`);
  const page = (filter: Parameters<typeof findRecipients>[2], after = '') =>
    findRecipients(app.db, { id: 1, accountId: 1 }, filter, after, 1000);
  t.equal(page({}).next, null);
  const { recipients: none, next } = page({ reason: 'x' });
  t.strictSame([none.length, next], [0, '500']);
  t.equal(page({ reason: '550 no' }, next ?? '').recipients.length, 200);
});
