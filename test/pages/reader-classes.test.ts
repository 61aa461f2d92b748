/** Who opened a mail or clicked in it, by the real pixel and links: people, image proxies and machines. */
import t, { type Test } from 'tap';
import { HitBuffer } from '../../src/delivery/feedback/opens-and-clicks.ts';
import { countersOf, flushHits, sentCampaign } from '../support/recipient-links.ts';

const PERSON = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const GMAIL = 'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)';
const LINKS =
  '<a href="https://shop.example/1">a</a> <a href="https://shop.example/2">b</a> <a href="https://shop.example/3">c</a> <a href="((web_copy))">d</a>';

/** A mail with three links that was accepted a minute ago, with what the report says of it. */
async function threeLinks(t: Test) {
  const sent = await sentCampaign(t, {}, { html: LINKS });
  const { app, utr, html } = { ...sent, html: sent.mail.html };
  const clicks = [...html.matchAll(/\/c\/[^"]+/g)].map(([path]) => path);
  const visit = async (path: string, agent = PERSON) => {
    const { status } = await app.page('GET', path, { headers: { 'user-agent': agent } });
    return status;
  };
  const report = async () => {
    flushHits(app);
    return (await app.one.call('GET', '/single-send/report', { query: { utr } })).body.message.report;
  };
  app.clock.advance(60_000);
  return { ...sent, clicks: clicks.slice(0, -1), trap: clicks.at(-1) ?? '', visit, report };
}

t.test('an image proxy of Gmail is a person, except within seconds of the hand-off', async (t) => {
  const { app, o } = await sentCampaign(t);
  const classes = async (agent: string) => {
    await app.page('GET', o, { headers: { 'user-agent': agent } });
    flushHits(app);
    return app.db.prepare('SELECT made_by, by_person FROM events JOIN deliveries d ON d.id = delivery_id').raw().all();
  };
  app.clock.advance(3000);
  t.strictSame(await classes(GMAIL), [[2, 4]], 'it came because the mail arrived');
  t.match(countersOf(app), { unique_opens: 1, total_opens: 1 });
  const { proxied_only } = app.db.prepare("SELECT proxied_only FROM mailings WHERE owner_kind = 'single'").get() as {
    proxied_only: number;
  };
  t.equal(proxied_only, 1);
  app.clock.advance(120_000);
  t.match(await classes(GMAIL), [
    [2, 5],
    [0, 5],
  ]);
});

t.test('the pixel and three links within two seconds are a machine’s, those of a moment ago included', async (t) => {
  const { app, o, clicks, visit, report } = await threeLinks(t);
  t.equal(clicks.length, 3);
  await visit(o);
  t.match((await report()).opens_by_class, { person: 1, proxied: 0, machine: 0 });
  app.clock.advance(900);
  for (const path of clicks) await visit(path);
  const { opens_by_class, machine_clicks, funnel, links, hours } = await report();
  t.strictSame(opens_by_class, { person: 0, proxied: 0, machine: 1 });
  t.match(funnel, { unique_opens: 0, people_opens: 0, unique_clicks: 0, people_clicks: 0, proxied_only: 0 });
  t.equal(machine_clicks, 3);
  t.match(links, [{ machine_clicks: 1 }, { machine_clicks: 1 }, { machine_clicks: 1 }]);
  t.match(hours, [{ opens: 1, machine_opens: 1, clicks: 3, machine_clicks: 3 }]);
  t.match(countersOf(app), { unique_opens: 0, total_opens: 0 });
  app.clock.advance(60_000);
  await visit(o);
  await visit(clicks[0] ?? '');
  const later = await report();
  t.match(later.funnel, { unique_opens: 1, people_opens: 1, people_clicks: 1 }, 'the person who reads it later counts');
});

t.test('a burst says of the two seconds before and after it who made them, and of no others', async (t) => {
  const { app, o, clicks, visit, report } = await threeLinks(t);
  for (const path of [o, ...clicks]) await visit(path);
  t.match(await report(), { machine_clicks: 3, funnel: { people_opens: 0, people_clicks: 0 } });
  const {
    id: delivery,
    mailing_id: mailing,
    address_id: address,
  } = app.db
    .prepare<[], { id: number; mailing_id: number; address_id: number }>(
      "SELECT d.* FROM deliveries d JOIN mailings m ON m.id = d.mailing_id WHERE m.owner_kind = 'single'",
    )
    .get() ?? { id: 0, mailing_id: 0, address_id: 0 };
  const ids = { delivery, mailing, address, group: 0, user: 0, email: '' };
  const late = (before: number) => {
    const hits = new HitBuffer(app.db);
    const at = app.clock.now().getTime() - before;
    hits.add({ ids, at, link: null, reader: 'person' });
    while (hits.flush(at));
  };
  late(1500);
  t.match((await report()).opens_by_class, { person: 0, machine: 2 });
  late(12_000);
  t.match((await report()).opens_by_class, { person: 1, machine: 2 }, 'a node told of it late');
});

t.test('whoever follows the trap link is a machine, and it changes nothing else', async (t) => {
  const { app, o, clicks, trap, visit, report } = await threeLinks(t);
  await visit(o);
  await visit(clicks[1] ?? '');
  t.match((await report()).funnel, { people_opens: 1, people_clicks: 1 });
  t.equal((await app.page('HEAD', trap)).status, 204);
  t.match((await report()).funnel, { people_opens: 1, people_clicks: 1 }, 'a HEAD changes nothing');
  app.clock.advance(3000);
  t.equal(await visit(trap), 204);
  t.match((await report()).funnel, { people_opens: 0, people_clicks: 0, unique_opens: 0, unique_clicks: 0 });
  await visit(clicks[2] ?? '');
  t.match(await report(), { machine_clicks: 2, funnel: { people_clicks: 0 } }, 'what it does next is a machine’s, too');
  t.equal(app.db.prepare('SELECT count(*) FROM events').pluck().get(), 3, 'the trap is no click');
  t.equal((await app.page('GET', `${trap}x`)).status, 404);
});

t.test(
  'the trap link cannot be seen, heard or reached by keyboard, and copies of the mail are without it',
  async (t) => {
    const { mail, app } = await threeLinks(t);
    const trap = /<a href="[^"]*\/999999"[^>]*><\/a>/.exec(mail.html)?.[0] ?? '';
    for (const part of ['rel="nofollow"', 'tabindex="-1"', 'aria-hidden="true"', 'display:none']) t.match(trap, part);
    t.equal(mail.raw.split('999999').length, 2, 'the text part has none');
    const copy = await app.page('GET', mail.paths.w ?? '');
    t.notMatch(copy.text, 'nofollow" tabindex');
  },
);

t.test(
  'a report counts the opens and clicks of people by device, and neither proxies in advance nor bursts',
  async (t) => {
    const { app, o, clicks, visit, report } = await threeLinks(t);
    const PHONE =
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148';
    const later = async (path: string, agent: string) => {
      app.clock.advance(60_000);
      await visit(path, agent);
    };
    await later(o, PHONE);
    await later(o, PHONE);
    await later(clicks[0] ?? '', PHONE);
    await later(o, GMAIL);
    // Apple loads images in advance, and a library of a programming language is no person.
    await later(o, 'Mozilla/5.0');
    await later(o, 'python-requests/2.32');
    const devices = [
      { device: 'phone', opens: 2, clicks: 1 },
      { device: 'proxy', opens: 1, clicks: 0 },
    ];
    t.strictSame((await report()).devices, devices);
    await later(o, PERSON);
    t.match((await report()).devices, { length: 3 });
    for (const path of clicks) await visit(path);
    t.strictSame((await report()).devices, devices, 'the computer’s open was a burst');
    const shown = app.db.prepare("SELECT DISTINCT device FROM events WHERE kind IN ('open', 'click')").pluck().all();
    t.ok(
      shown.every((device) => typeof device === 'number' && device < 5),
      'nothing but a class is stored',
    );
  },
);
