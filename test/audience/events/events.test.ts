/** Events that other programs report about contacts: what is recorded, what is refused, and where they show. */
import t, { type Test } from 'tap';
import { removeOldContactEvents } from '../../../src/audience/events/old-events.ts';
import { type Answer, startApp, type TestApp } from '../../support/app.ts';
import { DAY } from '../../support/automations.ts';
import { planned } from '../../support/query-plans.ts';
import { describedData } from '../../support/webhooks/described.ts';

const PEOPLE = ['ann', 'bo', 'cy'];

async function start(t: Test, settings: Record<string, string> = {}): Promise<TestApp> {
  const app = await startApp(t, settings);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Customers' } });
  for (const name of PEOPLE) await addContact(app, `${name}@example.com`);
  return app;
}

const addContact = ({ one }: TestApp, email: string) =>
  one.call('POST', '/contacts/add', { form: { contact_type_id: 1, country: 1, first_name: 'P', email } });

const report = ({ one }: TestApp, json: unknown): Promise<Answer> => one.call('POST', '/events', { json });

const stored = ({ db }: TestApp) =>
  db
    .prepare<[], object>(
      'SELECT a.normalized_email AS email, w.word AS name, e.happened_at AS at, e.event_key AS key, e.value, e.currency FROM contact_events e JOIN addresses a ON a.id = e.address_id JOIN event_words w ON w.id = e.name_id ORDER BY e.id',
    )
    .all();

async function timeline(app: TestApp, contact_id: number, query = {}) {
  const { body } = await app.one.call('GET', '/contacts/timeline', { query: { contact_id, ...query } });
  return body.message;
}

async function segment(app: TestApp, ...rules: [field: string, operator: string, ...values: string[]][]) {
  const { status, body, text } = await app.one.call('POST', '/segment/store', {
    json: {
      segment_name: 'S',
      contact_type_id: 1,
      select_field: rules.map(([field]) => field),
      select_operator: rules.map(([, operator]) => operator),
      value: rules.flatMap(([, , ...values]) => values),
    },
  });
  if (status !== 200) throw new Error(text);
  return Number(body.message.match(/\d+/)?.[0] ?? app.db.prepare('SELECT max(id) FROM segments').pluck().get());
}

const members = ({ db }: TestApp, id: number) =>
  db
    .prepare<[number], string>(
      'SELECT email FROM segment_recipients WHERE segment_id = ? AND is_removed = 0 ORDER BY email',
    )
    .pluck()
    .all(id)
    .map((email) => email.split('@')[0]);

t.test(
  'one event or a list is recorded, by address in any spelling or by id, with its time, value and properties',
  async (t) => {
    const app = await start(t);
    const { body } = await app.one.call('POST', '/events', {
      form: {
        email: ' ANN@Example.com ',
        name: 'purchase',
        value: '49.9',
        currency: 'eur',
        'properties[category]': 'shoes',
      },
    });
    t.strictSame(body.message, { recorded: 1, repeated: 0, created: 0, unknown: [] });
    const list = await report(app, {
      events: [
        { contact_id: 2, name: 'login', at: '2026-01-14T09:00:00+01:00' },
        { contact_id: '3', name: 'purchase', value: 5, properties: { size: 42, gift: true, none: null } },
      ],
    });
    t.strictSame(list.body.message, { recorded: 2, repeated: 0, created: 0, unknown: [] });
    const now = app.clock.now().getTime();
    t.strictSame(stored(app), [
      { email: 'ann@example.com', name: 'purchase', at: now, key: null, value: 49.9, currency: 'EUR' },
      { email: 'bo@example.com', name: 'login', at: Date.UTC(2026, 0, 14, 8), key: null, value: null, currency: null },
      { email: 'cy@example.com', name: 'purchase', at: now, key: null, value: 5, currency: null },
    ]);
    const { moments } = await timeline(app, 3);
    t.match(moments[0], {
      kind: 'event',
      name: 'purchase',
      value: 5,
      currency: null,
      properties: { size: '42', gift: 'true' },
    });
  },
);

t.test('an event with a key is recorded once per account, however often it is reported', async (t) => {
  const app = await start(t);
  const order = { email: 'ann@example.com', name: 'purchase', key: 'order-1', value: 10 };
  t.match((await report(app, order)).body.message, { recorded: 1, repeated: 0 });
  t.match((await report(app, { events: [order, order, { ...order, key: 'order-2' }] })).body.message, {
    recorded: 1,
    repeated: 2,
  });
  t.match((await report(app, { ...order, key: ' order-1 ' })).body.message, { recorded: 0, repeated: 1 }, 'trimmed');
  t.match(app.db.prepare('SELECT events, value FROM event_totals').all(), [{ events: 2, value: 20 }]);
  t.match(app.db.prepare("SELECT events FROM event_words WHERE word = 'purchase'").all(), [{ events: 2 }]);
});

t.test(
  'an unknown contact, one of another account too, is named by its index and added only where a list is given',
  async (t) => {
    const app = await start(t);
    await app.two.call('POST', '/contacts-type/add', { form: { name: 'Theirs' } });
    const theirList = Number(app.db.prepare('SELECT max(id) FROM contact_types').pluck().get());
    await app.two.call('POST', '/contacts/add', {
      form: { contact_type_id: theirList, country: 1, first_name: 'T', email: 'their@example.com' },
    });
    const theirs = app.db.prepare("SELECT id FROM contacts WHERE email = 'their@example.com'").pluck().get();
    const events = [
      { contact_id: theirs, name: 'a' },
      { contact_id: 999_999, name: 'a' },
      { contact_id: '12abc', name: 'a' },
      { email: 'their@example.com', name: 'a' },
      { email: 'ann@example.com', name: 'a' },
    ];
    t.strictSame((await report(app, { events })).body.message, {
      recorded: 1,
      repeated: 0,
      created: 0,
      unknown: [0, 1, 2, 3],
    });
    t.equal((await report(app, { events, contact_type_id: theirList })).status, 422, 'a list of another account');
    t.strictSame((await report(app, { events, contact_type_id: 1 })).body.message, {
      recorded: 2,
      repeated: 0,
      created: 1,
      unknown: [0, 1, 2],
    });
    t.equal(app.db.prepare('SELECT contacts_count FROM contact_types WHERE id = 1').pluck().get(), 4);
  },
);

t.test(
  'a hostile or malformed event is refused by its field, and then nothing of the request is recorded',
  async (t) => {
    const app = await start(t);
    const good = { email: 'ann@example.com', name: 'purchase' };
    const many = Object.fromEntries(Array.from({ length: 31 }, (_, at) => [`p${at}`, at]));
    const wrong: [field: string, event: object][] = [
      ['name', { name: '' }],
      ['name', { name: 'x'.repeat(65) }],
      ['name', { name: 'ann@example.com' }],
      ['name', { name: 'a=b' }],
      ['name', { name: 'a\u2028b' }],
      ['name', { name: { a: 1 } }],
      ['email', { email: 'nobody' }],
      ['email', { email: ['ann@example.com'] }],
      ['at', { at: '2026-01-14' }],
      ['at', { at: '2026-01-14T09:00:00' }],
      ['at', { at: '2025-02-30T09:00:00Z' }],
      ['at', { at: '2026-01-17T09:00:01Z' }],
      ['at', { at: '1999-12-31T23:59:59Z' }],
      ['at', { at: 1_768_000_000 }],
      ['key', { key: 'k'.repeat(256) }],
      ['key', { key: 7 }],
      ['value', { value: 'NaN' }],
      ['value', { value: 1e13 }],
      ['value', { value: '1e3' }],
      ['value', { value: [1] }],
      ['currency', { currency: 'EURO' }],
      ['properties', { properties: many }],
      ['properties', { properties: ['a'] }],
      ['properties', { properties: { a: { b: 1 } } }],
      ['properties', { properties: { a: 'x'.repeat(256) } }],
      ['properties', { properties: { value: 1 } }],
      ['properties', { properties: { 'a@b.example': 1 } }],
    ];
    for (const [field, event] of wrong) {
      const { status, body } = await report(app, { events: [good, { ...good, ...event }] });
      const title = JSON.stringify(event).replaceAll('\u2028', ' line separator ');
      t.equal(status, 422, title);
      t.strictSame(Object.keys(body.errors ?? {}), [`events.1.${field}`], title);
    }
    const raw = async (payload: string) =>
      (
        await app.fastify.inject({
          method: 'POST',
          url: '/api/events',
          headers: { ...app.one.headers, 'content-type': 'application/json' },
          payload,
        })
      ).statusCode;
    const withText = (text: string) => `{"events":[{"email":"ann@example.com","name":"purchase",${text}}]}`;
    t.equal(await raw(withText('"value":1e999')), 422, 'an infinite value');
    t.equal(await raw(withText('"properties":{"a":-1e999}')), 422, 'an infinite property');
    t.equal(await raw(withText('"properties":{"__proto__":{"a":1}}')), 400, 'a prototype');
    t.equal((await report(app, { events: [] })).status, 422, 'no events');
    t.equal((await report(app, { events: Array(1001).fill(good) })).status, 422, 'too many events');
    t.equal((await report(app, { events: [good, 7] })).status, 422, 'an event that is none');
    t.equal((await report(app, {})).status, 422, 'nothing');
    t.strictSame(stored(app), []);
    t.equal((await report(app, { ...good, properties: { constructor: 'c', toString: 's' } })).status, 200);
    t.match((await timeline(app, 1)).moments[0].properties, { constructor: 'c', toString: 's' });
  },
);

t.test('an account has at most 1 000 names, and the event with one more is not recorded', async (t) => {
  const app = await start(t);
  const events = Array.from({ length: 1000 }, (_, at) => ({ contact_id: 1, name: `n${at}` }));
  t.equal((await report(app, { events })).status, 200);
  const refused = await report(app, {
    events: [
      { contact_id: 1, name: 'n0' },
      { contact_id: 1, name: 'other' },
    ],
  });
  t.equal(refused.status, 422);
  t.equal(stored(app).length, 1000);
  t.equal((await report(app, { contact_id: 1, name: 'n7' })).status, 200, 'names that are known');
});

t.test(
  'rules count events and add up their values in so many days, by property, and ever; others do not match',
  async (t) => {
    const app = await start(t);
    const ids = {
      twice: await segment(app, ['event.purchase', 'happened at least', '2', '30']),
      fewer: await segment(app, ['event.purchase', 'happened fewer than', '1', '30']),
      hundred: await segment(app, ['event.purchase', 'totals at least', '100', '30']),
      less: await segment(app, ['event.purchase', 'totals less than', '100.5', '30']),
      shoes: await segment(app, ['Event.purchase', 'happened at least with', '1', '30', 'category = SHOES']),
      noShoes: await segment(app, ['event.purchase', 'happened at least with', '1', '30', 'category != shoes']),
      large: await segment(app, ['event.purchase', 'happened at least with', '1', '30', 'size > 41']),
      euros: await segment(app, ['event.purchase', 'totals at least with', '60', '30', 'currency = EUR']),
      dear: await segment(app, ['event.purchase', 'happened at least with', '1', '30', 'value >= 60']),
      ever: await segment(app, ['event.purchase', 'has happened']),
      never: await segment(app, ['event.purchase', 'has never happened']),
    };
    t.strictSame(members(app, ids.never), PEOPLE);
    t.strictSame(members(app, ids.less), PEOPLE);
    await report(app, {
      events: [
        { contact_id: 1, name: 'purchase', value: 60, currency: 'EUR', properties: { category: 'Shoes', size: '42' } },
        { contact_id: 1, name: 'purchase', value: 40.5, currency: 'USD', properties: { category: 'hats', size: 5 } },
        { contact_id: 2, name: 'purchase', at: '2025-12-10T00:00:00Z', value: 500, properties: { category: 'shoes' } },
        { contact_id: 3, name: 'refund', value: 500 },
      ],
    });
    await app.background();
    const found = Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, members(app, id)]));
    t.strictSame(found, {
      twice: ['ann'],
      fewer: ['bo', 'cy'],
      hundred: ['ann'],
      less: ['bo', 'cy'],
      shoes: ['ann'],
      noShoes: ['ann'],
      large: ['ann'],
      euros: ['ann'],
      dear: ['ann'],
      ever: ['ann', 'bo'],
      never: ['cy'],
    });
    // After thirty days the first purchases are out of reach.
    for (let day = 0; day < 31; day += 3) {
      app.clock.advance(3 * DAY);
      await app.background();
    }
    t.strictSame(members(app, ids.twice), []);
    t.strictSame(members(app, ids.fewer), PEOPLE);
    t.strictSame(members(app, ids.ever), ['ann', 'bo']);
  },
);

t.test('filters compare numbers as numbers, and a text such as a date is no number', async (t) => {
  const app = await start(t);
  const passing = async (filter: string) =>
    members(app, await segment(app, ['event.purchase', 'happened at least with', '1', '30', filter]));
  await report(app, {
    events: [
      { contact_id: 1, name: 'purchase', value: 50, properties: { price: 49.9, code: '007', on: '2024-05-01' } },
      { contact_id: 2, name: 'purchase', value: 49.9, properties: { price: '49.90', code: 7, on: '-12.5' } },
    ],
  });
  await app.background();
  t.strictSame(await passing('value = 50'), ['ann']);
  t.strictSame(await passing('value = 50.0'), ['ann']);
  t.strictSame(await passing('value != 50'), ['bo']);
  t.strictSame(await passing('price = 49.90'), ['ann', 'bo']);
  t.strictSame(await passing('code = 7'), ['bo'], 'a text is compared as it is written');
  t.strictSame(await passing('code = 007'), ['ann', 'bo']);
  t.strictSame(await passing('on > -13'), ['bo']);
  t.strictSame(await passing('on < 2025'), ['bo'], 'a date is not smaller than a number');
});

t.test('a rule about events whose operands are malformed is refused', async (t) => {
  const app = await start(t);
  const wrong: [string, string, ...string[]][] = [
    ['event.purchase', 'happened at least', '0', '30'],
    ['event.purchase', 'happened at least', '1.5', '30'],
    ['event.purchase', 'happened at least', '1', '0'],
    ['event.purchase', 'happened at least', '1', '36501'],
    ['event.purchase', 'totals at least', 'NaN', '30'],
    ['event.purchase', 'happened at least with', '1', '30', 'category'],
    ['event.purchase', 'happened at least with', '1', '30', 'size > large'],
    ['event.purchase', 'happened at least with', '1', '30', '= x'],
    ['event.purchase', 'is', 'x'],
    ['event.', 'has happened'],
    ['event.a@b', 'has happened'],
  ];
  for (const rule of wrong) await t.rejects(segment(app, rule), rule.join(' '));
});

t.test('a kill between recording and the segments loses nothing: the next start goes on', async (t) => {
  const app = await start(t);
  const id = await segment(app, ['event.purchase', 'has happened']);
  await app.background();
  await report(app, { contact_id: 1, name: 'purchase' });
  app.restartBackground();
  await app.background();
  t.strictSame(members(app, id), ['ann']);
});

t.test('the timeline has events among the other moments, page by page, each once', async (t) => {
  const app = await start(t);
  const now = app.clock.now().getTime();
  const events = Array.from({ length: 25 }, (_, at) => ({
    contact_id: 1,
    name: `e${String(at).padStart(2, '0')}`,
    // Five at the same moment each time.
    at: new Date(now - Math.floor(at / 5) * 60_000).toISOString(),
  }));
  await report(app, { events });
  const seen: string[] = [];
  for (let after: string | undefined; ; ) {
    const page = await timeline(app, 1, { limit: 7, ...(after && { after }) });
    seen.push(
      ...page.moments.map(({ kind, name }: { kind: string; name: string }) => (kind === 'event' ? name : kind)),
    );
    if (page.next === null) break;
    after = page.next;
  }
  t.strictSame(seen.filter((name) => /^e\d/.test(name)).sort(), events.map(({ name }) => name).sort());
  t.equal(new Set(seen).size, seen.length);
});

t.test(
  'EVENTS_DAYS removes events, the counters of contacts and names stay, and the timeline says since when',
  async (t) => {
    const app = await start(t, { EVENTS_DAYS: '30' });
    const ever = await segment(app, ['event.purchase', 'has happened']);
    await report(app, { contact_id: 1, name: 'purchase', value: 7, key: 'k' });
    await report(app, { contact_id: 2, name: 'purchase', value: 7, at: '2025-12-17T00:00:00Z' });
    for (let day = 0; day < 30; day += 3) {
      app.clock.advance(3 * DAY);
      await app.background();
    }
    t.equal(stored(app).length, 1, 'the older one');
    app.clock.advance(2 * DAY);
    await app.background();
    t.equal(stored(app).length, 0);
    t.match(app.db.prepare('SELECT sum(events) AS events, sum(value) AS value FROM event_totals').get(), {
      events: 2,
      value: 14,
    });
    t.strictSame(members(app, ever), ['ann', 'bo']);
    t.match(await timeline(app, 1), { events_removed_before: /^2026-/ });
  },
);

t.test('events are recorded, followed, read and removed by their indices', async (t) => {
  const app = await start(t);
  const id = await segment(app, ['event.purchase', 'happened at least with', '1', '30', 'size = 42']);
  const plans = await planned(async () => {
    await report(app, { contact_id: 1, name: 'purchase', key: 'k', properties: { size: 42 } });
    await report(app, { contact_id: 2, name: 'purchase', key: 'k2' });
    await app.background();
    await timeline(app, 1);
    removeOldContactEvents(app.db, 0, 10);
  });
  t.strictSame(members(app, id), ['ann']);
  const about = plans.filter(({ text }) => /\b(contact_events|event_totals|event_words)\b/.test(text));
  t.ok(about.length > 5, `${about.length} statements`);
  for (const { text, steps } of about)
    t.notOk(
      steps.some((step) => /^SCAN (v|contact_events|event_totals|w|event_words)\b/.test(step)),
      `${text}: ${steps}`,
    );
});

t.test('erasing a person removes their events everywhere, and their address from the events of others', async (t) => {
  const app = await start(t, { WEBHOOK_PRIVATE_ADDRESSES: 'allow' });
  await app.one.call('POST', '/webhooks/save', { form: { url: 'http://127.0.0.1:1/', 'events[]': 'contact.event' } });
  await report(app, {
    events: [
      { email: 'ann@example.com', name: 'purchase', key: 'canary-1', properties: { note: 'canary-note' } },
      {
        email: 'bo@example.com',
        name: 'invite',
        key: 'for ann@example.com',
        properties: { by: 'Ann <ANN@example.com>' },
      },
    ],
  });
  t.equal(app.db.prepare("SELECT count(*) FROM webhook_events WHERE type = 'contact.event'").pluck().get(), 2);
  const exported = await app.one.call('GET', '/contacts/person/export', { query: { contact_id: 1 } });
  t.match(exported.text, /canary-note/);
  t.equal((await app.one.call('POST', '/contacts/person/erase', { form: { contact_id: 1 } })).status, 200);
  const everything = JSON.stringify(
    ['contact_events', 'event_totals', 'event_words', 'webhook_events'].map((table) =>
      app.db.prepare(`SELECT * FROM ${table}`).all(),
    ),
  );
  t.notMatch(everything, /canary|ann@example/i);
  t.equal(stored(app).length, 1);
  t.equal(
    (await report(app, { email: 'ann@example.com', name: 'purchase', contact_type_id: 1 })).body.message.created,
    0,
  );
});

t.test('a webhook gets an event with its name, value and properties', async (t) => {
  const app = await start(t, { WEBHOOK_PRIVATE_ADDRESSES: 'allow' });
  await app.one.call('POST', '/webhooks/save', { form: { url: 'http://127.0.0.1:1/', 'events[]': 'contact.event' } });
  await report(app, { contact_id: 1, name: 'purchase', value: 3, properties: { size: 42 } });
  await report(app, { contact_id: 1, name: 'login' });
  const data = app.db.prepare<[], string>('SELECT data FROM webhook_events ORDER BY id').pluck().all();
  t.strictSame(
    data.map((text) => describedData(t, 'contact.event', text)),
    [
      {
        email: 'ann@example.com',
        name: 'purchase',
        key: null,
        happened_at: '2026-01-15T09:00:00.000Z',
        value: 3,
        currency: null,
        properties: { size: 42 },
      },
      {
        email: 'ann@example.com',
        name: 'login',
        key: null,
        happened_at: '2026-01-15T09:00:00.000Z',
        value: null,
        currency: null,
        properties: {},
      },
    ],
  );
});
