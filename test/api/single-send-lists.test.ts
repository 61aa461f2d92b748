/** Looking for single sends and their recipients: the light list, filters, CSV, what people and machines did, retries. */
import t, { type Test } from 'tap';
import { recountReasons } from '../../fixtures/mailing-counters.ts';
import { type Caller, startApp, type TestApp } from '../support/app.ts';
import { mustSucceed, readOutbox, sendCampaign } from '../support/campaign.ts';
import { flushHits } from '../support/recipient-links.ts';

const NAMES = ['anna', 'bea', 'cleo', 'dora'];
const PEOPLE = NAMES.map((name) => ({ email: `${name}@example.org`, first_name: name }));

async function read(t: Test, caller: Caller, path: string, query: Record<string, unknown> = {}) {
  const { status, text, body } = await caller.call('GET', path, { query });
  t.equal(status, 200, text);
  return body.message;
}

/** Sends to four people; then cleo has bounced and dora's mail has failed, as the ledger would have it. */
async function sent(t: Test) {
  const app = await startApp(t);
  await mustSucceed(t, app.one)('/global-unsubscribes/save', { email_address: 'eve@example.org' });
  const { utr, mails } = await sendCampaign(t, app, {
    people: [...PEOPLE, { email: 'eve@example.org', first_name: 'eve' }],
  });
  const id = (name: string) =>
    app.db
      .prepare(
        "SELECT d.id FROM deliveries d JOIN addresses a ON a.id = address_id JOIN mailings m ON m.id = mailing_id WHERE owner_kind = 'single' AND normalized_email = ?",
      )
      .pluck()
      .get(`${name}@example.org`);
  app.db.prepare("UPDATE deliveries SET state = 3, reply = '550 5.1.1 No such user' WHERE id = ?").run(id('cleo'));
  app.db.prepare("UPDATE deliveries SET state = 4, reply = '451 4.2.1 Try later' WHERE id = ?").run(id('dora'));
  app.db.exec("UPDATE mailings SET delivered = 2, bounces = 1, failed = 1 WHERE owner_kind = 'single'");
  recountReasons(app.db);
  return { app, utr, mails };
}

/** Counted hits are written every 100 ms. */
async function visit(app: TestApp, path: string | undefined, agent = 'Mozilla/5.0 (X11) Firefox/140') {
  await app.page('GET', path ?? '', { headers: { 'user-agent': agent } });
}

t.test('the light list is newest first, in pages, by state and by text in name or subject', async (t) => {
  const { app, utr } = await sent(t);
  for (let copies = 0; copies < 3; copies++) await app.one.call('POST', '/single/send/duplicate', { query: { utr } });
  const all = await read(t, app.one, '/single-send/summaries');
  t.strictSame(
    all.summaries.map(({ id, state }: { id: number; state: string }) => [id, state]),
    [
      [4, 'draft'],
      [3, 'draft'],
      [2, 'draft'],
      [1, 'done'],
    ],
  );
  t.equal(all.next_before_id, null);
  t.match(all.summaries[3], { utr, recipients: 5, finished: 5, delivered: 2, bounces: 1 });
  t.notOk('template_html' in all.summaries[0]);
  t.match(all.summaries[3], { recipient_id: ['contacts_1'], is_hidden: 0 });
  const byName = { order: 'name', limit: 3 };
  const named = await read(t, app.one, '/single-send/summaries', byName);
  const rest = await read(t, app.one, '/single-send/summaries', { ...byName, before_id: named.next_before_id });
  t.strictSame(
    [...named.summaries, ...rest.summaries].map(({ id }: { id: number }) => id),
    [4, 3, 2, 1],
    'each order goes on where its page before ended',
  );
  const first = await read(t, app.one, '/single-send/summaries', { limit: 2 });
  t.equal(first.next_before_id, 3);
  const second = await read(t, app.one, '/single-send/summaries', { limit: 2, before_id: 3 });
  t.match([second.summaries.length, second.next_before_id], [2, null]);
  const ids = async (query: Record<string, unknown>) =>
    (await read(t, app.one, '/single-send/summaries', query)).summaries.map(({ id }: { id: number }) => id);
  t.strictSame(await ids({ state: 'done' }), [1]);
  t.strictSame(await ids({ search: 'COPY OF' }), [4, 3, 2]);
  t.strictSame(await ids({ search: 'for ((first', state: 'done' }), [1], 'the subject too');
  t.strictSame((await read(t, app.two, '/single-send/summaries')).summaries, []);
  const wrong = await app.one.call('GET', '/single-send/summaries', { query: { state: 'lost' } });
  t.equal(wrong.status, 422);
});

t.test(
  'recipients are found by state, reason, clicked link and the beginning of their address, each with why',
  async (t) => {
    const { app, utr, mails } = await sent(t);
    await visit(app, mails[1]?.paths.c);
    flushHits(app);
    const emails = async (query: Record<string, unknown>) =>
      (await read(t, app.one, '/single-send/recipients/find', { utr, ...query })).recipients.map(
        ({ email }: { email: string }) => email.split('@')[0],
      );
    t.strictSame(await emails({}), ['eve', ...NAMES]);
    t.strictSame(await emails({ state: 'kept' }), ['anna', 'bea']);
    t.strictSame(await emails({ state: 'bounced' }), ['cleo']);
    t.strictSame(await emails({ state: 'failed', reason: '451 4.2.1 Try later' }), ['dora']);
    t.strictSame(await emails({ state: 'failed', reason: 'another' }), []);
    t.strictSame(await emails({ state: 'suppressed' }), ['eve']);
    t.strictSame(await emails({ search: 'CLEO@' }), ['cleo']);
    t.strictSame(await emails({ search: 'cleo@example.org' }), ['cleo'], 'the whole address');
    t.strictSame(await emails({ search: 'example' }), [], 'the beginning only');
    t.strictSame(await emails({ link: 0 }), ['bea']);
    t.strictSame(await emails({ link: 7 }), []);
    const [left] = (await read(t, app.one, '/single-send/recipients/find', { utr, state: 'suppressed' })).recipients;
    t.match(left, { reply: /unsubscribed/, attempts: 0 });
    t.equal((await app.two.call('GET', '/single-send/recipients/find', { query: { utr } })).status, 404);
  },
);

t.test('pages of recipients follow each other without gap or repeat', async (t) => {
  const { app, utr } = await sent(t);
  for (const filter of [{}, { search: '' }, { search: 'a' }, { state: 'kept' }]) {
    const found: string[] = [];
    let after = '';
    for (let pages = 0; pages < 10; pages++) {
      const page = await read(t, app.one, '/single-send/recipients/find', { utr, ...filter, limit: 1, after });
      found.push(...page.recipients.map(({ email }: { email: string }) => email));
      after = page.next ?? '';
      if (page.next === null) break;
    }
    const whole = await read(t, app.one, '/single-send/recipients/find', { utr, ...filter });
    t.strictSame(
      found,
      whole.recipients.map(({ email }: { email: string }) => email),
      JSON.stringify(filter),
    );
  }
});

t.test('the CSV has everybody who matches, and formulas in replies are text', async (t) => {
  const { app, utr } = await sent(t);
  app.db.exec(`UPDATE deliveries SET reply = '=HYPERLINK("https://evil.example")' WHERE state = 4`);
  const { headers, text } = await app.one.call('GET', '/single-send/recipients/export', {
    query: { utr, state: 'failed' },
  });
  t.match(headers['content-disposition'], 'recipients.csv');
  const [head, row, end] = text.split('\r\n');
  t.equal(head, '"email","state","why","attempts","opens","clicks","updated_at"');
  t.match(row, /^dora@example\.org,failed,"'=HYPERLINK/);
  t.equal(end, '');
});

t.test('the report tells people from machines, and lists every link with its clicks', async (t) => {
  const { app, utr, mails } = await sent(t);
  app.clock.advance(60_000);
  await visit(app, mails[0]?.paths.o);
  await visit(app, mails[0]?.paths.c);
  await visit(app, mails[0]?.paths.c);
  await visit(app, mails[1]?.paths.o, 'python-requests/2.32.3');
  await visit(app, mails[1]?.paths.c, 'a scanner bot');
  flushHits(app);
  const { report } = await read(t, app.one, '/single-send/report', { utr });
  t.match(report.funnel, {
    recipients: 5,
    delivered: 2,
    unique_opens: 1,
    people_opens: 1,
    unique_clicks: 1,
    people_clicks: 1,
    bounces: 1,
    failed: 1,
    suppressed: 1,
  });
  const figures = { unique_opens: 1, people_opens: 1, unique_clicks: 1, people_clicks: 1 };
  t.match((await read(t, app.one, '/single-send/summaries', { utr })).summaries, [figures]);
  t.match((await read(t, app.one, '/overview')).overview.last_mailings, [figures]);
  t.match(report.links, [{ number: 0, clicks: 3, machine_clicks: 1 }]);
  t.match(report.hours, [{ opens: 2, machine_opens: 1, clicks: 3, machine_clicks: 1 }]);
  t.match(report.states, { queued: 0, accepted: 2, bounced: 1, failed: 1, suppressed: 1 });
  await visit(app, mails[0]?.paths.c);
  flushHits(app);
  const later = await read(t, app.one, '/single-send/report', { utr });
  t.match(later.report.links, [{ clicks: 4 }], 'new events are added to those counted before');
});

t.test('a retry sends once more to those for whom it failed, and to nobody who left or bounced', async (t) => {
  const { app, utr } = await sent(t);
  const before = (await readOutbox(app)).length;
  t.strictSame((await app.two.call('POST', '/single/send/retry-failed', { query: { utr } })).status, 404);
  const { body } = await app.one.call('POST', '/single/send/retry-failed', { query: { utr } });
  t.strictSame(body, { status: 'success', message: { queued: 1 } });
  t.match((await read(t, app.one, '/single-send/summaries')).summaries, [{ state: 'sending', finished: 4 }]);
  await app.background();
  const mails = await readOutbox(app);
  t.strictSame(
    mails.slice(before).map(({ to }) => to),
    ['dora@example.org'],
  );
  const keys = mails.filter(({ to }) => to === 'dora@example.org').map(({ raw }) => /^Message-ID: .*/im.exec(raw)?.[0]);
  t.equal(keys[0], keys[1], 'with the same Message-ID');
  t.match((await read(t, app.one, '/single-send/report', { utr })).report, {
    status: 3,
    states: { accepted: 2, kept: 1, failed: 0 },
  });
  t.equal((await app.one.call('POST', '/single/send/retry-failed', { query: { utr } })).status, 409);
});

t.test('a retry leaves out people who have unsubscribed since', async (t) => {
  const { app, utr } = await sent(t);
  const before = (await readOutbox(app)).length;
  await mustSucceed(t, app.one)('/global-unsubscribes/save', { email_address: 'dora@example.org' });
  await app.one.call('POST', '/single/send/retry-failed', { query: { utr } });
  await app.background();
  t.equal((await readOutbox(app)).length, before);
  t.match((await read(t, app.one, '/single-send/report', { utr })).report.states, { failed: 0, suppressed: 2 });
});

t.test('the mail is shown merged, its links marked with their numbers and counting nothing', async (t) => {
  const { app, utr } = await sent(t);
  const { mail } = await read(t, app.one, '/single-send/mail', { utr });
  t.match(mail, { problem: null, subject: 'For eve', html: /Hello eve/ });
  t.match(mail.html, /<a href="https:\/\/shop\.example\/new\?for=eve" data-link="0">news<\/a>/);
  t.match(mail.text, 'news (https://shop.example/new?for=eve)', 'the text has the destination too');
  t.notMatch(mail.html + mail.text, /\/c\/|\/o\//);
});
