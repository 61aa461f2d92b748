/** The background ends while it has nothing to do, and is there again for whatever comes. */
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { readConfig } from '../../src/config.ts';
import { connect } from '../../src/database/open.ts';
import { WriteLock } from '../../src/database/write-lock.ts';
import { holdForSettings, holdSending, lastBeatAt, sendingHeldReason } from '../../src/delivery/queue/holds.ts';
import { KeptThread } from '../../src/threads/kept-thread.ts';
import { nextWorkAt } from '../../src/threads/next-work.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { withWelcomeSeries } from '../support/automations.ts';
import { mustSucceed, sendCampaign } from '../support/campaign.ts';
import { rss, startSite } from '../support/feed-site.ts';
import { seededCopy } from '../support/seeded-copy.ts';
import { addContact, startWithFields, storeSegment } from '../support/segments.ts';
import { SHOP_SENDER } from '../support/sender.ts';
import { createSend, outboxOf, readyToSend } from '../support/single-sends.ts';
import { ownTemporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** In how many minutes there is something to do, as the background says it; 0: now. */
const restOf = ({ db, clock }: TestApp) => (nextWorkAt(db, clock.now().getTime()) - clock.now().getTime()) / MINUTE;

t.test('without anything to do the background rests for an hour', async (t) => {
  const app = await startApp(t);
  await app.background();
  t.equal(restOf(app), 60);
});

t.test('it rests until a single send is to be launched, and not while recipients wait', async (t) => {
  const { app, body } = await readyToSend(t);
  await app.background();
  t.equal(restOf(app), 60);
  await createSend(app, { ...body, schedule_type: 1, schedule_date: '2026-01-15', schedule_time: '09:25:00' });
  await app.background();
  t.equal(restOf(app), 25);
  app.clock.advance(25 * MINUTE);
  t.equal(restOf(app), 0);
  await app.step();
  t.equal(restOf(app), 0, 'its mailing is under way');
  await app.background();
  t.equal(outboxOf(app).length, 3);
  t.equal(restOf(app), 60);
});

t.test('it rests until the next mail of an automation is due', async (t) => {
  const { app, join, live } = await withWelcomeSeries(t);
  await live();
  await join('ann');
  await app.background();
  t.equal(outboxOf(app).length, 1);
  app.clock.advance(47.5 * HOUR);
  await app.background();
  t.equal(restOf(app), 30);
  app.clock.advance(30 * MINUTE);
  t.equal(restOf(app), 0);
  await app.background();
  t.equal(outboxOf(app).length, 2);
});

t.test(
  'it rests until a segment with a rule about time is looked at again, and not while one is recomputed',
  async (t) => {
    const app = await startWithFields(t);
    await addContact(app, 'ann@example.org');
    await storeSegment(app, ['seen', 'is within', '1']);
    await app.background();
    app.clock.advance(20 * MINUTE);
    await app.background();
    t.equal(restOf(app), 40);
    app.db.exec('UPDATE segments SET recompute_after = 0');
    t.equal(restOf(app), 0);
  },
);

t.test('it rests until a feed is to be asked again', async (t) => {
  const site = await startSite(t);
  const app = await startApp(t, { WEBHOOK_PRIVATE_ADDRESSES: 'allow' });
  site.answer = (reply) => reply.end(rss([1]));
  const must = mustSucceed(t, app.one);
  await must('/unsubscribes-groups/save', { group_name: 'News', description: 'News', is_display: 1 });
  await must('/contacts-type/add', { name: 'Readers' });
  await must('/sender/save', SHOP_SENDER);
  const feed = {
    feed_name: 'Blog',
    url: site.url,
    sender_id: 1,
    unsubscribe_group_id: 1,
    recipient_id: ['contacts_1'],
  };
  await must('/feeds/save', { ...feed, subject: '((item_title))', rhythm: 'item' });
  t.equal(restOf(app), 0);
  await app.background();
  await until(() => app.db.prepare('SELECT read_at FROM feeds').pluck().get() !== null);
  t.equal(restOf(app), 15);
});

t.test('it does not rest while contacts are to be indexed, or an open is to be read', async (t) => {
  const app = await startWithFields(t);
  await app.background();
  await addContact(app, 'ann@example.org');
  t.equal(restOf(app), 0);
  await app.background();
  t.equal(restOf(app), 60);
  const { mails } = await sendCampaign(t, app);
  await app.background();
  t.equal(restOf(app), 60);
  await app.page('GET', mails[0]?.paths.o ?? '');
  await until(() => restOf(app) === 0);
  app.clock.advance(11_000);
  await app.background();
  t.equal(restOf(app), 60);
});

/** The thread of a service that has nothing to do, as it rests; what it says; and another process with the same file. */
async function resting(t: Test) {
  const folder = ownTemporaryFolder(t);
  const path = join(folder, 'test.db');
  seededCopy(path);
  const [db, other] = [connect(path), connect(path)];
  const said: string[] = [];
  const say = (_fields: object, text: string) => said.push(text);
  const thread = new KeptThread({
    ...{ name: 'background', file: 'background-thread', client: db.$client, writes: new WriteLock(db.$client) },
    ...{ config: readConfig({ DATABASE_PATH: path }), resourceLimits: {} },
    // It rests as soon as it has nothing to do, and stays once a write has started it again.
    restsAfterMs: { quiet: 0, written: 60_000 },
    log: { debug: say, info: say, warn: say, error: say },
  });
  t.teardown(async () => {
    await thread.close(1000);
    for (const { $client: client } of [db, other]) client.close();
  });
  thread.start('http://127.0.0.1:1');
  await until(() => said.length > 0);
  t.same(said, [RESTS]);
  return { db, other, said, thread };
}

const RESTS = 'the background thread has nothing to do and rests';
const STARTS = 'the background thread starts again';

t.test('at rest the background starts again for what another process writes, and acts on it', async (t) => {
  const { other, said } = await resting(t);
  // The background ends this hold, since nothing is wrong with the settings.
  holdForSettings(other.$client, 'a fault', Date.now());
  await until(() => sendingHeldReason(other.$client) === null);
  t.same(said, [RESTS, STARTS]);
});

t.test('at rest the background starts again when it is woken', async (t) => {
  const { said, thread } = await resting(t);
  thread.wake();
  t.same(said, [RESTS, STARTS]);
});

t.test(
  'at rest it is noted each minute that the service runs, and the background starts again after an hour',
  async (t) => {
    const { db, said } = await resting(t);
    const now = Date.now;
    t.teardown(() => {
      Date.now = now;
    });
    const before = lastBeatAt(db.$client);
    Date.now = () => now() + MINUTE;
    await until(() => lastBeatAt(db.$client) >= before + MINUTE);
    await setTimeout(1000);
    t.same(said, [RESTS], 'which is no reason to start');
    Date.now = () => now() + HOUR;
    await until(() => said.length > 1);
    t.same(said, [RESTS, STARTS]);
  },
);

t.test('at rest the background starts again when the clock is set back', async (t) => {
  const { said } = await resting(t);
  const now = Date.now;
  t.teardown(() => {
    Date.now = now;
  });
  Date.now = () => now() - HOUR;
  await until(() => said.length > 1);
  t.same(said, [RESTS, STARTS]);
});

t.test('at rest what another process writes is seen, even while it is noted that the service runs', async (t) => {
  const { db, other } = await resting(t);
  const now = Date.now;
  t.teardown(() => {
    Date.now = now;
  });
  const { prepare } = db.$client;
  let isWritten = false;
  // The first statement that is new to this connection is that of the note.
  t.capture(db.$client, 'prepare', (text: string) => {
    if (!isWritten) holdForSettings(other.$client, 'a fault', now());
    isWritten = true;
    return prepare.call(db.$client, text);
  });
  Date.now = () => now() + MINUTE;
  await until(() => isWritten && sendingHeldReason(other.$client) === null);
});

t.test('a hold that began while the background rested is logged', async (t) => {
  const { other, said } = await resting(t);
  holdSending(other.$client, 'a restore');
  await until(() => said.includes('sending held'));
  t.same(said, [RESTS, STARTS, 'sending held']);
});

t.test('at rest the background starts again where the file cannot be read, and tells what is wrong', async (t) => {
  const { db, said } = await resting(t);
  db.$client.close();
  await until(() => said.includes(STARTS));
  t.same(said, [RESTS, STARTS]);
});
