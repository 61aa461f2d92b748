/** GET /api/senders/checks: the verification mails of all senders, and the keys of their domains. */
import { generateKeyPairSync } from 'node:crypto';
import t, { type Test } from 'tap';
import { startApp } from '../support/app.ts';
import { mustSucceed } from '../support/campaign.ts';

const SENDER = {
  from_name: 'Lark',
  from_email: 'news@example.com',
  reply_to_email: 'reply@example.com',
  country_id: 1,
  company_address: 'Main Street 1',
  nickname: 'News',
};

async function started(t: Test) {
  const app = await startApp(t);
  const save = mustSucceed(t, app.one);
  const add = async (from_email: string) => {
    await save('/sender/save', { ...SENDER, from_email });
    await app.background();
  };
  const read = async (caller = app.one) => (await caller.call('GET', '/senders/checks')).body.message;
  return { app, add, read };
}

t.test('each sender has the last verification mail of its address, and when the next may be sent', async (t) => {
  const { app, add, read } = await started(t);
  await add('news@example.com');
  await add('NEWS@example.com');
  await add('offers@example.org');
  const { verifications } = await read();
  const sent = { is_verified: 0, state: 'accepted', resend_at: '2026-01-15T09:05:00.000000Z' };
  t.match(verifications, [
    { sender_id: 1, ...sent },
    { sender_id: 2, ...sent },
    { sender_id: 3, ...sent },
  ]);
  app.clock.advance(5 * 60_000);
  t.match((await read()).verifications, [{ resend_at: null }, { resend_at: null }, { resend_at: null }]);
  t.strictSame(await read(app.two), { verifications: [], domains: [] }, 'only those of its own account');
});

t.test('each domain of a sender has the records that publish its keys', async (t) => {
  const { app, add, read } = await started(t);
  await add('news@example.com');
  await add('offers@example.com');
  await add('news@example.org');
  const { privateKey } = generateKeyPairSync('ed25519');
  app.db
    .prepare("INSERT INTO dkim_keys (domain, selector, private_key, created_at) VALUES ('example.com', 'lark', ?, '')")
    .run(privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const { domains } = await read();
  t.match(domains, [
    { domain: 'example.com', dkim: [{ name: 'lark._domainkey.example.com', value: /^v=DKIM1; k=ed25519; p=/ }] },
    { domain: 'example.org', return_path: 'example.org', dkim: [] },
  ]);
  t.equal(domains.length, 2);
  t.notMatch(JSON.stringify(domains), 'PRIVATE');
});
