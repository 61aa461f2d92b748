/** A node in somebody else's hands: what it publishes about recipients' pages is bounded to what recipients can say and do. */
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, headers, type NatsConnection } from '@nats-io/transport-node';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { contactKey } from '../../src/delivery/feedback/preference-choice.ts';
import { linkSecrets } from '../../src/delivery/links/secrets.ts';
import { createLinkTokens, createTokens } from '../../src/delivery/links/tokens.ts';
import { PROOF_HEADER, proveChange } from '../../src/nodes/change-proof.ts';
import { consentSubject } from '../../src/nodes/feedback-messages.ts';
import { STREAM } from '../../src/nodes/streams.ts';
import { skipWithout } from '../support/tools.ts';
import { RawNode } from './raw-node.ts';
import { FleetSend } from './rig.ts';

const skip = skipWithout('nats');
const KNOWN = { findEmail: () => undefined, unsigned: { deliveries: 0, mailings: 0, addresses: 0 } };

/** A service without nodes, and what a node holds. */
async function prepare(t: Test) {
  const send = await FleetSend.prepare(t, { people: 5, rate: 0, nodes: 0 });
  await send.start();
  const connection: NatsConnection = await connect({ servers: send.nats.urls, name: 'rogue' });
  t.teardown(() => connection.close());
  const count = (sql: string) => Number(send.read(`SELECT count(*) AS n FROM ${sql}`).n);
  await send.until(() => count("installation WHERE name = 'applied_SENDLARK_HITS'") === 1);
  await send.until(() => count('deliveries') === 5);
  const client = new Database(send.file, { readonly: true });
  const secrets = linkSecrets(client);
  client.close();
  return { send, connection, count, secrets };
}

t.test(
  'of lists a node can say what recipients can, and take them off with their token, but put nobody back',
  { skip },
  async (t) => {
    const { send, connection, count, secrets } = await prepare(t);
    const tokens = createLinkTokens(secrets, KNOWN);
    const row =
      send.read(`SELECT d.id AS delivery, d.mailing_id AS mailing, d.address_id AS address, a.user_id AS user, a.normalized_email AS email
    FROM deliveries d JOIN addresses a ON a.id = d.address_id LIMIT 1`);
    const [delivery, mailing, address, user] = [row.delivery, row.mailing, row.address, row.user].map(Number);
    const ids = {
      delivery: delivery ?? 0,
      mailing: mailing ?? 0,
      address: address ?? 0,
      group: 0,
      user: user ?? 0,
      email: String(row.email),
    };
    const token = tokens.recipient(ids).unsubscribe;
    const publish = (list: number, says: object, proof = '') => {
      const text = JSON.stringify({ token, email: ids.email, list, isLeft: true, at: Date.now(), ...says });
      const subject = consentSubject(ids.user, contactKey(tokens, ids.user, ids.email), list);
      const given = headers();
      if (proof === 'forged') given.set(PROOF_HEADER, proveChange(createTokens(secrets, KNOWN), subject, text));
      else if (proof !== '') given.set(PROOF_HEADER, proof);
      return jetstream(connection).publish(subject, text, { headers: given });
    };
    const suppression = { kind: 'bounce', diagnostic: '<b>no\u001b[2J' };
    const change = { run: 'x', source: 'api' };
    const otherToken = `${token.slice(0, -1)}${token.endsWith('x') ? 'y' : 'x'}`;
    const applied = () =>
      Number(
        send.read(
          `SELECT json_extract(value, '$.sequence') AS n FROM installation WHERE name = 'applied_${STREAM.consents}'`,
        ).n,
      );
    await publish(-1, { change: { ...change, suppression }, token: otherToken });
    await publish(0, { change, token: otherToken });
    await publish(0, { form: 'none', token: otherToken });
    const { seq: refused } = await publish(-1, { form: 'none' });
    const lists = () => [count('suppressions'), count('unsubscribers')];
    await send.until(() => applied() >= refused);
    t.strictSame(lists(), [0, 0], 'nothing without the token of the mail');
    await publish(-1, { change: { ...change, suppression } });
    await publish(0, { change, at: 8.64e15 });
    for (const proof of ['', 'x', 'forged'])
      for (const list of [-2, -1, 0]) await publish(list, { isLeft: false, change }, proof);
    const { seq } = await publish(0, { form: 'none' });
    await send.until(() => applied() >= seq);
    t.strictSame(lists(), [1, 1], 'nobody comes back without a proof by the service');
    t.equal(
      count("unsubscribers WHERE created_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+1 second')"),
      1,
      'at no time of later',
    );
    t.equal(count('addresses WHERE tracking_choice <> 0'), 0);
    t.equal(send.read('SELECT diagnostic FROM suppressions').diagnostic, '‹b›no [2J', 'text of a node is inert');
    const addresses = count('addresses');
    for (const email of ['erased:ab', 'two words@example.com', 'bell\u0007@example.com']) {
      const made = tokens.recipient({ ...ids, address: 999, email }).unsubscribe;
      const subject = consentSubject(ids.user, contactKey(tokens, ids.user, email), 0);
      const says = { token: made, email, list: 0, isLeft: true, at: Date.now(), form: 'none' };
      const { seq: last } = await jetstream(connection).publish(subject, JSON.stringify(says));
      await send.until(() => applied() >= last);
    }
    t.equal(count('addresses'), addresses, 'what is no address is not added');
  },
);

t.test('opens and clicks of any time are counted in the hours that there can be', { skip }, async (t) => {
  const { send, connection, count } = await prepare(t);
  await send.until(() => count("accounts WHERE tracking IN ('totals', 'person')") > 0);
  const hits = Array.from({ length: 200 }, (_, at) => [0, 1, 0, null, (at * 8.64e15) / 200, false]);
  const { seq } = await jetstream(connection).publish(
    'sendlark.hits',
    JSON.stringify(hits.map(([...row]) => row.map((one) => (typeof one === 'number' ? Math.floor(one) : one)))),
  );
  const applied = () =>
    Number(
      send.read(`SELECT json_extract(value, '$.sequence') AS n FROM installation WHERE name = 'applied_${STREAM.hits}'`)
        .n,
    );
  await send.until(() => applied() >= seq);
  t.ok(count('mailing_hours') <= 2, String(count('mailing_hours')));
});

t.test(
  'what nodes publish without end is bounded in NATS, and reports that are lost so are noticed',
  { skip },
  async (t) => {
    const { send, connection } = await prepare(t);
    const manager = await jetstreamManager(connection);
    for (const name of [STREAM.hits, STREAM.results])
      t.ok((await manager.streams.info(name)).config.max_bytes > 0, name);
    const long = jetstream(connection).publish('sendlark.consents.1.x.0', 'x'.repeat(100_000));
    await t.rejects(long, 'a choice that is longer than any');
    const north = new RawNode(connection, 'north');
    await north.greet();
    await north.report({ ended: [] });
    // A gap shows only to who has read something before it.
    const first = (await manager.streams.info(STREAM.results)).state.last_seq;
    await send.until(async () => {
      for await (const { delivered } of manager.consumers.list(STREAM.results))
        if (delivered.stream_seq >= first) return true;
      return false;
    });
    const { brain } = north;
    send.links.service.cut('dropped');
    for (let at = 0; at < 3; at++) await north.report({ ended: [] });
    const { state } = await manager.streams.info(STREAM.results);
    await manager.streams.purge(STREAM.results, { seq: state.last_seq });
    send.links.service.mend();
    await send.until(async () => (await north.beat({ brain })).brain !== brain);
    t.pass('the nodes are asked what they have');
  },
);
