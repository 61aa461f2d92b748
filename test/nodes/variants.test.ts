/** A/B tests that sender nodes send: their mails, and the pages that the links of a variant open. */
import t from 'tap';
import { startNats } from '../../fixtures/nats.ts';
import { Service, startSink } from '../support/service.ts';
import { startAbTest, until } from '../support/service-campaign.ts';
import { skipWithout } from '../support/tools.ts';
import { NodeProcess } from './rig.ts';
import { open, startPages } from './world.ts';

const PEOPLE = 60;

t.test(
  'nodes send each person their variant and the rest the winner, with its links and its web copy',
  { skip: skipWithout('nats') },
  async (t) => {
    const nats = await startNats(t);
    const sink = await startSink(t);
    const brain = new Service(t, { NATS_URL: nats.urls, SMTP_URL: sink.url, SENDER_VERIFICATION: 'optional' });
    new NodeProcess(t, 'north', { NATS_URL: nats.urls }).start();
    await brain.start();
    const test = await startAbTest(brain, PEOPLE);
    const waiting = await until(test.report, (report) => report?.state === 'waiting');
    const [first, other] = waiting?.variants ?? [];
    const mails = () =>
      sink.mails
        .filter(({ to }) => to.startsWith('reader'))
        .map(({ raw }) => raw.toString().replaceAll(/=\r\n/g, '').replaceAll('=3D', '='));
    const isOther = (mail: string) => mail.includes('Other mail');
    t.ok(first?.recipients && other?.recipients, 'both variants are tried');
    t.equal(mails().length, PEOPLE - (waiting?.rest ?? 0), 'the rest waits');
    t.equal(mails().filter(isOther).length, other?.recipients);
    t.ok(
      mails().every(
        (mail) =>
          isOther(mail) === /^Subject: Other\r$/m.test(mail) && isOther(mail) === /^From: .*Other name/m.test(mail),
      ),
    );
    await test.choose(1);
    await until(test.counters, ({ delivered }) => delivered === PEOPLE);
    t.equal(mails().filter(isOther).length, PEOPLE - (first?.recipients ?? 0));

    const node = await startPages(t, { nats });
    const pathIn = (mail: string | undefined, kind: string) =>
      new RegExp(`http://mail.example.com(/${kind}/[\\w~./-]+)`).exec(mail ?? '')?.[1] ?? '';
    const [a, b] = [mails().find((mail) => !isOther(mail)), mails().find(isOther)];
    for (const mail of [a, b]) {
      const path = pathIn(mail, 'w');
      const page = await open(node + path);
      t.match(page, { status: 200, text: mail === b ? /Other mail/ : /First mail/ });
      t.strictSame(page, await open(brain.origin + path), 'as on the page of the controller');
    }
    const target = async (mail: string | undefined) => (await open(node + pathIn(mail, 'c'))).headers.location;
    const targets = ['https://shop.example/first', 'https://shop.example/other'];
    t.strictSame([await target(a), await target(b)], targets);
    await brain.end('SIGKILL');
    t.strictSame([await target(a), await target(b)], targets, 'links lead there without the controller, too');
    t.match(await open(node + pathIn(b, 'w')), { status: 503 }, 'only the controller knows whose variant it was');
  },
);
