/** Mail of a domain with a DKIM key is signed, and nothing is sent unrecorded when the disk is full. */
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import t from 'tap';
import { createDkimKey, dnsRecord, type KeyType } from '../../../src/delivery/mime/dkim.ts';
import { insertDkimKey } from '../../../src/senders/dkim-keys.ts';
import { startApp } from '../../support/app.ts';
import { sendCampaign } from '../../support/campaign.ts';

/** The formal errors of a mail, including its signature. */
function faultsOf(raw: Buffer): string[] {
  const wire = raw.toString('latin1');
  const lines = wire.split('\r\n');
  const head = wire.slice(0, wire.indexOf('\r\n\r\n')).split(/\r\n(?![ \t])/);
  const once = ['DKIM-Signature', 'From', 'Date', 'Message-ID', 'Subject'];
  return [
    ...once.filter((name) => head.filter((field) => field.startsWith(`${name}: `)).length !== 1),
    ...lines.filter((line) => line.length > 998 || /[\r\n]/.test(line)),
    ...(wire.match(/=\?[^\s?]+\?[BQ]\?[^\s]*?\?=/gi) ?? []).filter((word) => word.length > 75),
  ];
}

for (const type of ['rsa', 'ed25519'] as KeyType[]) {
  t.test(`a campaign from a domain with an ${type} key is signed with the newest one`, async (t) => {
    const app = await startApp(t);
    const key = createDkimKey(type);
    const insert = (selector: string, privateKey: string) =>
      insertDkimKey(app.drizzle, { domain: 'example.com', selector, privateKey, awaitsRecord: false }, app.clock.now());
    insert('old', createDkimKey('ed25519'));
    insert('new', key);
    await sendCampaign(t, app);
    for (const raw of app.db.prepare<[], Buffer>('SELECT raw FROM outbox').pluck().all())
      t.strictSame(faultsOf(raw), []);
    const [mail] = app.db
      .prepare("SELECT o.raw FROM outbox o JOIN mailings m ON m.id = o.mailing_id WHERE owner_kind = 'single'")
      .pluck()
      .all();
    const record = dnsRecord('example.com', 'new', key);
    const { results } = await dkimVerify(mail as Buffer, {
      resolver: async (name: string) => {
        if (name !== record.name) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
        return [[record.value]];
      },
    });
    t.equal(results[0]?.status.result, 'pass');
  });
}

t.test('with a full disk nothing is sent without a recorded claim, and sending recovers by itself', async (t) => {
  let handed = 0;
  const app = await startApp(t, { RECALL_SECONDS: '60' }, () => ({
    room: () => 100,
    async send(handoff) {
      if (handoff.start() === null) return 'withdrawn';
      const claimed = app.db
        .prepare(
          'SELECT count(*) FROM deliveries d JOIN addresses a ON a.id = d.address_id WHERE d.state = 1 AND normalized_email = ?',
        )
        .pluck()
        .get(handoff.to);
      if (Number(claimed) > 0) handed++;
      else t.fail(`${handoff.to} left without a claim`);
      return { kind: 'accepted', stage: 'body', code: 250, enhanced: null, reply: '250 ok' };
    },
    close: async () => undefined,
  }));
  const people = Array.from({ length: 300 }, (_, at) => ({ email: `reader${at}@example.org` }));
  await sendCampaign(t, app, { people });
  handed = 0;
  app.clock.advance(60_000);
  // Free pages in the file would otherwise hide that the disk is full.
  app.db.exec('VACUUM');
  app.db.pragma(`max_page_count = ${app.db.pragma('page_count', { simple: true })}`);
  await t.rejects(app.background(), { code: 'SQLITE_FULL' });
  const before = handed;
  app.db.pragma('max_page_count = 1000000');
  await app.background();
  t.equal(handed, people.length, `${before} before there was room, the rest after, each once`);
  t.equal(app.db.prepare("SELECT delivered FROM mailings WHERE owner_kind = 'single'").pluck().get(), people.length);
});
