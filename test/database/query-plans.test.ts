/**
 * How SQLite goes about the statements that run while an installation is large: every one prepared during a walk through the
 * service is asked for its plan, so none is copied here. Without ANALYZE a plan does not depend on how many rows there are.
 */
import t, { type Test } from 'tap';
import { startApp } from '../support/app.ts';
import { HOUR, withPaths } from '../support/automations.ts';
import { mustSucceed, sendCampaign } from '../support/campaign.ts';
import { planned, wholeReads } from '../support/query-plans.ts';

/** What an installation does all day, once. */
async function day(t: Test): Promise<void> {
  const app = await startApp(t);
  const { one, page } = app;
  const must = mustSucceed(t, one);
  const read = async (path: string, query = {}) => {
    const { status, text } = await one.call('GET', path, { query });
    if (status !== 200) t.fail(`${path}: ${text}`);
  };
  await must('/sending/caps/save', { caps: ['50/31'] });
  const { mails } = await sendCampaign(t, app);
  for (const caps of ['', ['40/31']]) await must('/sending/caps/save', { caps });
  await must('/custom-fields/save', { field_name: 'size', field_type: 'number' });
  const rule = {
    select_field: ['first_name', 'size'],
    select_operator: ['is', 'is'],
    value: ['Anna', '3'],
    query_type: 'or',
  };
  await must('/segment/store', { segment_name: 'Annas', contact_type_id: 1, ...rule });
  const { utr } = (await must('/automations/create', {
    type: 'welcome',
    automation_for: 'segments_1',
    automation_name: 'Welcome',
    unsubscribe_group_id: 1,
    exit_criteria: 1,
  })) as { utr: string };
  await must('/automations/schedule/create', {
    utr,
    sender_id: 1,
    subject: 'Hello',
    waiting_period: 1,
    waiting_type: 'instantly',
    template_id: 1,
    preview_img: 'blank.png',
    template_html: '<p>Hello</p>',
  });
  await read('/automations/set-live', { utr });
  const content = 'email,first_name,size\nanna@example.org,Anna,3\nbea@example.org,Bea,4\n';
  for (let time = 0; time < 2; time++) {
    const { status, text } = await one.call('POST', '/contacts/upload-csv', {
      multipart: [
        ['contact_type_id', '1'],
        ['file', { filename: 'contacts.csv', content }],
      ],
    });
    t.equal(status, 200, text);
  }
  app.clock.advance(61_000);
  await app.background();
  await read('/contacts/list');
  await read('/contacts/list', { contact_type_id: 1 });
  await read('/contacts/details', { contact_id: 1 });
  await read('/contacts/export', { contact_type_id: 1 });
  await read('/contacts/timeline', { contact_id: 1 });
  await read('/segment/email/list', { segment_id: 1 });
  const { utr: tested } = (await must('/single/send/draft', { single_send_name: 'Tested' })) as { utr: string };
  await must('/single/send/save', { utr: tested, subject: 'A', recipient_id: ['contacts_1'] });
  await must('/single/send/variants', { utr: tested, subjects: ['B'] });
  await read('/single-send/variants', { utr: tested });
  await page('GET', mails[0]?.paths.o ?? '');
  await page('GET', mails[0]?.paths.c ?? '');
  await page('GET', mails[0]?.paths.u ?? '');
  await page('POST', mails[0]?.paths.u ?? '', { form: { 'List-Unsubscribe': 'One-Click' } });
  await must('/global-unsubscribes/save', { email_address: 'cleo@example.org' });
  await must('/contacts/update', { contact_id: 3, contact_type_id: 1, email: 'bea@example.org', country: 1 });
  await page('GET', '/metrics');
}

t.test('a day of an installation', async (t) => {
  // Makes the database that tests copy. A migration may read a whole table, once.
  await startApp(t);
  const plans = await planned(() => day(t));
  const plansOf = (text: RegExp) => plans.filter((plan) => text.test(plan.text));

  t.test('no statement reads a table that grows with the people from end to end', async (t) => {
    for (const plan of plans) t.strictSame(wholeReads(plan), [], plan.text.slice(0, 300));
  });

  /** Every plan of the statements that match has these steps. */
  const HOT: [what: string, text: RegExp, steps: string[]][] = [
    [
      'a page of contacts',
      /FROM contacts CROSS JOIN (?!.*contact_type_id = \?).* ORDER BY/,
      ['contacts USING INDEX contacts_user (user_id=? AND id>?)'],
    ],
    [
      'a page of the contacts of a type',
      /FROM contacts CROSS JOIN .*contact_type_id = \?.* ORDER BY/,
      ['contacts USING INDEX contacts_type (contact_type_id=? AND id>?)'],
    ],
    ['one contact', /^SELECT json_object\(.* FROM contacts/, ['contacts USING INTEGER PRIMARY KEY (rowid=?)']],
    [
      'a page of an export',
      /^SELECT address_id, custom_values, first_name/,
      ['contacts USING INDEX contacts_person (contact_type_id=? AND address_id>?)'],
    ],
    [
      'who is due in a mailing, and whether they have left',
      /^SELECT d\.id, d\.mailing_id/,
      [
        'd USING INDEX deliveries_queue (mailing_id=? AND due_at>? AND due_at<?)',
        'u USING INDEX unsubscribers_global (address_id=?)',
        'u USING COVERING INDEX unsubscribers_grouped (address_id=? AND unsubscribe_groups_id=?)',
        's USING COVERING INDEX suppressions_address_id_unique (address_id=?)',
      ],
    ],
    [
      'how many mails a person had, for limits',
      /^SELECT value AS address_id, \(SELECT CASE/,
      ['deliveries USING INDEX deliveries_capped (address_id=? AND updated_at>?)'],
    ],
    [
      'the mails of the time before limits',
      /^UPDATE deliveries SET counts_to_caps = 1/,
      ['deliveries USING COVERING INDEX deliveries_mailing (mailing_id=? AND rowid>? AND rowid<?)'],
    ],
    [
      'the next people of a contact type to lay out',
      /^INSERT INTO deliveries .* FROM contacts p INDEXED/,
      [
        'p USING INDEX contacts_person (contact_type_id=? AND address_id>? AND address_id<?)',
        'unsubscribers USING INDEX unsubscribers_global (address_id>? AND address_id<?)',
        'unsubscribers USING COVERING INDEX unsubscribers_grouped (address_id>? AND address_id<?)',
        'suppressions USING COVERING INDEX suppressions_address_id_unique (address_id>? AND address_id<?)',
        'u USING INDEX unsubscribers_global (address_id=?)',
        's USING COVERING INDEX suppressions_address_id_unique (address_id=?)',
      ],
    ],
    [
      'the next people of a segment to lay out',
      /^INSERT INTO deliveries .* FROM segment_recipients p INDEXED/,
      ['p USING INDEX segment_recipients_person (segment_id=? AND address_id>? AND address_id<?)'],
    ],
    [
      'who joins or leaves a segment',
      /^SELECT address, contact, row, isByHand/,
      [
        'c USING INDEX contacts_person (contact_type_id=? AND address_id=?)',
        'r USING INDEX segment_recipients_person (segment_id=? AND address_id=?)',
      ],
    ],
    [
      'who comes into a segment',
      /^INSERT INTO segment_recipients .* json_each/,
      ['c USING INTEGER PRIMARY KEY (rowid=?)'],
    ],
    [
      'what a person has left',
      /^select .* from unsubscribers where/,
      ['unsubscribers USING INDEX unsubscribers_global (address_id=?)'],
    ],
    [
      'whether a person has left already',
      /^INSERT INTO consent_log .* json_each/,
      ['addresses USING COVERING INDEX addresses_person (user_id=? AND normalized_email=?)', 'unsubscribers USING'],
    ],
    [
      'the chunk of an import: its people',
      /^INSERT INTO addresses .* FROM sorted/,
      ['sorted USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)'],
    ],
    [
      'the chunk of an import: its contacts',
      /^INSERT INTO contacts .* FROM sorted/,
      [
        'sorted USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)',
        'a USING COVERING INDEX addresses_person (user_id=? AND normalized_email=?)',
      ],
    ],
    [
      'the mailings in which the mails to a person are looked up, without their contents',
      /^SELECT id, created_at FROM mailings/,
      ['mailings USING COVERING INDEX mailings_user (user_id=? AND id<?)'],
    ],
    [
      'the mails to a person',
      /^SELECT d\.mailing_id, d\.id, d\.updated_at/,
      ['d USING INDEX deliveries_person (mailing_id=? AND address_id=?)'],
    ],
    [
      'the rates that an A/B test is planned with',
      /^SELECT sum\(delivered - unmeasured\)/,
      ['mailings USING INDEX mailings_recent (user_id=?)'],
    ],
    [
      'who in an audience has their opens recorded',
      /^SELECT reason, country_id, /,
      ['a USING INDEX addresses_choices (id=? AND rowid=?)'],
    ],
    ['the times of what came of them', /^SELECT 'z' AS source/, ['e USING INDEX events_delivery (delivery_id=?)']],
    [
      'the imports of a person',
      /^WITH written/,
      [
        'contacts USING INDEX contacts_address (address_id=?)',
        'i USING INDEX contact_imports_written (contact_type_id=? AND written_at=?)',
      ],
    ],
    ['the segments a person left', /^SELECT 'segment_left'/, ['l USING INDEX segment_leaves_address (address_id=?)']],
    ['the moves of a person', /^SELECT 'contact_moved'/, ['v USING INDEX contact_moves_contact (contact_id=?)']],
    [
      'the enrolments that are due',
      /^WITH RECURSIVE firsts/,
      [
        'n USING INDEX enrolments_place (automation_id=?)',
        'n USING INDEX enrolments_place (automation_id=? AND position>?)',
      ],
    ],
  ];
  for (const [what, text, steps] of HOT) {
    t.test(`${what} is found by its index`, async (t) => {
      const found = plansOf(text);
      t.not(found.length, 0, 'it ran');
      for (const plan of found) {
        for (const step of steps)
          t.ok(
            plan.steps.some((taken) => taken.startsWith(`SEARCH ${step}`)),
            `${step} in: ${plan.steps.join('; ')}`,
          );
      }
    });
  }
});

t.test('steps of automations and the values that decided are found by their indexes', async (t) => {
  const { post, step, utrOf, live, join, pass } = await withPaths(t);
  await post('/custom-fields/save', { field_name: 'stage', field_type: 'text' });
  const before = await utrOf('two');
  await step({ kind: 'set_field', field: 'stage', value: 'new', before });
  await step({ kind: 'if', segment_id: 1, before });
  await step({ kind: 'split', share: 50, before });
  await step({ kind: 'wait_until', until: 'hour', hour: 12, before });
  const plans = await planned(async () => {
    await live();
    await join('ann');
    await pass(30 * HOUR);
  });
  for (const plan of plans) t.strictSame(wholeReads(plan), [], plan.text.slice(0, 300));
  const lines = plans.filter(({ text }) => /^INSERT INTO enrolment_log .* FROM steps t/.test(text));
  t.equal(lines.length, 4, 'of a condition, a change, a wait and the steps that keep no values');
  for (const { steps, text } of lines) {
    t.match(steps.slice(0, 2), [
      'SEARCH t USING INTEGER PRIMARY KEY (rowid>?)',
      'SEARCH e USING INTEGER PRIMARY KEY (rowid=?)',
    ]);
    if (/contacts p/.test(text)) t.match(steps.join(), /SEARCH p USING INTEGER PRIMARY KEY \(rowid=\?\)/);
  }
});

t.test('a search of the list reads ranges of its index and of the trigrams in it', async (t) => {
  const app = await startApp(t);
  const mustSearch = async (search: string) =>
    t.equal((await app.one.call('GET', '/contacts/list', { query: { search } })).status, 200);
  const found = await planned(async () => {
    await mustSearch('anna');
    await mustSearch('a');
  });
  const stepsOf = (text: RegExp) => found.filter((plan) => text.test(plan.text)).map(({ steps }) => steps);
  // SQLite calls each read of a virtual table a scan; what is after INDEX names the conditions the table itself applies (FTS5, xBestIndex).
  t.match(stepsOf(/FROM contact_search WHERE contact_search MATCH/), [
    [/^SCAN contact_search VIRTUAL TABLE INDEX \d+:M\d+>$/],
  ]);
  const byId = /^SEARCH (c|contacts) USING INTEGER PRIMARY KEY \(rowid(=|>)\?\)$/;
  for (const compared of [/^SELECT c\.id FROM json_each\(@ids\)/, /^SELECT CAST\(group_concat\(record/])
    for (const steps of stepsOf(compared))
      t.ok(
        steps.some((step) => byId.test(step)),
        steps.join('; '),
      );
  t.match(stepsOf(/FROM temp\.contact_search_terms/), [[/VIRTUAL TABLE INDEX (?!0:)\d+:$/]]);
});

t.test('automations are listed without reading the content of their mailings, which can have megabytes', async (t) => {
  const app = await startApp(t);
  const found = await planned(async () => {
    await app.one.call('GET', '/automations/summaries', { query: { search: 'x' } });
  });
  const lists = found.filter(({ text }) => text.includes('INDEXED BY mailings_automation'));
  t.equal(lists.length, 1);
  const read = lists.flatMap(({ steps }) => steps.filter((step) => step.includes('mailings_automation')));
  t.match(read, [/^SEARCH mailings USING COVERING INDEX mailings_automation /]);
});
