/** Robots against a form of the built program, which sends to a real SMTP server; and kills at the worst moment. */
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import PostalMime from 'postal-mime';
import t, { type Test } from 'tap';
import { request } from 'undici';
import { connect } from '../../src/database/open.ts';
import { openTokens, type Tokens } from '../../src/delivery/links/tokens.ts';
import { pathIn, solvedProof, TYPING_MS } from '../support/forms.ts';
import { SHOP_SENDER } from '../support/sender.ts';
import { Service, type Sink, startSink } from '../support/service.ts';

const MAX_WAIT_MS = 60_000;

async function startForm(t: Test) {
  const sink = await startSink(t);
  const service = new Service(t, { SMTP_URL: sink.url, TRUST_PROXY: 'on', SENDER_VERIFICATION: 'optional' });
  await service.start();
  await service.post('/contacts-type/add', { name: 'Readers' });
  const { country_id, ...sender } = SHOP_SENDER;
  await service.post('/sender/save', { ...sender, country_id: String(country_id) });
  const add = async () => {
    const { message } = await service.post('/forms/create', { name: 'Footer', contact_type_id: '1', sender_id: '1' });
    const { id, url } = message as { id: number; url: string };
    return { id, path: new URL(url).pathname };
  };
  const db = connect(join(service.folder, 'test.db'));
  t.teardown(() => db.$client.close());
  return { sink, service, tokens: openTokens(db.$client), forms: [await add(), await add()] as const };
}

async function send(
  service: Service,
  tokens: Tokens,
  form: { id: number; path: string },
  email: string,
  network: string,
  proof?: string,
) {
  const given = proof ?? (await solvedProof(tokens, form.id, Date.now() - TYPING_MS));
  const { statusCode, body } = await request(service.origin + form.path, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-forwarded-for': network },
    body: new URLSearchParams({ email, consent: '1', proof: given }).toString(),
  });
  await body.dump();
  return statusCode;
}

/** The mails that ask for a confirmation, once there are as many and a moment longer. */
async function asked({ mails }: Sink, count: number) {
  const until = Date.now() + MAX_WAIT_MS;
  const ours = () => mails.filter(({ raw }) => raw.includes('Subject: Please confirm your subscription'));
  while (ours().length < count && Date.now() < until) await setTimeout(50);
  await setTimeout(500);
  return ours();
}

t.test('however robots ask, a victim gets one mail a day', async (t) => {
  const { sink, service, tokens, forms } = await startForm(t);
  const victims = ['one', 'two', 'three'].map((name) => `${name}@victim.example`);
  const replayed = await solvedProof(tokens, forms[0].id, Date.now() - TYPING_MS);
  const posts: Promise<number>[] = [];
  for (let round = 0; round < 40; round++) {
    const network = `198.51.${round}.1`;
    for (const victim of victims) {
      const spelt =
        round % 3 === 0 ? victim.toUpperCase() : round % 3 === 1 ? victim.replace('@', `+${round}@`) : victim;
      posts.push(send(service, tokens, forms[round % 2 === 0 ? 0 : 1], spelt, network));
    }
    posts.push(send(service, tokens, forms[0], `other${round}@victim.example`, network, replayed));
  }
  const statuses = await Promise.all(posts);
  t.strictSame(
    [...new Set(statuses)].sort(),
    [200, 303],
    'all are answered; a challenge that was used is asked for anew',
  );
  const mails = await asked(sink, victims.length + 1);
  const counts = Map.groupBy(mails, ({ to }) => to.toLowerCase().replace(/\+\d+/, ''));
  for (const victim of victims) t.equal(counts.get(victim)?.length, 1, victim);
  t.equal(mails.length, victims.length + 1, 'a challenge that was sent forty times counts once');
});

t.test('a kill right after the answer loses no mail, and the link in it works', async (t) => {
  const { sink, service, tokens, forms } = await startForm(t);
  for (let kill = 0; kill < 5; kill++) {
    t.equal(await send(service, tokens, forms[0], `reader${kill}@example.org`, `203.0.113.${kill}`), 303);
    await service.end('SIGKILL');
    await service.start();
  }
  const mails = await asked(sink, 5);
  t.equal(new Set(mails.map(({ to }) => to)).size, 5);
  for (const { raw } of mails) {
    const { text = '' } = await PostalMime.parse(raw);
    const { statusCode, body } = await request(service.origin + pathIn(text), { method: 'POST' });
    await body.dump();
    t.equal(statusCode, 200);
  }
  const { message } = await service.get('/contacts/list');
  t.equal((message as { contacts: unknown[] }).contacts.length, 5);
  t.equal(
    await send(service, tokens, forms[0], 'reader0@example.org', '203.0.113.9'),
    303,
    'asked again after the restarts',
  );
  t.equal(await send(service, tokens, forms[0], 'later@example.org', '203.0.113.10'), 303);
  const later = (await asked(sink, mails.length + 1)).slice(mails.length);
  t.strictSame(
    later.map(({ to }) => to),
    ['later@example.org'],
    'but mailed once a day, also when the mail of somebody who asked later has come',
  );
});
