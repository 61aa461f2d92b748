/** Leaving is for good: links and what they did outlive deletion, purge, new keys and a kill, on the real program. */
import { join } from 'node:path';
import Database from 'better-sqlite3';
import PostalMime from 'postal-mime';
import t from 'tap';
import { sendlark } from '../support/command-line.ts';
import { Service, startSink } from '../support/service.ts';
import { startCampaign, until } from '../support/service-campaign.ts';

t.test('a link works after deletion, purge and new keys; whoever unsubscribed by it stays unsubscribed', async (t) => {
  const sink = await startSink(t);
  const mailsTo = (address: string) => sink.mails.filter(({ to }) => to === address);
  const service = new Service(t, { SMTP_URL: sink.url, SENDER_VERIFICATION: 'optional' });
  const database = { DATABASE_PATH: join(service.folder, 'test.db') };
  await service.start();
  const first = await startCampaign(service, 3);
  await until(first, ({ status }) => status === 3);
  const links = await Promise.all(
    [0, 1].map(async (at) => {
      const [mail] = mailsTo(`reader${at}@example.org`);
      const { headers } = await PostalMime.parse(mail?.raw ?? '');
      const field = headers.find(({ key }) => key === 'list-unsubscribe')?.value ?? '';
      return new URL(field.slice(1, -1)).pathname;
    }),
  );
  const [one = '', two = ''] = links;
  const leave = (path: string) =>
    fetch(service.origin + path, { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) });

  t.equal((await leave(one)).status, 200);
  await service.end('SIGKILL');
  await service.start();
  const offList = async () => {
    const { message } = await service.get('/unsubscribes-groups/recipients-list?groupId=1');
    return (message as { recipients: { email_address: string }[] }).recipients.map((entry) => entry.email_address);
  };
  t.strictSame(await offList(), ['reader0@example.org'], 'a kill right after the answer loses nothing');

  const { message } = await service.get('/single-send/list');
  const [{ utr } = { utr: '' }] = (message as { singleSends: { utr: string }[] }).singleSends;
  await service.remove(`/single/send/delete?utr=${utr}`);
  await service.remove('/contacts-type/delete?contact_type_id=1');
  t.match(await sendlark(database, 'purge'), { code: 0, out: /contacts: 3 removed/ });
  await service.end('SIGTERM');
  changeLinkSecret(database.DATABASE_PATH);
  const made = JSON.parse((await sendlark(database, 'keys', 'create', '--json')).out);
  t.match(await sendlark(database, 'keys', 'revoke', made.publicKey), { code: 0 });
  await service.start();
  t.equal((await fetch(service.origin + two)).status, 200, 'the page opens');
  t.equal((await leave(two)).status, 200, 'and its button works');
  t.strictSame(await offList(), ['reader0@example.org', 'reader1@example.org']);

  const second = await startCampaign(service, 3, 2);
  await until(second, ({ status }) => status === 3);
  t.strictSame(
    [0, 1, 2].map((at) => mailsTo(`reader${at}@example.org`).length),
    [1, 1, 2],
    'imported again, they stay off',
  );
  const [newest] = mailsTo('reader2@example.org').slice(1);
  const fresh = /List-Unsubscribe: <[^>]*(\/u\/[^>]+)>/.exec(newest?.raw.toString('latin1') ?? '')?.[1] ?? '';
  t.equal((await fetch(service.origin + fresh)).status, 200, 'new mails are signed with the new secret');
});

/** Puts a new secret before the present one, as it is kept. */
function changeLinkSecret(path: string): void {
  const client = new Database(path);
  const stored = client.prepare("SELECT value FROM installation WHERE name = 'token_secrets'").pluck();
  const secrets: string[] = JSON.parse(String(stored.get()));
  client
    .prepare("UPDATE installation SET value = ? WHERE name = 'token_secrets'")
    .run(JSON.stringify(['a secret of later', ...secrets]));
  client.close();
}
