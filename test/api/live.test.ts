/** The progress of a single send as server-sent events. */
import t, { type Test } from 'tap';
import Schema from 'typebox/schema';
import { startApp } from '../support/app.ts';
import { sendCampaign } from '../support/campaign.ts';
import { operationsOf, readDocument } from '../support/openapi-operations.ts';
import { addPerson, callerOf } from '../support/people.ts';

/** A paused single send to 1 000 people of whom 10 have had it, and what changes its mailing. */
async function underWay(t: Test) {
  const app = await startApp(t);
  const { utr } = await sendCampaign(t, app);
  const change = (sql: string) => app.db.exec(`UPDATE mailings SET ${sql} WHERE owner_kind = 'single'`);
  change("state = 'paused', finished_at = NULL, recipients = 1000, delivered = 10");
  return { app, utr, change };
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
    const streams = Array.from({ length: 20 }, () => app.one.call('GET', '/live', { query: { utr } }));
    await new Promise((resolve) => setTimeout(resolve, 200));
    t.equal((await app.one.call('GET', '/live', { query: { utr } })).status, 429);
    change('failed = 1');
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await app.fastify.close();
    for (const { text } of await Promise.all(streams)) {
      t.strictSame(
        [...text.matchAll(/^data: (.*)$/gm)].map(([, event = '']) => JSON.parse(event).finished),
        [10, 11],
      );
    }
  },
);

t.test('the data of each event has exactly the fields that the OpenAPI document says, none left out', async (t) => {
  const { app, utr, change } = await underWay(t);
  change("state = 'sending'");
  const stream = app.one.call('GET', '/live', { query: { utr } });
  const tick = () => new Promise((resolve) => setTimeout(resolve, 1200));
  await tick();
  app.clock.advance(7000);
  change('delivered = 20');
  await tick();
  change("state = 'held', held_code = 'sender_deleted', held_reason = 'The sender was deleted.'");
  await tick();
  change("state = 'done', finished_at = 1");
  const lines = (await stream).text.trimEnd().split('\n\n');
  t.ok(
    lines.every((line) => /^data: [^\n]+$/.test(line)),
    'events have data alone, in one line',
  );
  const events = lines.map((line) => JSON.parse(line.replace(/^data: /, '')));
  t.match(events, [
    { state: 'sending', rate: 0, seconds_left: null },
    { rate: 1.4, seconds_left: 686 },
    { state: 'held', held_reason: 'The sender was deleted.' },
    { state: 'done' },
  ]);
  const operation = operationsOf(await readDocument(app)).find(({ path }) => path === '/api/live');
  const schema = operation?.responses['200']?.content?.['text/event-stream']?.schema ?? {};
  for (const event of events) {
    t.ok(Schema.Check(schema, event), JSON.stringify(event));
    t.strictSame(Object.keys(event).sort(), Object.keys(schema.properties ?? {}).sort());
    t.strictSame(Object.keys(event).sort(), schema.required?.toSorted());
  }
});

t.test('whoever only follows a progress does not keep their session from ending', async (t) => {
  const { app, utr } = await underWay(t);
  const stream = callerOf(app, addPerson(app, 'viewer')).call('GET', '/live', { query: { utr } });
  await new Promise((resolve) => setTimeout(resolve, 200));
  const seen = app.db.prepare('SELECT last_seen_at FROM sessions').pluck();
  const before = seen.get();
  app.clock.advance(3_600_000);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  t.equal(seen.get(), before);
  app.clock.advance(12 * 3_600_000);
  t.match((await stream).text, /^data: /);
});

t.test('progress is no longer told once the session has ended, or when it cannot be read', async (t) => {
  const { app, utr } = await underWay(t);
  const person = callerOf(app, addPerson(app, 'viewer'));
  const streams = [person, app.one].map((caller) => caller.call('GET', '/live', { query: { utr } }));
  await new Promise((resolve) => setTimeout(resolve, 200));
  app.db.exec('DELETE FROM sessions');
  t.match((await streams[0])?.text, /^data: [^\n]*\n\n$/);
  app.db.exec('ALTER TABLE mailings RENAME TO elsewhere');
  t.match((await streams[1])?.text, /^data: [^\n]*\n\n$/);
  app.db.exec('ALTER TABLE elsewhere RENAME TO mailings');
});
