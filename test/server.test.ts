/** The main job on the real program: a process, a database file, an SMTP server. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import PostalMime from 'postal-mime';
import t, { type Test } from 'tap';
import { SHOP_FORM } from './support/sender.ts';
import { Service, startSink } from './support/service.ts';
import { type Counters, countersOf } from './support/service-campaign.ts';

const PEOPLE = 2000;
const NAMES = ['Zoë', 'Łukasz 🎉', 'Ngọc', 'Anna', 'Đorđe', '山田'];

const nameOf = (at: number) => `${NAMES[at % NAMES.length]} ${at}`;
const addressOf = (at: number) => `reader${at}@example.org`;
/** Every tenth has left before: half of them globally, half the group. */
const hasLeft = (at: number) => at % 10 === 0;

/** Starts a campaign to everybody; the relay answers only so many mails in all until it is told otherwise. */
async function prepare(t: Test, allowed = Number.POSITIVE_INFINITY) {
  const sink = await startSink(t);
  sink.allow(allowed);
  const service = new Service(t, { SMTP_URL: sink.url, SENDER_VERIFICATION: 'optional' });
  await service.start();
  await service.post('/contacts-type/add', { name: 'Readers' });
  const rows = Array.from({ length: PEOPLE }, (_, at) => `${addressOf(at)},${nameOf(at)}`);
  await service.upload(1, `email,first_name\n${rows.join('\n')}\n`);
  await service.post('/unsubscribes-groups/save', { group_name: 'News', description: 'News', is_display: '1' });
  const left = Array.from({ length: PEOPLE }, (_, at) => at).filter(hasLeft);
  const half = left.length / 2;
  await service.post('/global-unsubscribes/save', { email_address: left.slice(0, half).map(addressOf).join(',') });
  await service.post('/unsubscribes-groups/manually-add', {
    unsubscribe_groups_id: '1',
    email_address: left
      .slice(half)
      .map((at) => addressOf(at).toUpperCase())
      .join(', '),
  });
  await service.post('/sender/save', SHOP_FORM);
  const answer = await service.post('/single/send/create', {
    template_id: '1',
    template_html: '<p>Hello ((first_name))</p>',
    sender_id: '1',
    unsubscribe_group_id: '1',
    single_send_name: 'News',
    subject: 'For ((first_name))',
    preheader: 'News',
    'recipient_id[0]': 'contacts_1',
    schedule_type: '0',
  });
  const { utr } = answer.message as { utr: string };
  const counters = () => countersOf(service, utr);
  const until = async (reached: (counters: Counters) => boolean): Promise<Counters> => {
    for (let tries = 0; tries < 1200; tries++) {
      const now = await counters();
      if (reached(now)) return now;
      await setTimeout(50);
    }
    throw new Error('it does not get there');
  };
  /** Mails of the campaign by recipient; the sender's verification mail is another matter. */
  const campaignMails = () => sink.mails.filter((mail) => mail.to !== 'hello@example.com');
  return { service, sink, until, campaignMails };
}

t.test('each person who has not left gets exactly one mail with their own name in it', async (t) => {
  const { service, until, campaignMails } = await prepare(t);
  const end = await until(({ status }) => status === 3);
  const mails = campaignMails();
  t.equal(mails.length, PEOPLE * 0.9);
  t.match(
    end,
    { triggered: mails.length, delivered: mails.length, bounces: 0 },
    'the counters equal what the server took',
  );
  const expected = new Map(
    Array.from({ length: PEOPLE }, (_, at) => at)
      .filter((at) => !hasLeft(at))
      .map((at) => [addressOf(at), nameOf(at)]),
  );
  for (const mail of mails) {
    const parsed = await PostalMime.parse(mail.raw);
    const name = expected.get(mail.to);
    const isRight =
      parsed.subject === `For ${name}` &&
      parsed.html?.includes(`Hello ${name}<`) &&
      parsed.text?.includes(`Hello ${name}`);
    if (!isRight) t.fail(`the mail to ${mail.to} is not theirs`);
    expected.delete(mail.to);
  }
  t.equal(expected.size, 0, 'nobody is missing');

  const raw = String(mails[0]?.raw);
  const link = /List-Unsubscribe: <(.+)>/.exec(raw)?.[1] ?? '';
  const response = await fetch(service.origin + new URL(link).pathname, {
    method: 'POST',
    body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }),
  });
  t.equal(response.status, 200);
  const { message } = await service.get('/unsubscribes-groups/recipients-list?groupId=1');
  const group = (message as { recipients: { email_address: string }[] }).recipients.map((entry) => entry.email_address);
  t.ok(group.includes(mails[0]?.to ?? ''), 'one click puts the address into the group');
  t.equal((await until(() => true)).unsubscribes, 1);
  t.equal(await service.end('SIGTERM'), 0, 'it stops cleanly');
});

t.test('killed in the middle and started again, nobody is missing and a repeat has the same Message-ID', async (t) => {
  const { service, sink, until, campaignMails } = await prepare(t, 600);
  await until(({ delivered }) => delivered > 100);
  await service.end('SIGKILL');
  const before = campaignMails().length;
  t.ok(before < PEOPLE * 0.9, 'the kill landed inside the send');
  sink.allow(Number.POSITIVE_INFINITY);
  await service.start();
  const end = await until(({ status }) => status === 3);
  const ids = new Map<string, Set<string>>();
  for (const { to, raw } of campaignMails()) {
    const id = /^Message-ID: (.+)$/m.exec(String(raw))?.[1] ?? '';
    ids.set(to, (ids.get(to) ?? new Set()).add(id));
  }
  t.equal(ids.size, PEOPLE * 0.9, 'everyone got it');
  t.ok(
    [...ids.values()].every((own) => own.size === 1),
    'always under the same Message-ID',
  );
  t.match(end, { delivered: PEOPLE * 0.9, triggered: PEOPLE * 0.9 }, 'counted once each');
});

t.test('import after import, nothing of the earlier ones stays behind', async (t) => {
  const warnings = join(t.testdir({}), 'warnings');
  const service = new Service(t, { NODE_OPTIONS: `--redirect-warnings=${warnings}` });
  await service.start();
  await service.post('/contacts-type/add', { name: 'Readers' });
  for (let time = 0; time < 12; time++) await service.upload(1, 'email\nanna@example.org\n');
  t.equal(existsSync(warnings) ? readFileSync(warnings, 'utf8') : '', '');
});

t.test('the room for young objects is bounded in every thread, without an option from whoever starts it', async (t) => {
  const folder = t.testdir({});
  const [probe, found] = [join(folder, 'probe.mjs'), join(folder, 'found')];
  // Runs at the beginning of each thread. In a worker it notes the limit, in the main thread what V8 takes under a load of garbage: the
  // median, because in a single reading there can be pages that V8 is about to free, as many again as are in use.
  writeFileSync(
    probe,
    `import { appendFileSync } from 'node:fs';
    import { getHeapSpaceStatistics } from 'node:v8';
    import { isMainThread, resourceLimits } from 'node:worker_threads';
    const note = (megabytes) => appendFileSync(${JSON.stringify(found)}, megabytes + '\\n');
    if (!isMainThread) note(resourceLimits.maxYoungGenerationSizeMb);
    else process.once('SIGTERM', () => {
      const sizes = [];
      const kept = [];
      for (let round = 0; round < 200; round++) {
        kept[round % 10] = Array.from({ length: 20_000 }, (_, at) => [at]);
        sizes.push(getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size);
      }
      note(sizes.sort((a, b) => a - b)[100] / 2 ** 20);
    });`,
  );
  const service = new Service(t, { NODE_OPTIONS: `--import=${probe}` });
  await service.start();
  await service.post('/contacts-type/add', { name: 'Readers' });
  await service.upload(1, 'email\nanna@example.org\n');
  await service.end('SIGTERM');
  const limits = readFileSync(found, 'utf8').trim().split('\n').map(Number);
  t.equal(limits.length, 3, 'background, import and main');
  // Node 24 takes 64 to 128 MB by itself.
  for (const megabytes of limits) t.ok(megabytes > 0 && megabytes <= 32, `${megabytes} MB`);
});
