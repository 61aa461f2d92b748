/** Mails of sender nodes that are large, signed, or sent by the service itself as a node. */
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import t from 'tap';
import { sampleHtml } from '../../fixtures/mailing.ts';
import { createDkimKey, dnsRecord } from '../../src/delivery/mime/dkim.ts';
import { startSink } from '../support/service.ts';
import { skipWithout } from '../support/tools.ts';
import { FleetSend } from './rig.ts';

const skip = skipWithout('nats');
const ONCE = { problems: [], duplicates: 0, unreported: 0 };

t.test('content and recipients that are too large for a message of NATS reach a node in parts', { skip }, async (t) => {
  const send = await FleetSend.prepare(t, {
    people: 30,
    rate: 0,
    nodes: 1,
    html: `${sampleHtml(1_500_000, 3)}((company))`,
    change: (client) => {
      client.exec(
        "INSERT INTO custom_fields (user_id, field_name, field_type, created_at, updated_at) VALUES (1, 'company', 'text', '', '')",
      );
      const large = 'x'.repeat(60_000);
      const values = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [String(at + 2), large]));
      client
        .prepare('UPDATE contacts SET custom_values = CASE id WHEN 1 THEN ? ELSE ? END')
        .run(JSON.stringify({ ...values, 1: 'Lark' }), JSON.stringify({ 1: large }));
    },
  });
  await send.start();
  await send.until(() => send.isOver());
  t.same(await send.reckon(), ONCE);
});

t.test('mails of a node are signed with the newest key of the sender, and pass', { skip }, async (t) => {
  const sink = await startSink(t);
  const key = createDkimKey('ed25519');
  const send = await FleetSend.prepare(t, {
    people: 3,
    rate: 0,
    nodes: 1,
    service: { SMTP_URL: sink.url },
    change: (client) =>
      void client
        .prepare(
          "INSERT INTO dkim_keys (domain, selector, private_key, created_at) VALUES ('example.com', 'new', ?, '')",
        )
        .run(key),
  });
  await send.start();
  await send.until(() => send.isOver());
  t.equal(sink.mails.length, 3);
  const record = dnsRecord('example.com', 'new', key);
  for (const { raw } of sink.mails) {
    const { results } = await dkimVerify(raw, { resolver: async () => [[record.value]] });
    t.equal(results[0]?.status.result, 'pass');
  }
});

t.test('with SENDER_NODE=on the service is a node, beside another one', { skip }, async (t) => {
  const send = await FleetSend.prepare(t, { people: 750, rate: 150, nodes: 1, service: { SENDER_NODE: 'on' } });
  await send.service.start();
  await send.until(async () => (await send.taken()) > 50);
  send.nodes[0]?.start();
  await send.until(() => send.isOver());
  t.same(await send.reckon(), ONCE);
});
