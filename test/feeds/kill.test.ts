/** Feeds of the built program as a process that is killed at any moment. `KILLS=1000` makes it as long as wanted. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { rss } from '../support/feed-site.ts';
import { Service, startSink } from '../support/service.ts';
import { addReaders } from '../support/service-campaign.ts';
import { wallClock } from '../support/wall-clock.ts';

const KILLS = Number(process.env.KILLS ?? 3);
const MAX_WAIT_MS = 60_000;
/** A day, after which a digest is made, takes four seconds, and the least time between two requests for a feed almost none. */
const TIMES = 20_000;
const SENT = 3;

/** A site whose feeds have some more items at each request while they grow. */
async function startGrowing(t: Test) {
  const site = { url: '', isGrowing: false, asked: 0, items: new Map<string, number>() };
  const server = createServer(({ url = '' }, reply) => {
    const count = (site.items.get(url) ?? 1) + (site.isGrowing ? 3 : 0);
    site.items.set(url, count);
    site.asked++;
    reply.end(rss(Array.from({ length: count }, (_, at) => `${count - at}.`)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  site.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return site;
}

t.test('no kill loses an item of a feed or makes two mails of one, alone and in digests', async (t) => {
  const [site, sink] = [await startGrowing(t), await startSink(t)];
  const service = new Service(t, {
    ...{ WEBHOOK_PRIVATE_ADDRESSES: 'allow', SMTP_URL: sink.url, SENDER_VERIFICATION: 'optional' },
    ...wallClock(Date.now(), TIMES),
  });
  const list = async <Row>(path: string, name: string) =>
    ((await service.get(path)).message as Record<string, Row[]>)[name] ?? [];
  const feeds = () => list<{ read_at: string | null; waiting: number }>('/feeds', 'feeds');
  const sends = () =>
    list<{ status: number; subject: string; template_html: string }>('/single-send/list', 'singleSends');
  const until = async (isReached: () => Promise<boolean>) => {
    for (const end = Date.now() + MAX_WAIT_MS; !(await isReached()); await setTimeout(20))
      if (Date.now() > end) throw new Error(`it does not go on with ${JSON.stringify(await feeds())}`);
  };
  await service.start();
  const mail = { ...(await addReaders(service, 1)), template_id: '0' };
  for (const [rhythm, subject] of [
    ['item', '((item_title))'],
    ['daily', 'Digest'],
  ] as const)
    await service.post('/feeds/save', { ...mail, feed_name: rhythm, url: `${site.url}/${rhythm}`, rhythm, subject });
  await until(async () => (await feeds()).every(({ read_at }) => read_at !== null));
  site.isGrowing = true;
  for (let kill = 0; kill < KILLS; kill++) {
    const asked = site.asked + 2;
    await until(async () => site.asked >= asked);
    await setTimeout(Math.random() * 300);
    await service.end('SIGKILL');
    await service.start();
  }
  site.isGrowing = false;
  const itemsOf = (rhythm: string) =>
    Array.from({ length: (site.items.get(`/${rhythm}`) ?? 0) - 1 }, (_, at) => `Item ${at + 2}.`).sort();
  const sent = async () => {
    const made = await sends();
    const alone = made.map(({ subject }) => subject).filter((subject) => subject !== 'Digest');
    const digests = made.filter(({ subject }) => subject === 'Digest');
    const inDigests = digests.flatMap(({ template_html: html }) => html.match(/Item \d+\./g) ?? []);
    return { alone: alone.sort(), inDigests: inDigests.sort(), made };
  };
  await until(async () => {
    const { alone, inDigests } = await sent();
    return alone.length >= itemsOf('item').length && inDigests.length >= itemsOf('daily').length;
  });
  // What was sent is still in the feeds.
  const asked = site.asked + 6;
  await until(async () => site.asked >= asked && (await sends()).every(({ status }) => status === SENT));
  const { alone, inDigests, made } = await sent();
  t.strictSame(alone, itemsOf('item'), 'each item has one mail');
  t.strictSame(inDigests, itemsOf('daily'), 'each item is in one digest');
  // A mail that was being handed over at a kill may come twice, and is the same then.
  const mails = sink.mails.filter(({ to }) => to === 'reader0@example.org');
  const ids = new Set(mails.map(({ raw }) => /^Message-ID: (\S+)/im.exec(raw.toString())?.[1]));
  t.equal(ids.size, made.length, `${mails.length} mails came`);
});
