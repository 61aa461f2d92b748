/** What an upgrade keeps: the rows of every table, the work that was under way, and why something is held. */
import type { Database } from 'better-sqlite3';
import t from 'tap';
import { mailingCounters } from '../../fixtures/mailing-counters.ts';
import { ruleCondition } from '../../src/audience/segments/rule-sql.ts';
import { connect } from '../../src/database/open.ts';
import { DELIVERY_STATE, segments } from '../../src/database/schema/index.ts';
import { migrateAndSeed } from '../../src/database/upgrade.ts';
import { enqueueRecipients, mailingsToEnqueue } from '../../src/delivery/queue/enqueue-recipients.ts';
import { mailWaitsReason, sendingHeldReason } from '../../src/delivery/queue/holds.ts';
import { SENTENCES } from '../../src/errors/sentences.ts';
import { findDoctorFindings } from '../../src/installation/health-checks/doctor-findings.ts';
import { findPublicUrlResult } from '../../src/installation/health-checks/public-url.ts';
import { oldDatabase, releases } from '../support/releases.ts';

/** The migrations of version 0.1.0. */
const FIRST_RELEASE = 2;
/** Columns of the first release with other names today. */
const RENAMED: Record<string, string> = {
  compared_email: 'normalized_email',
  seen_state: 'acknowledged_state',
  layout: 'enqueue_progress',
  is_machine: 'made_by',
  'enrolments.schedule_id': 'position',
};
/** Beyond what the seed uses; the same for keys and references, so that the references hold. */
const NUMBER = 777_001;

t.test('an upgrade from the first release keeps every row of every table', async (t) => {
  const path = oldDatabase(t, FIRST_RELEASE);
  const { $client } = connect(path);
  // Joins and leaves that wait to be taken in are work, not records; their own test is the next.
  const tables = tablesOf($client).filter((table) => table !== 'membership_changes');
  $client.pragma('foreign_keys = OFF');
  for (const table of tables) insertRow($client, table);
  const before = new Map(tables.map((table) => [table, rowsOf($client, table)]));
  $client.close();

  const db = connect(path);
  migrateAndSeed(db);
  for (const [table, rows] of before) {
    t.ok(rows.length > 0, `${table} has a row`);
    const after = rowsOf(db.$client, table);
    for (const row of rows.map((found) => renameColumns(table, found)))
      t.ok(
        after.some((found) => isSubset(row, found)),
        `${table} keeps it`,
      );
  }
  db.$client.close();
});

t.test('a key pair of a release without scopes may do everything after the upgrade', async (t) => {
  const path = oldDatabase(t, FIRST_RELEASE);
  const { $client } = connect(path);
  insertRow($client, 'api_keys', { user_id: 7 });
  $client.close();
  const db = connect(path);
  migrateAndSeed(db);
  t.strictSame(db.$client.prepare('SELECT name, scopes, last_used_at FROM api_keys').all(), [
    { name: '', scopes: '["everything"]', last_used_at: null },
  ]);
  db.$client.close();
});

t.test(
  'a mailing whose recipients the first release was enqueueing is enqueued further after the upgrade',
  async (t) => {
    const path = oldDatabase(t, FIRST_RELEASE);
    const { $client } = connect(path);
    $client.pragma('foreign_keys = OFF');
    const progress = JSON.stringify({ targets: [{ id: '5', table: 'contacts' }], excluded: [], target: 0, after: 11 });
    $client.exec(`
    INSERT INTO addresses (id, user_id, compared_email) VALUES (11, 7, 'a@example.com'), (12, 7, 'b@example.com');
    INSERT INTO contact_types (id, user_id, name, created_at, updated_at) VALUES (5, 7, 'T', '', '');
    INSERT INTO contacts (user_id, contact_type_id, address_id, email, created_at, updated_at)
      VALUES (7, 5, 11, 'a@example.com', '', ''), (7, 5, 12, 'b@example.com', '', '');
    INSERT INTO mailings (id, user_id, owner_kind, owner_id, content, state, seen_state, layout, created_at)
      VALUES (1, 7, 'single', 1, '{}', 'layout', 'layout', '${progress}', '');
    INSERT INTO deliveries (mailing_id, address_id) VALUES (1, 11)`);
    $client.close();

    const db = connect(path);
    migrateAndSeed(db);
    const { id, state } = mailingsToEnqueue(db.$client)[0] ?? {};
    t.strictSame([id, state], [1, 'enqueueing']);
    await enqueueRecipients(db.$client, 1);
    t.strictSame(db.$client.prepare('SELECT state, acknowledged_state, enqueue_progress FROM mailings').raw().all(), [
      ['sending', 'enqueueing', null],
    ]);
    t.strictSame(db.$client.prepare('SELECT address_id FROM deliveries ORDER BY 1').pluck().all(), [11, 12]);
    db.$client.close();
  },
);

t.test(
  'an upgrade from the first release keeps the joins and leaves that automations are still to take in',
  async (t) => {
    const path = oldDatabase(t, FIRST_RELEASE);
    const { $client } = connect(path);
    const now = Date.UTC(2026, 0, 2);
    $client.pragma('foreign_keys = OFF');
    const automation = $client.prepare(`
    INSERT INTO automations (id, utr, user_id, automation_name, unsubscribe_group_id, automation_type, automation_for_table, automation_for, status, exit_criteria, live_at, created_at, updated_at)
    VALUES (?, ?, 7, 'A', '1', 1, 'contacts', ?, ?, ?, '2026-01-01 00:00:00', '', '')`);
    automation.run(1, 'live', 5, 1, 0);
    automation.run(2, 'paused', 5, 2, 1);
    automation.run(3, 'elsewhere', 6, 1, 1);
    const change = $client.prepare(`
    INSERT INTO membership_changes (user_id, target_table, target_id, address_id, contact_id, change, happened_at)
    VALUES (7, 'contacts', 5, ?, NULL, ?, ?)`);
    $client.exec(
      "INSERT INTO addresses (id, user_id, compared_email) VALUES (11, 7, 'a@example.com'), (12, 7, 'b@example.com')",
    );
    change.run(11, 'joined', now);
    change.run(12, 'left', now);
    $client.close();

    const db = connect(path);
    migrateAndSeed(db);
    t.strictSame(
      db.$client.prepare('SELECT automation_id, address_id, change FROM membership_changes ORDER BY id').raw().all(),
      [
        [1, 11, 'joined'],
        [2, 12, 'left'],
      ],
    );
    db.$client.close();
  },
);

t.test(
  'people whose mail of an automation is queued at the upgrade wait for it, and a deleted mail is cancelled',
  async (t) => {
    const path = oldDatabase(
      t,
      releases.findIndex(({ tag }) => tag.endsWith('_series')),
    );
    const { $client } = connect(path);
    $client.pragma('foreign_keys = OFF');
    $client.exec(`
    INSERT INTO addresses (id, user_id, compared_email) VALUES (11, 7, 'a@example.com'), (12, 7, 'b@example.com');
    INSERT INTO automations (id, utr, user_id, automation_name, unsubscribe_group_id, automation_type, created_at, updated_at)
      VALUES (1, 'one', 7, 'A', '1', 1, '', '');
    INSERT INTO automation_schedules (id, user_id, automation_id, sender_id, subject, waiting_period, waiting_type, utr, template_id,
      preview_img, created_at, updated_at) VALUES (5, 7, 1, 3, 's', 1, 'days', 's5', 1, '', '', '');
    INSERT INTO mailings (id, user_id, owner_kind, owner_id, automation_id, content, state, created_at)
      VALUES (1, 7, 'schedule', 4, 1, '{}', 'paused', ''), (2, 7, 'schedule', 5, 1, '{}', 'sending', '');
    INSERT INTO deliveries (id, mailing_id, address_id, state) VALUES (21, 2, 11, 0), (22, 2, 12, 2);
    INSERT INTO enrolments (id, automation_id, address_id, state, entered_at, schedule_id, waiting_since, due_at)
      VALUES (31, 1, 11, 'finished', 1, 5, 2, 3), (32, 1, 12, 'active', 1, 5, 2, 3);
    INSERT INTO steps (enrolment_id, schedule_id, delivery_id, taken_at)
      VALUES (31, 4, NULL, 1), (31, 5, 21, 2), (32, 4, NULL, 1), (32, 5, 22, 2)`);
    $client.close();
    const db = connect(path);
    migrateAndSeed(db);
    t.strictSame(db.$client.prepare('SELECT state, position, delivery_id FROM enrolments ORDER BY id').raw().all(), [
      ['active', 4, 21],
      ['active', 5, null],
    ]);
    t.strictSame(db.$client.prepare('SELECT state, sender_id FROM mailings ORDER BY id').raw().all(), [
      ['cancelled', null],
      ['sending', 3],
    ]);
    t.strictSame(
      db.$client
        .prepare('SELECT automation_id, state, reason, position, is_queued, people FROM enrolment_counts')
        .raw()
        .all(),
      [
        [1, 'active', '', 4, 1, 1],
        [1, 'active', '', 5, 0, 1],
      ],
      'they are counted',
    );
    db.$client.close();
  },
);

t.test('an upgrade gives what is held the code of its sentence', async (t) => {
  const path = oldDatabase(
    t,
    releases.findIndex(({ tag }) => tag.endsWith('_held_codes')),
  );
  const { $client } = connect(path);
  $client.pragma('foreign_keys = OFF');
  const held = {
    single_sends: [
      ['The sender is not verified yet', 'sender_unverified'],
      ['A segment it names was deleted', 'target_missing'],
      ['A copy: update it to queue it', 'copy'],
      ['A rule of the segment "S" names the custom field F, which was deleted', 'segment_broken'],
      [
        'Missed its time by 90 minutes: sending was held',
        'missed_time',
        'The scheduled time was missed by 90 minutes: sending was held',
      ],
      ['Its content does not compile: it is too long', 'content_invalid', 'The content has an error: it is too long'],
    ],
    automations: [
      ['A sender of its mails was deleted', 'sender_deleted', 'The sender of an e-mail of the automation was deleted'],
      ["Its segment's contact type was deleted", 'target_missing'],
      ['The mail "M" can not go: its sender is not verified yet', 'sender_unverified'],
      ['The mail "M" can not go: Its content does not compile', 'content_invalid'],
    ],
    mailings: [
      ['The sender is not verified yet', 'sender_unverified'],
      ['The relay refuses mail: 535 no', 'relay_refused', 'The SMTP server refuses mail: 535 no'],
      ['The mailing could not be prepared: its sender has no valid address', 'internal_error'],
    ],
  };
  for (const [table, rows] of Object.entries(held)) {
    rows.forEach(([reason], at) => {
      insertRow($client, table, { id: at + 1, utr: `u${at}`, owner_id: at, revision: at, held_reason: reason });
    });
  }
  $client.close();
  const db = connect(path);
  migrateAndSeed(db);
  for (const [table, rows] of Object.entries(held))
    t.strictSame(
      db.$client.prepare(`SELECT english(held_reason), held_code FROM ${table} ORDER BY id`).raw().all(),
      rows.map(([reason, code, shown = reason]) => [shown, code]),
      table,
    );
  db.$client.close();
});

t.test(
  'an upgrade stores reasons as codes with values, keeps what it does not know as text, and counts them as before',
  async (t) => {
    const path = oldDatabase(
      t,
      releases.findIndex(({ tag }) => tag.endsWith('_reasons')),
    );
    const { $client } = connect(path);
    $client.pragma('foreign_keys = OFF');
    const English = SENTENCES;
    const FOLLOWS = '451 4.3.0 Try <ann@example.org> later';
    /** What earlier releases stored, what it becomes, and its English now where the words have changed. */
    const MAIL: [before: string | null, after: string | null, now?: string][] = [
      [null, null],
      ['550 5.1.1 No such user', '550 5.1.1 No such user'],
      [English.kept_in_outbox, ':kept_in_outbox'],
      [English.unsubscribed_group, ':unsubscribed_group'],
      [English.inactive, ':inactive'],
      ['The mail could not be built', ':not_built', English.not_built],
      [English.cause_full, ':cause_full'],
      [
        'The receiving server refuses the mail by policy: reputation, authentication or content.: 554 no',
        ':returned{"cause":":cause_policy","reply":"554 no"}',
        `${English.cause_policy}: 554 no`,
      ],
      [`Given up after 4 days: ${FOLLOWS}`, `:given_up{"reply":"${FOLLOWS}"}`],
      [
        'already had the most mails allowed in a 7-day period: 12',
        ':over_cap{"days":7,"mails":12}',
        'frequency cap reached: 12 e-mails in 7 days',
      ],
      [
        'With the values of this person the mail is larger than 2 MiB',
        ':merged_too_large{"size":2}',
        'With the values of this contact the e-mail is larger than 2 MB',
      ],
      ['Complaint: abuse', ':complaint{"kind":"abuse"}'],
      ['smtp; 550 what nobody knows', 'smtp; 550 what nobody knows'],
      [':left_target', '::left_target'],
    ];
    MAIL.forEach(([reply], at) => {
      const state = reply === English.kept_in_outbox ? DELIVERY_STATE.accepted : DELIVERY_STATE.failed;
      insertRow($client, 'deliveries', { id: at + 1, mailing_id: 1, address_id: at + 1, state, reply });
      insertRow($client, 'transactional_mails', {
        id: at + 1,
        utr: `t${at}`,
        state,
        reply,
        content: null,
        idempotency_key: null,
      });
      insertRow($client, 'suppressions', { id: at + 1, address_id: at + 1, kind: 'bounce', diagnostic: reply ?? '' });
    });
    $client.exec(`INSERT INTO delivery_reasons (mailing_id, state, reason, count)
    SELECT mailing_id, state, reply_kind(substr(reply, 1, 200)), 1 FROM deliveries WHERE reply IS NOT NULL AND state = ${DELIVERY_STATE.failed}`);
    const HELD: [before: string, after: string][] = [
      [English.held_copy, ':held_copy'],
      ['Missed its time by 90 minutes: sending was held', ':held_missed_time{"cause":":missed_held","minutes":90}'],
      [
        'The mail "2026" cannot be sent: Its content does not compile: no',
        ':held_mail{"problem":":content_broken{\\"problem\\":\\"no\\"}","subject":"2026"}',
      ],
      [
        'A rule of the segment "S" does not suit the custom field F, which is of type text now',
        ':held_rule_field_changed{"field":"F","segment":"S","type":"text"}',
      ],
      [
        'The relay refuses this sender or server, not the recipients (3 recipients in a row, now back in the queue): 554 no',
        ':held_by_refusals{"count":3,"reply":"554 no"}',
      ],
      ['Held in the words of another time', 'Held in the words of another time'],
    ];
    HELD.forEach(([held_reason], at) => {
      for (const table of ['single_sends', 'automations', 'mailings', 'feeds'])
        insertRow($client, table, {
          id: at + 1,
          utr: `u${at}`,
          owner_id: at,
          revision: at,
          held_reason,
          failure: 'It answered with the status 503.',
        });
    });
    insertRow($client, 'enrolments', {
      id: 1,
      address_id: 1,
      state: 'left',
      reason: English.left_target,
      delivery_id: null,
    });
    insertRow($client, 'webhook_log', { reply: 'It redirects elsewhere, which is not followed.' });
    insertRow($client, 'webhook_log', { id: 2, reply: 'no' });
    insertRow($client, 'consent_log', {
      id: 1,
      source: 'import',
      consent_text: 'As the file people.csv says, which was imported',
    });
    insertRow($client, 'consent_log', { id: 2, source: 'form', consent_text: English.tracking_import_undone });
    insertRow($client, 'contact_imports', {
      notes: JSON.stringify([English.file_windows, 'Column not known: age', 'Other']),
      errors: JSON.stringify([{ line: 2, field: 'email', text: 'The email must be a valid email address.' }]),
    });
    insertRow($client, 'audit_log', {
      id: 1,
      actor: 'command line',
      action: 'login_link_made',
      subject: 'first owner',
    });
    insertRow($client, 'audit_log', { id: 2, actor: 'a@example.org', action: 'recovery_code_used', subject: '7 left' });
    insertRow($client, 'audit_log', {
      id: 3,
      actor: 'a@example.org',
      action: 'template_removed',
      subject: 'first owner',
    });
    const named = $client.prepare('INSERT INTO installation (name, value) VALUES (?, ?)');
    named.run('sending_held', English.held_restored);
    named.run(
      'sending_held_by_clock',
      'The clock is 30 days past when the service last ran: nothing is sent before a release, or before the clock is set right',
    );
    named.run(
      'mail_waits',
      'The service cannot reach NATS, so mail waits. Look whether nats-server runs at NATS_URL and lets the service in.',
    );
    const finding = {
      name: 'SPF',
      state: 'warn',
      found: '3 records, so none counts',
      advice: ['Join them into one.', 'x'],
    };
    named.run(
      'doctor_findings',
      JSON.stringify({ at: 1, relays: [], domains: [{ domain: 'no record', findings: [finding] }] }),
    );
    named.run(
      'public_address_seen',
      JSON.stringify({ url: '', at: 1, finding: { ...finding, found: 'https://a.example leads here' } }),
    );
    $client.close();

    const db = connect(path);
    migrateAndSeed(db);
    const read = (text: string) => db.$client.prepare(text).pluck().all();
    t.strictSame(
      read('SELECT reply FROM deliveries ORDER BY id'),
      MAIL.map(([, after]) => after),
    );
    t.strictSame(
      read('SELECT reply FROM transactional_mails ORDER BY id'),
      MAIL.map(([, after]) => after),
    );
    t.strictSame(
      read('SELECT diagnostic FROM suppressions ORDER BY id'),
      MAIL.map(([, after]) => after ?? ''),
    );
    t.strictSame(
      read('SELECT english(reply) FROM deliveries ORDER BY id'),
      MAIL.map(([before, , now]) => now ?? before),
      'the API says the same in the words of now',
    );
    for (const { name, kept, right } of mailingCounters(db.$client).filter(({ name }) => name.includes('reasons')))
      t.strictSame(kept, right, name);
    for (const table of ['single_sends', 'automations', 'mailings', 'feeds'])
      t.strictSame(
        read(`SELECT held_reason FROM ${table} ORDER BY id`),
        HELD.map(([, after]) => after),
        table,
      );
    t.strictSame(read('SELECT DISTINCT failure FROM feeds'), [':feed_status{"status":503}']);
    t.strictSame(read('SELECT reason FROM enrolments UNION ALL SELECT reason FROM enrolment_counts'), [
      ':left_target',
      ':left_target',
    ]);
    t.strictSame(read('SELECT reply FROM webhook_log ORDER BY reply'), [':webhook_redirect', 'no']);
    t.strictSame(
      read('SELECT consent_text FROM consent_log ORDER BY id'),
      [':tracking_imported{"name":"people.csv"}', English.tracking_import_undone],
      'what people agreed to is evidence',
    );
    t.strictSame(read('SELECT notes FROM contact_imports'), [
      JSON.stringify([':file_windows', ':column_unknown{"name":"age"}', 'Other']),
    ]);
    t.strictSame(read('SELECT errors FROM contact_imports'), [
      JSON.stringify([{ line: 2, field: 'email', text: ':field_email{"field":"email"}' }]),
    ]);
    t.strictSame(read("SELECT actor || ' ' || subject FROM audit_log ORDER BY id"), [
      ':actor_command_line :subject_first_owner',
      'a@example.org :subject_codes_left{"count":7}',
      'a@example.org first owner',
    ]);
    t.equal(
      String(sendingHeldReason(db.$client)),
      `${English.held_restored}; The clock of this machine is 30 days ahead of when the service last ran: nothing is sent until you resume sending or set the clock right`,
    );
    t.match(mailWaitsReason(db.$client), { code: 'waits_nats' });
    t.match(findDoctorFindings(db.$client), {
      domains: [
        { domain: 'no record', findings: [{ found: ':spf_many{"count":3}', advice: [':spf_many_cure', 'x'] }] },
      ],
    });
    t.match(findPublicUrlResult(db.$client, '')?.finding, {
      found: { code: 'address_leads_here', values: { url: 'https://a.example' } },
    });
    db.$client.close();
  },
);

t.test('an upgrade counts nobody twice of a mailing with more reasons than are counted by name', (t) => {
  const path = oldDatabase(
    t,
    releases.findIndex(({ tag }) => tag.endsWith('_reasons')),
  );
  const { $client } = connect(path);
  $client.pragma('foreign_keys = OFF');
  const replies = ['Given up after 4 days: 451 a', 'Given up after 4 days: 451 b', '550 c', '550 d'];
  replies.forEach((reply, at) => {
    insertRow($client, 'deliveries', {
      id: at + 1,
      mailing_id: 1,
      address_id: at + 1,
      state: DELIVERY_STATE.failed,
      reply,
    });
  });
  // The first and the third came when there was room for their names.
  const count = $client.prepare('INSERT INTO delivery_reasons (mailing_id, state, reason, count) VALUES (1, ?, ?, ?)');
  count.run(DELIVERY_STATE.failed, replies[0], 1);
  count.run(DELIVERY_STATE.failed, replies[2], 1);
  count.run(DELIVERY_STATE.failed, SENTENCES.other_replies, 2);
  $client.close();

  const db = connect(path);
  migrateAndSeed(db);
  t.strictSame(db.$client.prepare('SELECT reason, count FROM delivery_reasons ORDER BY reason').raw().all(), [
    ['550 c', 1],
    [':given_up{"reply":"451 a"}', 1],
    [':given_up{"reply":"451 b"}', 1],
    [':other_replies', 1],
  ]);
  db.$client.close();
  t.end();
});

t.test('an upgrade counts what happened to earlier mailings', async (t) => {
  const path = oldDatabase(
    t,
    releases.findIndex(({ tag }) => tag.endsWith('_mailing_counters')),
  );
  const { $client } = connect(path);
  $client.pragma('foreign_keys = OFF');
  const HOUR = 3_600_000;
  const deliver = $client.prepare('INSERT INTO deliveries (mailing_id, address_id, state, reply) VALUES (?, ?, ?, ?)');
  const happen = $client.prepare(
    'INSERT INTO events (mailing_id, delivery_id, kind, link_number, is_machine, happened_at) VALUES (?, ?, ?, ?, ?, ?)',
  );
  for (let person = 1; person <= 30; person++) {
    deliver.run(1, person, person % 7, person % 7 < 2 ? null : `550 5.1.1 <p${person}@example.org> unknown`);
    deliver.run(2, person, 0, person === 9 ? '451 later' : null);
    happen.run(
      1,
      person,
      person % 2 === 0 ? 'open' : 'click',
      person % 2 === 0 ? null : person % 3,
      Number(person % 4 === 0),
      5 * HOUR + person * 600_000,
    );
    happen.run(2, person, ['bounce', 'unsubscribe', 'complaint'][person % 3], null, 0, 9 * HOUR);
  }
  for (const number of [0, 1, 2, 3])
    $client.prepare('INSERT INTO links (mailing_id, number, url) VALUES (1, ?, ?)').run(number, '/');
  $client.close();
  const db = connect(path);
  migrateAndSeed(db);
  const counters = mailingCounters(db.$client).filter(({ name }) => !/ (states|readers|devices)$/.test(name));
  t.equal(counters.length, 3);
  for (const { name, kept, right } of counters) {
    t.ok(kept.length > 1, name);
    t.strictSame(kept, right, name);
  }
  db.$client.close();
});

t.test(
  'an upgrade finds the form of earlier subscriptions, by the request or by a name that only one form has',
  (t) => {
    const path = oldDatabase(
      t,
      releases.findIndex(({ tag }) => tag.endsWith('_times_of_automations')),
    );
    const { $client } = connect(path);
    $client.pragma('foreign_keys = OFF');
    const asked = '2026-01-15T09:00:00.123Z';
    for (const [id, name] of ['Footer', 'Footer', 'Header'].entries())
      insertRow($client, 'forms', { id: id + 1, user_id: 1, name, created_at: asked });
    insertRow($client, 'forms', { id: 4, user_id: 1, name: 'Later', created_at: '2026-01-16T09:00:00.000Z' });
    const request = { form_id: 2, address_id: 1, state: 'confirmed', asked_at: Date.parse(asked) };
    insertRow($client, 'form_requests', request);
    const given = { user_id: 1, address_id: 1, action: 'subscribed', source: 'form', created_at: asked };
    for (const [id, more] of [
      { form_name: 'https://shop.example', asked_at: asked },
      { form_name: 'Footer', asked_at: null },
      { form_name: 'Header', asked_at: null },
      { form_name: 'Header', asked_at: null, action: 'tracking_allowed' },
      // The form of this name was made after the consent.
      { form_name: 'Later', asked_at: null },
    ].entries())
      insertRow($client, 'consent_log', { ...given, id: id + 1, ...more });
    $client.close();
    const db = connect(path);
    migrateAndSeed(db);
    t.strictSame(db.$client.prepare('SELECT form_id FROM consent_log ORDER BY id').pluck().all(), [
      2,
      null,
      3,
      null,
      null,
    ]);
    db.$client.close();
    t.end();
  },
);

t.test('an upgrade removes the files of drafts that were deleted without them', async (t) => {
  const path = oldDatabase(
    t,
    releases.findIndex(({ tag }) => tag.endsWith('_sent_transactional_mails')),
  );
  const { $client } = connect(path);
  $client.pragma('foreign_keys = OFF');
  for (const [id, of] of [
    { single_send_id: null, mailing_id: null },
    { single_send_id: null, mailing_id: 1 },
    { single_send_id: 1, mailing_id: null },
  ].entries())
    insertRow($client, 'single_send_attachments', { id: id + 1, ...of });
  $client.close();
  const db = connect(path);
  migrateAndSeed(db);
  t.strictSame(db.$client.prepare('SELECT id FROM single_send_attachments').pluck().all(), [2, 3]);
  db.$client.close();
});

function tablesOf(client: Database): string[] {
  return client
    .prepare<[], string>(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE '__drizzle%'",
    )
    .pluck()
    .all();
}

t.test('rules about why a mail did not arrive have codes after an upgrade, and find the same contacts', (t) => {
  const path = oldDatabase(
    t,
    releases.findIndex(({ tag }) => tag.endsWith('_reasons_of_rules')),
  );
  const { $client } = connect(path);
  $client.pragma('foreign_keys = OFF');
  /** The reason as earlier releases stored it in a rule, and its form after the upgrade, which is also that of the contact's reply. */
  const REASONS: [before: string, after: string][] = [
    ['unsubscribed from all mail', ':unsubscribed_all'],
    ['their address was changed', ':readdressed'],
    ['The mailbox is full.', ':cause_full'],
    ['The mail is too large for the receiving server.', ':cause_size'],
    [
      'The receiving server refuses the e-mail by policy: reputation, authentication or content.: 554 "no"',
      ':returned{"cause":":cause_policy","reply":"554 \\"no\\""}',
    ],
    ['Given up after 4 days: 451 4.3.0 later', ':given_up{"reply":"451 4.3.0 later"}'],
    [':given_up{"reply":"421 busy"}', ':given_up{"reply":"421 busy"}'],
    ['Complaint: abuse', ':complaint{"kind":"abuse"}'],
    ['frequency cap reached: 3 mails on one day', ':over_cap_day{"mails":3}'],
    ['frequency cap reached: 12 e-mails in 7 days', ':over_cap{"days":7,"mails":12}'],
    ['With the values of this contact the mail is larger than 2 MiB', ':merged_too_large{"size":2}'],
    [
      'With the values of this contact the subject is longer than 998 characters',
      ':merged_subject_too_long{"count":998}',
    ],
    ['550 5.1.1 no such user', '550 5.1.1 no such user'],
    [':starts with a colon', '::starts with a colon'],
    ['Given up after 4 days: :451', ':given_up{"reply":"::451"}'],
    ['Given up', 'Given up'],
    ['it’s full', 'it’s full'],
  ];
  const name = { field: 'first_name', customId: null, type: 'text', operator: 'is', operands: ['inactive for long'] };
  const deliver = $client.prepare(
    'INSERT INTO deliveries (id, mailing_id, address_id, state, attempt, reply) VALUES (?, 1, ?, ?, 1, ?)',
  );
  $client.exec(`INSERT INTO contact_types (id, user_id, name, created_at, updated_at) VALUES (5, 7, 'T', '', '');
    INSERT INTO mailings (id, user_id, owner_kind, owner_id, content, state, created_at)
      VALUES (1, 7, 'single', 9, '{}', 'completed', '')`);
  REASONS.forEach(([reason, reply], at) => {
    const id = at + 1;
    $client.exec(`INSERT INTO addresses (id, user_id, normalized_email) VALUES (${id}, 7, 'p${id}@example.org');
      INSERT INTO contacts (id, user_id, contact_type_id, address_id, email, first_name, created_at, updated_at)
        VALUES (${id}, 7, 5, ${id}, 'p${id}@example.org', 'inactive for long', '', '')`);
    deliver.run(id, id, DELIVERY_STATE.failed, reply);
    const rule = {
      field: 'activity.mail',
      customId: null,
      type: 'mail',
      operator: 'did not arrive because',
      operands: ['utr', reason],
      named: { kind: 'single', id: 9 },
    };
    insertRow($client, 'segments', {
      id,
      user_id: 7,
      select_field: '["first_name","activity.mail"]',
      select_operator: '["is","did not arrive because"]',
      value: JSON.stringify(['inactive for long', 'utr', reason]),
      query_type: 'and',
      rules: JSON.stringify([name, rule]),
    });
  });
  insertRow($client, 'segments', {
    id: 100,
    value: '["inactive for long"]',
    rules: JSON.stringify([name]),
  });
  $client.close();

  const db = connect(path);
  migrateAndSeed(db);
  const upgraded = db.select().from(segments).orderBy(segments.id).all();
  t.strictSame(
    upgraded.map(({ value }) => value),
    [...REASONS.map(([, after]) => ['inactive for long', 'utr', after]), ['inactive for long']],
  );
  t.strictSame(
    upgraded.map(({ rules }) => rules.flatMap(({ operands }) => operands)),
    upgraded.map(({ value }) => value),
  );
  for (const { id, rules } of upgraded.slice(0, -1)) {
    const { text, values } = ruleCondition(7, rules, 'and', '2026-11-30T00:00:00.000000Z');
    const found = db.$client.prepare<[object], number>(`SELECT c.id FROM contacts c WHERE ${text}`).pluck().all(values);
    t.strictSame(found, [id], `who got no mail because of ${REASONS[id - 1]?.[0]}`);
  }
  db.$client.close();
  t.end();
});

function insertRow(client: Database, table: string, given: Record<string, unknown> = {}): void {
  const columns = client.pragma(`table_xinfo(${table})`) as { name: string; type: string; hidden: number }[];
  const own = columns.filter(({ hidden }) => hidden === 0);
  const values = own.map(({ name, type }) =>
    name in given ? given[name] : /INT|REAL/i.test(type) ? NUMBER : /BLOB/i.test(type) ? Buffer.from('7') : '["7"]',
  );
  client
    .prepare(
      `INSERT INTO ${table} (${own.map(({ name }) => `"${name}"`).join()}) VALUES (${own.map(() => '?').join()})`,
    )
    .run(...values);
}

function rowsOf(client: Database, table: string): Record<string, unknown>[] {
  return client.prepare<[], Record<string, unknown>>(`SELECT * FROM ${table}`).all();
}

function renameColumns(table: string, row: Record<string, unknown>): Record<string, unknown> {
  const renamed = (name: string) => RENAMED[`${table}.${name}`] ?? RENAMED[name] ?? name;
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [renamed(name), value]));
}

/** Returns true if `found` has every column of `row` with its value; a later release may add columns. */
function isSubset(row: Record<string, unknown>, found: Record<string, unknown>): boolean {
  return Object.entries(row).every(([name, value]) => JSON.stringify(found[name]) === JSON.stringify(value));
}
