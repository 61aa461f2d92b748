/** What recipients meet: leaving, the preference page, opens and clicks. */
import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { HitBuffer } from '../../src/delivery/feedback/opens-and-clicks.ts';
import type { RecipientIds } from '../../src/delivery/links/tokens.ts';
import { mustSucceed, readOutbox, sendCampaign } from '../campaign.ts';
import { startApp, type TestApp } from '../helper.ts';

const GROUPS = [
  { name: 'News', isDisplay: 0 as const },
  { name: 'Offers', isDisplay: 1 as const },
  { name: 'Internal', isDisplay: 0 as const },
];
/** The form of the page as a browser sends it. */
const choices = (...on: string[]): [string, string][] => [
  ['form', 'groups'],
  ['shown', '1'],
  ['shown', '2'],
  ...on.map((id): [string, string] => ['on', id]),
];
const PERSON = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

async function started(t: Test, settings: Record<string, string> = {}, campaign = {}) {
  const app = await startApp(t, settings);
  const { utr, mails } = await sendCampaign(t, app, { groups: GROUPS, ...campaign });
  const [mail] = mails;
  if (mail === undefined) throw new Error('no mail arrived');
  const { u = '', o = '', c = '' } = mail.paths;
  return { app, utr, mail, mails, u, o, c };
}

/** What create and update take of a single send's record. */
function fieldsOf(send: Record<string, unknown>): Record<string, unknown> {
  const { template_id, template_html, sender_id, unsubscribe_group_id, single_send_name, subject, preheader } = send;
  return {
    ...{ template_id, template_html, sender_id, unsubscribe_group_id, single_send_name, subject, preheader },
    recipient_id: ['contacts_1'],
    schedule_type: 0,
  };
}

/** Creates a single send as an earlier one was; gives its utr. */
async function sendAgain(t: Test, app: TestApp, earlier: string, more: object = {}): Promise<string> {
  const { body } = await app.one.call('GET', '/single-send/details', { query: { utr: earlier } });
  const form = { ...fieldsOf(body.message.singleSend[0]), ...more };
  const { utr } = (await mustSucceed(t, app.one)('/single/send/create', form)) as { utr: string };
  return utr;
}

/** Everything a visit may change. */
function state({ db }: TestApp) {
  const rows = (table: string) => db.prepare(`SELECT * FROM ${table}`).all();
  return JSON.stringify(['unsubscribers', 'consent_log', 'events', 'deliveries', 'mailings', 'links'].map(rows));
}

function left({ db }: TestApp): (number | null)[] {
  return db.prepare<[], number | null>('SELECT unsubscribe_groups_id FROM unsubscribers ORDER BY 1').pluck().all();
}

/** Lets the buffered hits reach the disk. */
async function flushed(app: TestApp): Promise<void> {
  const written = app.db.prepare('SELECT count(*) + (SELECT sum(opens) FROM deliveries) FROM events').pluck();
  await setTimeout(250);
  for (let last = Number.NaN, calm = 0; calm < 4; last = Number(written.get())) {
    await setTimeout(100);
    calm = written.get() === last ? calm + 1 : 0;
  }
}

function counters({ db }: TestApp) {
  return db
    .prepare("SELECT delivered, unique_opens, total_opens, unsubscribes FROM mailings WHERE owner_kind = 'single'")
    .get() as Record<string, number>;
}

t.test('one click leaves the group, in any encoding, again and again', async (t) => {
  const { app, mail, u } = await started(t);
  t.match(mail.raw, `List-Unsubscribe: <http://mail.example.com${u}>`);
  const boundary = 'x';
  const bodies: [string, string | undefined, string | undefined][] = [
    ['urlencoded', 'List-Unsubscribe=One-Click', 'application/x-www-form-urlencoded'],
    [
      'multipart',
      `--${boundary}\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--${boundary}--\r\n`,
      `multipart/form-data; boundary=${boundary}`,
    ],
    ['a body without a type', 'List-Unsubscribe=One-Click', undefined],
    ['no body', undefined, undefined],
    ['a type nobody knows', 'x', 'application/x-odd'],
  ];
  for (const [name, payload, type] of bodies) {
    app.db.exec('DELETE FROM unsubscribers');
    for (const round of ['once', 'again']) {
      const answer = await app.fastify.inject({
        method: 'POST',
        url: u,
        headers: type === undefined ? {} : { 'content-type': type },
        ...(payload !== undefined && { payload }),
      });
      t.equal(answer.statusCode, 200, `${name}, ${round}`);
      t.notOk(answer.headers.location ?? answer.headers['set-cookie']);
      t.strictSame(left(app), [1]);
    }
  }
  t.equal(counters(app).unsubscribes, 1, 'and counts the person once');
});

t.test('GET and HEAD of every link change nothing, however often', async (t) => {
  const html = '<a href="https://shop.example/new">news</a> <a href="((web_copy))">View in browser</a>';
  const { app, u, c, o, mail } = await started(t, {}, { html });
  const { w = '' } = mail.paths;
  const before = state(app);
  const visit = async (method: string, path: string, expected: number) => {
    const statuses = new Set<number>();
    for (let visits = 0; visits < 100; visits++) statuses.add((await app.page(method, path)).status);
    t.strictSame([...statuses], [expected], `${method} ${path}`);
  };
  for (const method of ['GET', 'HEAD']) {
    await visit(method, u, 200);
    await visit(method, w, 200);
    await visit(method, `${u}x`, 404);
  }
  await visit('HEAD', c, 302);
  await visit('HEAD', o, 200);
  await flushed(app);
  t.equal(state(app), before);
  await visit('GET', c, 302);
  await visit('GET', o, 200);
  await flushed(app);
  t.strictSame(left(app), [], 'opens and clicks are counted, and take nobody off');
  t.equal(counters(app).unsubscribes, 0);
});

t.test('a token serves one person and purpose; one changed character and it is refused', async (t) => {
  const { app, u, o, c } = await started(t);
  const token = u.slice(3);
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.';
  await fc.assert(
    fc.asyncProperty(fc.nat(token.length - 1), fc.constantFrom(...alphabet), async (at, letter) => {
      fc.pre(token[at] !== letter);
      const { status } = await app.page('POST', `/u/${token.slice(0, at)}${letter}${token.slice(at + 1)}`);
      return status === 404;
    }),
    { numRuns: 200 },
  );
  for (const other of [o.slice(3).replace('.gif', ''), c.split('/')[2]]) {
    t.equal((await app.page('POST', `/u/${other}`)).status, 404);
    t.equal((await app.page('GET', `/u/${other}`)).status, 404);
  }
  t.strictSame(left(app), []);
});

t.test('links outlive the contact and the campaign', async (t) => {
  const { app, utr, u, c } = await started(t);
  await app.one.call('DELETE', '/contacts/delete', { query: { contact_id: 1 } });
  await app.one.call('DELETE', '/contacts-type/delete', { query: { contact_type_id: 1 } });
  await app.one.call('DELETE', '/single/send/delete', { query: { utr } });
  t.equal((await app.page('GET', u)).status, 200);
  t.equal((await app.page('POST', u)).status, 200);
  t.strictSame(left(app), [1]);
  t.equal(
    (await app.page('GET', c)).headers.location,
    'https://shop.example/new?for=',
    'values are gone, the link leads on',
  );
});

t.test('the preference page shows displayed groups and the mail’s own, escaped, under a strict policy', async (t) => {
  const { app, u } = await started(
    t,
    {},
    {
      groups: [...GROUPS, { name: '<b>"Loud" & clear</b>', isDisplay: 1, description: '<script>alert(1)</script>' }],
    },
  );
  const { text, headers, status } = await app.page('GET', u);
  t.equal(status, 200);
  for (const part of ['News', 'Offers', 'anna@example.org', 'Lark Books', '<html lang="en">']) t.match(text, part);
  t.notMatch(text, 'Internal');
  t.notMatch(text, /<script|<b>"Loud/);
  t.match(text, '&#60;b&#62;&#34;Loud&#34;');
  t.notMatch(text, / (?:src|href)="(?!data:)/, 'nothing is fetched from anywhere');
  t.match(headers, {
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  const policy = String(headers['content-security-policy']);
  t.match(policy, "default-src 'none'");
  t.notMatch(policy, /unsafe|\*|http/);
  t.notOk(headers['set-cookie']);
});

t.test('choices are saved, logged and taken back; what was not on the page stays', async (t) => {
  const { app, u } = await started(t);
  const save = (form: Record<string, unknown> | [string, string][]) => app.page('POST', u, { form });
  t.match((await save(choices('2'))).text, 'saved');
  t.strictSame(left(app), [1]);
  await app.one.call('POST', '/unsubscribes-groups/save', {
    form: { group_name: 'New', description: 'New', is_display: 1 },
  });
  await save(choices('1', '2'));
  t.strictSame(left(app), [], 'a group added meanwhile is nobody’s choice');
  await save(choices());
  t.strictSame(left(app), [1, 2]);
  await save({ form: 'groups', shown: '3' });
  t.strictSame(left(app), [1, 2], 'a group that is not theirs to see can not be left');
  t.match((await save({ form: 'none' })).text, 'Get mail again');
  t.strictSame(left(app), [null, 1, 2]);
  t.match((await save({ form: 'back' })).text, 'Save my choices');
  t.strictSame(left(app), [1, 2]);
  const log = app.db
    .prepare('SELECT unsubscribe_groups_id AS list, action, source, mailing_id FROM consent_log ORDER BY id')
    .all() as { list: number | null; action: string; source: string; mailing_id: number | null }[];
  t.strictSame(
    log.map(({ list, action }) => `${list} ${action}`),
    ['1 unsubscribed', '1 resubscribed', '1 unsubscribed', '2 unsubscribed', 'null unsubscribed', 'null resubscribed'],
  );
  t.ok(log.every(({ source }) => source === 'page'));
  t.ok(log.filter(({ action }) => action === 'unsubscribed').every(({ mailing_id }) => mailing_id !== null));
  t.equal(counters(app).unsubscribes, 1);
});

t.test('who left by the page gets no more mail, whatever the spelling', async (t) => {
  const { app, u } = await started(t, {}, { people: [{ email: 'Anna@Example.org' }] });
  await app.page('POST', u, { form: { form: 'none' } });
  const { body } = await app.one.call('GET', '/global-unsubscribes');
  t.match(body.message.unSubscribers, [{ email_address: 'anna@example.org', unsubscribe_groups_id: null }]);
});

t.test('who leaves by the page while the next send runs is left out of its next claim', async (t) => {
  const people = [{ email: 'anna@example.org' }, { email: 'bo@example.org' }, { email: 'cy@example.org' }];
  const app = await startApp(t, { SEND_RATE: '1' });
  const { utr } = await sendCampaign(t, app, { people });
  const goOn = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      app.clock.advance(1000);
      await app.background();
    }
  };
  await goOn(5);
  const all = await readOutbox(app);
  t.strictSame(
    all.map(({ to }) => to),
    people.map(({ email }) => email),
  );
  const next = await sendAgain(t, app, utr);
  await goOn(11);
  const begun = (await readOutbox(app)).length;
  t.ok(begun > 3 && begun < 6, 'the second send has begun and is not through');
  const last = all.at(-1);
  await app.page('POST', last?.paths.u ?? '', { form: { 'List-Unsubscribe': 'One-Click' } });
  await goOn(5);
  t.notOk((await readOutbox(app)).slice(begun).some(({ to }) => to === last?.to));
  const { body } = await app.one.call('GET', '/single-send/recipients', {
    query: { utr: next, email: 'cy@example.org' },
  });
  t.match(body.message.recipients, [{ state: 'suppressed', attempts: 0, reply: /unsubscribed/ }]);
});

t.test('one person in any spelling: who left is left out of every kind of target', async (t) => {
  const { app, utr, u } = await started(t, {}, { people: [{ email: 'Anna@Bücher.example' }] });
  await app.page('POST', u, { form: { form: 'none' } });
  const must = mustSucceed(t, app.one);
  await must('/contacts-type/add', { name: 'Others' });
  const other = { contact_type_id: 2, first_name: 'Anna', country: 1, email: ' ANNA@xn--bcher-kva.example ' };
  await must('/contacts/add', other);
  const rule = { segment_name: 'Annas', contact_type_id: 2, 'select_field[0]': 'first_name' };
  await must('/segment/store', { ...rule, 'select_operator[0]': 'is', 'value[0]': 'Anna' });
  await must('/segment/store', { ...rule, 'select_operator[0]': 'is', 'value[0]': 'Nobody' });
  await must('/segment/email/store', { segment_id: 2, first_name: 'A', last_name: 'B', email: 'anna@BÜCHER.example' });
  for (const target of ['contacts_1', 'contacts_2', 'segments_1', 'segments_2']) {
    const next = await sendAgain(t, app, utr, { recipient_id: [target] });
    app.clock.advance(11_000);
    await app.background();
    const { body } = await app.one.call('GET', '/single-send/report', { query: { utr: next } });
    t.match(body.message.report, { status: 0, held_reason: /everyone in it has unsubscribed/ }, target);
  }
  t.equal((await readOutbox(app)).length, 1);
});

t.test('an owner who takes somebody off the list leaves the record of who left, when and how', async (t) => {
  const { app, u } = await started(t);
  await app.page('POST', u, { form: { form: 'none' } });
  const log = () =>
    app.db
      .prepare(
        'SELECT consent_log.id, compared_email, action, source, created_at FROM consent_log JOIN addresses ON addresses.id = address_id ORDER BY 1',
      )
      .all();
  const before = log();
  t.match(before, [
    { compared_email: 'anna@example.org', action: 'unsubscribed', source: 'page', created_at: /^2026/ },
  ]);
  const { body } = await app.one.call('GET', '/global-unsubscribes');
  await app.one.call('DELETE', '/global-unsubscribes/delete', { query: { id: body.message.unSubscribers[0].id } });
  t.strictSame(left(app), []);
  t.match(log(), [...before, { action: 'resubscribed', source: 'api' }]);
});

t.test('a form of the page in whatever shape is a choice or a mistake, never a failure of ours', async (t) => {
  const { app, u } = await started(t);
  const save = async (form: [string, string][]) => (await app.page('POST', u, { form })).status;
  const shown: [string, string][] = [
    ['form', 'groups'],
    ['shown[0]', '1'],
    ['shown[1]', '2'],
  ];
  t.equal(await save([...shown, ['on[0]', '1']]), 200);
  t.strictSame(left(app), [2], 'indices are a list');
  t.equal(await save([...shown, ['on[]', '1'], ['on[]', '2']]), 200);
  t.strictSame(left(app), []);
  const before = state(app);
  const keys = ['on[x]', 'on[1]', 'on[0][0]', 'on[__proto__]', 'on[constructor]', 'form[x]', 'form[0]', '__proto__[x]'];
  for (const key of keys) t.equal(await save([...shown.slice(0, 1), [key, '1']]), 422, key);
  for (const form of ['', 'all', 'Groups', '[object Object]']) t.equal(await save([['form', form]]), 422, form);
  t.equal(
    await save([
      ['form', 'none'],
      ['form', 'none'],
    ]),
    422,
    'a form sent twice',
  );
  t.equal(state(app), before, 'a mistake changes nothing');
  const numbers = ['', 'x', '-1', '1e999', '9'.repeat(400), 'NaN'];
  for (const id of numbers)
    t.equal(
      await save([
        ['form', 'groups'],
        ['shown', id],
        ['on', id],
      ]),
      200,
      id,
    );
  t.equal(state(app), before);
});

t.test('a body of megabytes or nonsense is refused in HTML', async (t) => {
  const { app, u } = await started(t);
  const { status, headers } = await app.page('POST', u, { form: { form: 'x'.repeat(5 * 1024 * 1024) } });
  t.equal(status, 413);
  t.match(headers['content-type'], 'text/html');
  t.equal((await app.page('GET', '/nowhere')).status, 404);
  t.match((await app.page('GET', '/nowhere')).headers['content-type'], 'text/html');
});

t.test('whatever the token, the pixel is the same picture', async (t) => {
  const { app, o, u } = await started(t);
  const real = await app.page('GET', o);
  for (const path of [
    `${o.slice(0, -6)}xx.gif`,
    '/o/x',
    `/o/${u.slice(3)}.gif`,
    '/o/1-1-1-1-1.AAAAAAAAAAAAAAAAAAAAAA.gif',
  ]) {
    const other = await app.page('GET', path);
    const bare = ({ date: _, ...headers }: typeof real.headers) => headers;
    t.strictSame([other.status, other.text, bare(other.headers)], [real.status, real.text, bare(real.headers)]);
  }
  await flushed(app);
  t.match(counters(app), { unique_opens: 1, total_opens: 1 });
});

t.test('opens are counted exactly after the flush, once per person and in all', async (t) => {
  const people = Array.from({ length: 3 }, (_, at) => ({ email: `p${at}@example.org` }));
  const { app, mails } = await started(t, {}, { people });
  app.clock.advance(60_000);
  for (let visit = 0; visit < 50; visit++) {
    for (const mail of mails.slice(0, 2))
      await app.page('GET', mail.paths.o ?? '', { headers: { 'user-agent': PERSON } });
  }
  await app.page('HEAD', mails[2]?.paths.o ?? '');
  await flushed(app);
  t.match(counters(app), { delivered: 3, unique_opens: 2, total_opens: 100 });
  t.equal(app.db.prepare("SELECT count(*) FROM events WHERE kind = 'open' AND is_machine = 0").pluck().get(), 100);
});

t.test('100 000 pixel hits write nothing one by one, and are told apart exactly after the flush', async (t) => {
  const people = Array.from({ length: 40 }, (_, at) => ({ email: `p${at}@example.org` }));
  const { app } = await started(t, {}, { people });
  const rows = app.db
    .prepare<[], RecipientIds>(
      `SELECT d.id AS delivery, mailing_id AS mailing, address_id AS address, 1 AS "group", m.user_id AS user, a.compared_email AS email
       FROM deliveries d JOIN mailings m ON m.id = mailing_id JOIN addresses a ON a.id = address_id WHERE owner_kind = 'single'`,
    )
    .all();
  const hits = new HitBuffer(app.db);
  const at = app.clock.now().getTime() + 60_000;
  const changes = app.db.prepare<[], number>('SELECT total_changes()').pluck();
  const before = changes.get();
  for (let hit = 0; hit < 100_000; hit++) {
    const ids = rows[hit % 37];
    if (ids !== undefined) hits.add({ ids, link: null, at, isMachine: false });
  }
  t.equal(changes.get(), before, 'a hit is no write');
  app.db.pragma('synchronous = OFF');
  while (hits.flush(at));
  t.match(counters(app), { unique_opens: 37, total_opens: 3700 }, 'a hundred of each person count');
  t.equal(app.db.prepare("SELECT count(*) FROM events WHERE kind = 'open'").pluck().get(), 3700);
});

t.test('a hundred opens and a hundred clicks of one recipient count, and leave no more rows', async (t) => {
  const people = Array.from({ length: 2 }, (_, at) => ({ email: `p${at}@example.org` }));
  const { app, mails, utr } = await started(t, {}, { people });
  const [first, second] = mails;
  app.clock.advance(60_000);
  for (let visit = 0; visit < 300; visit++) {
    await app.page('GET', first?.paths.o ?? '');
    await app.page('GET', first?.paths.c ?? '');
  }
  await app.page('GET', second?.paths.o ?? '');
  await app.page('GET', second?.paths.c ?? '');
  await flushed(app);
  t.match(counters(app), { unique_opens: 2, total_opens: 101 });
  const kinds = app.db.prepare('SELECT kind, count(*) FROM events GROUP BY 1 ORDER BY 1').raw().all();
  t.strictSame(kinds, [
    ['click', 101],
    ['open', 101],
  ]);
  const { report } = (await app.one.call('GET', '/single-send/report', { query: { utr } })).body.message;
  t.strictSame([report.opens_by_hour[0].count, report.top_links[0].clicks], [101, 101], 'the report says the same');
});

t.test('an open waits until its mail is accepted, so opens never pass deliveries', async (t) => {
  const { app, o } = await started(t);
  app.db.exec("UPDATE deliveries SET state = 1; UPDATE mailings SET delivered = 0 WHERE owner_kind = 'single'");
  await app.page('GET', o);
  await flushed(app);
  t.match(counters(app), { delivered: 0, unique_opens: 0 });
  app.db.exec("UPDATE deliveries SET state = 2; UPDATE mailings SET delivered = 1 WHERE owner_kind = 'single'");
  await flushed(app);
  t.match(counters(app), { delivered: 1, unique_opens: 1 });
  app.db.exec('UPDATE deliveries SET state = 3');
  await app.page('GET', o);
  await flushed(app);
  t.match(counters(app), { unique_opens: 1, total_opens: 1 }, 'a mail that came back was not opened');
});

t.test('hits of machines are told apart from those of people', async (t) => {
  const { app, o, c } = await started(t);
  const machines = () => app.db.prepare('SELECT is_machine FROM events ORDER BY id').pluck().all();
  const visit = async (path: string, agent: string) => {
    await app.page('GET', path, { headers: { 'user-agent': agent } });
    await flushed(app);
  };
  await visit(o, PERSON);
  t.strictSame(machines(), [1], 'in the moment of hand-off');
  app.clock.advance(60_000);
  await visit(o, PERSON);
  await visit(o, 'Mozilla/5.0');
  await visit(o, 'Mozilla/5.0 (Windows NT 5.1) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)');
  await visit(c, PERSON);
  await visit(c, 'AcmeScanner/1.0 scanner');
  t.strictSame(machines(), [1, 0, 1, 1, 0, 1]);
});

t.test('TRACKING=off: no pixel, no rewritten link', async (t) => {
  const { mail } = await started(t, { TRACKING: 'off' });
  t.notOk(mail.paths.o ?? mail.paths.c);
  t.match(mail.html, 'https://shop.example/new?for=Anna');
});

t.test('tracking off for one mail: no pixel, no rewritten link, in its test and its copy neither', async (t) => {
  const { app, utr } = await started(t);
  const must = mustSucceed(t, app.one);
  const report = async (of: string) =>
    (await app.one.call('GET', '/single-send/report', { query: { utr: of } })).body.message.report;
  t.equal((await report(utr)).tracking, 1);
  const plain = await sendAgain(t, app, utr, { tracking: 0 });
  t.equal((await report(plain)).tracking, 0);
  await must('/single/send/test', { utr: plain, email_address: 'tester@example.net' });
  app.clock.advance(11_000);
  await app.background();
  const untracked = (await readOutbox(app)).slice(1);
  t.equal(untracked.length, 2);
  for (const { paths, html } of untracked) {
    t.notOk(paths.o ?? paths.c);
    t.match(html, /https:\/\/shop\.example\/new\?for=/);
  }
  t.equal(app.db.prepare('SELECT count(*) FROM links').pluck().get(), 1, 'just the first send’s');

  await app.one.call('GET', '/single/send/duplicate', { query: { utr: plain } });
  const { body } = await app.one.call('GET', '/single-send/list');
  const copy = body.message.singleSends.at(-1);
  t.notOk('tracking' in copy, 'the record of the interface stays as it is');
  t.equal((await report(copy.utr)).tracking, 0, 'a copy keeps it');
  const change = (more: object) => must('/single/send/update', { utr: copy.utr, ...fieldsOf(copy), ...more });
  await change({});
  t.equal((await report(copy.utr)).tracking, 0, 'an update without it keeps it');
  await change({ tracking: '' });
  t.equal((await report(copy.utr)).tracking, 1, 'an empty one clears it');
  const wrong = await app.one.call('POST', '/single/send/update', {
    form: { utr: copy.utr, ...fieldsOf(copy), tracking: 'some' },
  });
  t.match([wrong.status, wrong.body.errors], [422, { tracking: [/invalid/] }]);
});

t.test('tracking off for one mail of an automation, and only for that', async (t) => {
  const { app } = await started(t);
  const must = mustSucceed(t, app.one);
  const { utr } = (await must('/automations/create', {
    type: 'welcome',
    automation_for: 'contacts_1',
    automation_name: 'Welcome',
    unsubscribe_group_id: 1,
  })) as { utr: string };
  const schedule = {
    utr,
    sender_id: 1,
    waiting_period: 1,
    waiting_type: 'instantly',
    template_id: 1,
    preview_img: 'b.png',
  };
  const template_html = '<a href="https://shop.example/">news</a>';
  await must('/automations/schedule/create', { ...schedule, subject: 'Quiet', template_html, tracking: 'off' });
  await must('/automations/schedule/create', { ...schedule, subject: 'Counted', template_html });
  t.equal((await app.one.call('GET', '/automations/set-live', { query: { utr } })).status, 200);
  await must('/contacts/add', { contact_type_id: 1, first_name: 'Bo', country: 1, email: 'bo@example.org' });
  await app.background();
  const mails = (await readOutbox(app)).slice(1);
  t.strictSame(
    mails.map(({ subject, paths }) => [subject, paths.o !== undefined, paths.c !== undefined]),
    [
      ['Quiet', false, false],
      ['Counted', true, true],
    ],
  );
  const { body } = await app.one.call('GET', '/automations/report', { query: { utr } });
  t.match(body.message.report.mails, [{ tracking: 0 }, { tracking: 1 }]);
});

t.test('a click leads where the mailing says, merged with today’s values, and is counted', async (t) => {
  const { app, utr, c } = await started(t);
  const click = async (path: string) => {
    const { status, headers } = await app.page('GET', path);
    return [status, headers.location, headers['cache-control']];
  };
  t.strictSame(await click(c), [302, 'https://shop.example/new?for=Anna', 'no-store']);
  app.db.exec("UPDATE contacts SET first_name = 'Ann & Bo'");
  t.strictSame(await click(c), [302, 'https://shop.example/new?for=Ann%20%26%20Bo', 'no-store']);
  const token = c.split('/')[2];
  for (const path of [`/c/${token}/1`, `/c/${token}/-1`, `/c/${token}/0x0`, `/c/x${token}/0`, `/c/${token}`]) {
    t.strictSame((await click(path)).slice(0, 2), [404, undefined], path);
  }
  t.strictSame((await click(`${c}?url=https://evil.example`))[1], 'https://shop.example/new?for=Ann%20%26%20Bo');
  await flushed(app);
  const { body } = await app.one.call('GET', '/single-send/report', { query: { utr } });
  t.match(body.message.report.top_links, [{ clicks: 3 }]);
});
