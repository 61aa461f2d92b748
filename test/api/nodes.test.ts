/** The list of sender nodes, the checks and metrics of them, and why mail waits. */
import t from 'tap';
import { relayChecks } from '../../src/commands/doctor/relay.ts';
import { readConfig } from '../../src/config.ts';
import { noteMailWaits } from '../../src/delivery/queue/holds.ts';
import { SENTENCES, sentence } from '../../src/errors/sentences.ts';
import { VERSION } from '../../src/version.ts';
import { startApp } from '../support/app.ts';
import { sendCampaign } from '../support/campaign.ts';
import { addPerson, callerOf, cookieOf } from '../support/people.ts';
import { verifySenders } from '../support/sender.ts';
import { addNode } from '../support/sender-nodes.ts';

const SETTINGS = { NATS_URL: 'nats://127.0.0.1:4222' };

t.test('an operator sees state, rate, counts of the day, room and warm-up of each node', async (t) => {
  const app = await startApp(t, SETTINGS);
  addNode(app, { name: 'north' }, { ceiling: 100, given: 90, accepted: 85, deferred: 4, refused: 1 });
  addNode(app, { name: 'east', state: 'refused', refusal: '550 listed', load: 0 });
  const operator = callerOf(app, addPerson(app));
  const { body } = await operator.call('GET', '/nodes');
  t.strictSame(
    body.message.nodes.map(({ name }: { name: string }) => name),
    ['east', 'north'],
  );
  t.match(body.message.nodes[1], {
    name: 'north',
    state: 'sending',
    refusal: null,
    version: VERSION,
    rate: 40,
    recipients: 50,
    room: 10,
    accepted: 85,
    deferred: 4,
    refused: 1,
    warm_up: { ceiling: 100, given: 90 },
    heard_at: '2026-01-15T08:59:59.000000Z',
    lease_until: '2026-01-15T09:00:06.000000Z',
  });
  t.match(body.message.nodes[0], { state: 'refused', refusal: '550 listed', room: 0, warm_up: null });
  t.strictSame(body.message.fleet, { is_used: 1, version: VERSION, waits_reason: null });
  app.clock.advance(13_000);
  const later = (await operator.call('GET', '/nodes')).body.message.nodes;
  t.strictSame(
    later.map(({ state, lease_until }: Record<string, unknown>) => [state, lease_until]),
    [
      ['silent', null],
      ['silent', null],
    ],
    'a node whose state is no longer recorded is silent',
  );
  app.clock.advance(24 * 3_600_000);
  const next = callerOf(app, addPerson(app, 'owner', { email: 'next@example.org' }));
  t.match((await next.call('GET', '/nodes')).body.message.nodes[1], { accepted: 0, warm_up: null }, 'a new day');
});

t.test('the list of nodes is for operators who are signed in, and empty where there are no nodes', async (t) => {
  const app = await startApp(t);
  addNode(app, { name: 'left over' });
  t.equal((await app.one.call('GET', '/nodes')).status, 403);
  const stranger = callerOf(app, addPerson(app, 'owner', { name: 'Other', accountId: 2 }));
  t.equal((await stranger.call('GET', '/nodes')).status, 403);
  t.equal((await app.anonymous.call('GET', '/nodes')).status, 401);
  const operator = callerOf(app, addPerson(app));
  t.match((await operator.call('GET', '/nodes')).body.message, { nodes: [], fleet: { is_used: 0 } });
});

t.test('why mail waits stands in the overview, in reports and at the hold of all sending', async (t) => {
  const app = await startApp(t, SETTINGS);
  noteMailWaits(app.db, sentence('waits_no_node'));
  const { hold } = (await app.one.call('GET', '/sending/hold')).body.message;
  t.match(hold, { held_reason: null, releasable: 0, waits_reason: SENTENCES.waits_no_node, has_nodes: 1 });
  const { overview } = (await app.one.call('GET', '/overview')).body.message;
  t.match(overview.health, { sending: 'on', waits_reason: SENTENCES.waits_no_node });
  noteMailWaits(app.db, null);
  t.equal((await app.one.call('GET', '/sending/hold')).body.message.hold.waits_reason, null);
});

t.test(
  'where campaign mail leaves from nodes, senders must be verified, and nothing says that it stays in the outbox',
  async (t) => {
    const app = await startApp(t, SETTINGS);
    const owner = callerOf(app, addPerson(app));
    const { health } = (await owner.call('GET', '/health')).body.message;
    t.equal(health.courier, 'nodes');
    t.match(
      health.findings.find(({ name }: { name: string }) => name === 'SMTP server'),
      { state: 'warn', found: SENTENCES.relay_none_nodes, advice: [SENTENCES.relay_none_cure] },
    );
    t.notMatch(JSON.stringify(health), /outbox/);
    const [doctor] = await relayChecks(app.db, readConfig(SETTINGS));
    t.match(doctor, { state: 'warn', found: { code: 'relay_none_nodes' } }, 'sendlark doctor');
    const { setup } = (await app.one.call('GET', '/overview')).body.message.overview;
    t.match(setup, { courier: 'nodes', relay: { state: 'nodes' } });
    const { utr } = await sendCampaign(t, app);
    const report = async () =>
      (await app.one.call('GET', '/single-send/report', { query: { utr } })).body.message.report;
    t.match(await report(), { courier: 'nodes', held_code: 'sender_unverified' });
    verifySenders(app);
    await app.background();
    t.match(await report(), { status: 3, held_code: null });
    t.match((await app.page('GET', '/readyz')).body, { relay: 'nodes' });
    const headers = { cookie: cookieOf(app, addPerson(app, 'owner', { email: 'home@example.org' })) };
    const home = (await app.page('GET', '/', { headers })).text;
    t.notMatch(home, /Test outbox only|stays in the test outbox/);
    t.notMatch(home, /Your first campaign/, 'nothing is left to do');
    t.match((await app.page('GET', '/settings/health', { headers })).text, /Mail goes to<\/dt><dd[^>]*>Sender nodes</);
    t.match((await app.page('GET', '/outbox', { headers })).text, /Mail is sent through your SMTP server/);
  },
);

t.test('health names nodes that are silent, refused or of another release, and mail that waits', async (t) => {
  const app = await startApp(t, SETTINGS);
  const owner = callerOf(app, addPerson(app));
  const found = async () => {
    const { health } = (await owner.call('GET', '/health')).body.message;
    const findings: { name: string; state: string; found: string }[] = health.findings;
    return findings.filter(({ name }) => /nodes/i.test(name)).map(({ name, state, found }) => [name, state, found]);
  };
  addNode(app, { name: 'north' });
  t.strictSame(await found(), [['Nodes', 'ok', 'sender nodes: 1, and mail is being sent']]);
  addNode(app, { name: 'east', state: 'refused', refusal: '550 listed' });
  addNode(app, { name: 'south', version: '0.0.9' });
  addNode(app, { name: 'west', heard_at: 0 });
  t.strictSame(await found(), [
    ['Silent nodes', 'warn', 'nothing heard from west'],
    ['Refused nodes', 'warn', 'the SMTP servers accept no mail from east: 550 listed'],
    ['Releases of nodes', 'warn', `not of the release of the service, ${VERSION}: south (0.0.9)`],
  ]);
  noteMailWaits(app.db, sentence('waits_no_node'));
  t.match((await found())[0], ['Nodes', 'warn', SENTENCES.waits_no_node], 'no mail waits yet');
  app.db.exec(`
    INSERT INTO addresses (id, user_id, normalized_email) VALUES (1, 1, 'a@example.org');
    INSERT INTO mailings (id, user_id, owner_kind, owner_id, content, state, created_at) VALUES (1, 1, 'single', 1, '{}', 'sending', '');
    INSERT INTO deliveries (mailing_id, address_id, state) VALUES (1, 1, 0)`);
  t.match((await found())[0], ['Nodes', 'fail', SENTENCES.waits_no_node]);
});

t.test('metrics count nodes by state, and the mails of each today', async (t) => {
  const app = await startApp(t, SETTINGS);
  addNode(app, { name: 'north' }, { accepted: 85, deferred: 4, refused: 1 });
  addNode(app, { name: 'north', run: 'earlier', heard_at: 0 });
  noteMailWaits(app.db, sentence('waits_no_node'));
  const lines = (await app.page('GET', '/metrics')).text.split('\n');
  for (const line of [
    'sendlark_nodes{state="sending"} 1',
    'sendlark_nodes{state="silent"} 1',
    'sendlark_node_rate{node="north"} 40',
    'sendlark_node_silent_seconds{node="north"} 1',
    'sendlark_node_mails_today{node="north",result="accepted"} 85',
    'sendlark_node_mails_today{node="north",result="refused"} 1',
    'sendlark_mail_waits 1',
    'sendlark_nats_connected 1',
  ])
    t.ok(lines.includes(line), line);
  t.match((await app.page('GET', '/readyz')).body, {
    nodes: { sending: 1, silent: 1 },
    waits_reason: SENTENCES.waits_no_node,
  });
  noteMailWaits(app.db, sentence('waits_nats'));
  app.clock.advance(1000);
  t.match((await app.page('GET', '/metrics')).text, /^sendlark_nats_connected 0$/m);
  t.match((await app.page('GET', '/readyz')).body, { waits_reason: SENTENCES.waits_nats });
  const without = await startApp(t);
  t.notMatch((await without.page('GET', '/metrics')).text, 'sendlark_node');
});
