/** The progress of a single send as server-sent events. */
import t, { type Test } from 'tap';
import Schema from 'typebox/schema';
import { type Caller, startApp, type TestApp } from '../support/app.ts';
import { sendCampaign } from '../support/campaign.ts';
import { operationsOf, readDocument } from '../support/openapi-operations.ts';
import { addPerson, callerOf } from '../support/people.ts';
import { until } from '../support/until.ts';

/** A paused single send to 1 000 people of whom 10 have had it, and what changes its mailing. */
async function underWay(t: Test) {
  const app = await startApp(t);
  const { utr } = await sendCampaign(t, app);
  const change = (sql: string) => app.db.exec(`UPDATE mailings SET ${sql} WHERE owner_kind = 'single'`);
  change("state = 'paused', finished_at = NULL, recipients = 1000, delivered = 10");
  return { app, utr, change };
}

/** Follows a progress; what has come so far, and what has come when the stream ends. */
async function follow(app: TestApp, { headers }: Caller, utr: string) {
  const response = await app.fastify.inject({ url: `/api/live?utr=${utr}`, headers, payloadAsStream: true });
  const stream = response.stream().setEncoding('utf8');
  let text = '';
  stream.on('data', (part) => {
    text += part;
  });
  const told = () => text.split('\n\n').filter((line) => line.startsWith('data: '));
  return {
    events: () => told().map((line) => JSON.parse(line.replace(/^data: /, ''))),
    text: () => text,
    ended: new Promise((resolve) => stream.once('end', resolve)),
  };
}

t.test('progress comes at once as an event and ends with a final state; another account sees nothing', async (t) => {
  const app = await startApp(t);
  const { utr } = await sendCampaign(t, app);
  const { status, headers, text } = await app.one.call('GET', '/live', { query: { utr } });
  t.match([status, headers['content-type']], [200, /^text\/event-stream/]);
  t.match(JSON.parse(text.replace(/^data: /, '')), {
    state: 'kept',
    recipients: 1,
    finished: 1,
    delivered: 1,
    rate: 0,
    seconds_left: null,
  });
  t.equal((await app.two.call('GET', '/live', { query: { utr } })).status, 404);
});

t.test(
  'progress is followed while it changes, by at most twenty of an account, and ends when the service stops',
  async (t) => {
    const { app, utr, change } = await underWay(t);
    const streams = await Promise.all(Array.from({ length: 20 }, () => follow(app, app.one, utr)));
    t.equal((await app.one.call('GET', '/live', { query: { utr } })).status, 429);
    change('failed = 1');
    await until(() => streams.every(({ events }) => events().length > 1));
    await app.fastify.close();
    for (const { events, ended } of streams) {
      await ended;
      t.strictSame(
        events().map(({ finished }) => finished),
        [10, 11],
      );
    }
  },
);

t.test('the data of each event has exactly the fields that the OpenAPI document says, none left out', async (t) => {
  const { app, utr, change } = await underWay(t);
  change("state = 'sending'");
  const stream = await follow(app, app.one, utr);
  app.clock.advance(7000);
  change('delivered = 20');
  await until(() => stream.events().length === 2);
  change("state = 'held', held_code = 'sender_deleted', held_reason = 'The sender was deleted.'");
  await until(() => stream.events().length === 3);
  change("state = 'done', finished_at = 1");
  await stream.ended;
  t.match(stream.text(), /^(data: [^\n]+\n\n)+$/, 'events have data alone, in one line');
  const events = stream.events();
  t.match(events, [
    { state: 'sending', rate: 0, seconds_left: null },
    { rate: 1.4, seconds_left: 686 },
    { state: 'held', held_reason: 'The sender was deleted.' },
    { state: 'done' },
  ]);
  const operation = operationsOf(await readDocument(app)).find(({ path }) => path === '/api/live');
  const event = operation?.responses['200']?.content?.['text/event-stream']?.schema ?? {};
  const { contentMediaType, contentSchema: schema = {} } = event.properties?.data ?? {};
  t.equal(contentMediaType, 'application/json');
  for (const line of stream.text().trim().split('\n\n'))
    t.ok(Schema.Check(event, { data: line.replace(/^data: /, '') }), 'an event is what the document says');
  for (const event of events) {
    t.ok(Schema.Check(schema, event), JSON.stringify(event));
    t.strictSame(Object.keys(event).sort(), Object.keys(schema.properties ?? {}).sort());
    t.strictSame(Object.keys(event).sort(), schema.required?.toSorted());
  }
});

t.test('whoever only follows a progress does not keep their session from ending', async (t) => {
  const { app, utr, change } = await underWay(t);
  const stream = await follow(app, callerOf(app, addPerson(app, 'viewer')), utr);
  const seen = app.db.prepare('SELECT last_seen_at FROM sessions').pluck();
  const before = seen.get();
  app.clock.advance(3_600_000);
  change('failed = 1');
  await until(() => stream.events().length === 2);
  t.equal(seen.get(), before);
  app.clock.advance(12 * 3_600_000);
  await stream.ended;
  t.pass('it ends with the session');
});

t.test('progress is no longer told once the session has ended, or when it cannot be read', async (t) => {
  const { app, utr } = await underWay(t);
  const person = callerOf(app, addPerson(app, 'viewer'));
  const [followed, other] = [await follow(app, person, utr), await follow(app, app.one, utr)];
  app.db.exec('DELETE FROM sessions');
  await followed.ended;
  t.match(followed.text(), /^data: [^\n]*\n\n$/);
  app.db.exec('ALTER TABLE mailings RENAME TO elsewhere');
  await other.ended;
  t.match(other.text(), /^data: [^\n]*\n\n$/);
  app.db.exec('ALTER TABLE elsewhere RENAME TO mailings');
});
