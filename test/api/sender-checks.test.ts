/** GET /api/senders/checks: the verification mails of all senders, and the keys of their domains. */
import { generateKeyPairSync } from 'node:crypto';
import t, { type Test } from 'tap';
import { startApp } from '../support/app.ts';
import { mustSucceed } from '../support/campaign.ts';
import { addPerson, cookieOf } from '../support/people.ts';
import { startDns } from '../support/smtp/dns-server.ts';

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

t.test('the DNS is asked about the domains of the account, and what it said is kept', async (t) => {
  const { app, add, read } = await started(t);
  await add('news@example.com');
  app.askDns(await startDns(t, { '_dmarc.example.com': ['v=DMARC1; p=none'] }));
  t.match((await read()).domains, [{ checked_at: null, checks: [] }], 'reading asks nothing');
  const { status, body } = await app.one.call('POST', '/senders/checks/renew');
  t.equal(status, 200);
  const [{ checked_at, checks }] = body.message.domains;
  t.equal(checked_at, '2026-01-15T09:00:00.000000Z');
  t.match(checks, [
    {
      name: 'SPF',
      state: 'warn',
      code: 'dns_no_record',
      record: { name: 'example.com', value: 'v=spf1 mx ~all' },
    },
    { name: 'DKIM', state: 'warn', code: 'dkim_none', record: null },
    { name: 'DMARC', state: 'ok', found: 'v=DMARC1; p=none at _dmarc.example.com', record: null },
    { name: 'Alignment', state: 'warn', code: 'alignment_fails' },
  ]);
  t.strictSame((await read()).domains, body.message.domains, 'it is kept');
  const { body: overview } = await app.one.call('GET', '/overview');
  t.match(overview.message.overview.setup.dns, { state: 'weak', domain: 'example.com' }, 'Home says the same');
  t.strictSame((await app.two.call('POST', '/senders/checks/renew')).body.message.domains, []);
});

t.test('a record that was never published waits for 72 hours; what is wrong, or worked once, is broken', async (t) => {
  const { app, add } = await started(t);
  await add('news@example.com');
  const records: Record<string, string[]> = {};
  app.askDns(await startDns(t, records));
  const owner = addPerson(app);
  const look = async () => {
    const { body } = await app.one.call('POST', '/senders/checks/renew');
    const { text } = await app.page('GET', '/settings/senders', { headers: { cookie: cookieOf(app, owner) } });
    const checks = body.message.domains[0].checks.map((check: { state: string; is_waiting: 0 | 1 }) =>
      check.is_waiting === 1 ? 'waiting' : check.state,
    );
    const badges = [...text.matchAll(/class="badge (?:warn|bad|good)">(Waiting for DNS|Not working|Fine)</g)];
    return { checks, badges: badges.map(([, word]) => word) };
  };
  const isNew = { checks: ['waiting', 'warn', 'waiting', 'waiting'], badges: Array(3).fill('Waiting for DNS') };
  t.strictSame(await look(), isNew, 'nothing is red on the day it is added');
  app.clock.advance(72 * 3_600_000);
  t.strictSame(
    await look(),
    { checks: ['warn', 'warn', 'warn', 'warn'], badges: [] },
    'nor later, but it waits for nothing',
  );
  records['example.com'] = ['v=spf1 +all'];
  t.match((await look()).checks, ['fail', 'warn', 'warn', 'fail'], 'a wrong record is broken');
  records['example.com'] = ['v=spf1 mx ~all'];
  t.match((await look()).checks, ['ok', 'warn', 'warn', 'ok']);
  delete records['example.com'];
  t.strictSame(
    await look(),
    { checks: ['fail', 'warn', 'warn', 'fail'], badges: ['Not working', 'Not working'] },
    'so is one that is gone',
  );
});

t.test('a DNS that does not answer says nothing about the records', async (t) => {
  const { app, add } = await started(t);
  await add('news@example.com');
  const { body } = await app.one.call('POST', '/senders/checks/renew');
  t.match(body.message.domains[0].checks, [{ state: 'warn', code: 'dns_silent' }, {}, { state: 'warn' }]);
});
