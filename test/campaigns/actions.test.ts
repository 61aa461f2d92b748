/** Pausing, resuming, cancelling and deleting single sends. */
import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { SmtpPool } from '../../src/delivery/transport/smtp/pool.ts';
import { parseRelays } from '../../src/delivery/transport/smtp/relay-urls.ts';
import type { TestApp } from '../support/app.ts';
import { createSend, outboxOf, RECALL, readyToSend, sendDetails, sendReport } from '../support/single-sends.ts';
import { startSink } from '../support/smtp/scripted-relay.ts';

t.test('pause keeps the rest waiting, resume goes on, cancel ends it', async (t) => {
  const { app, body } = await readyToSend(t, { SEND_RATE: '1' });
  const utr = await createSend(app, body);
  t.equal((await app.one.call('POST', '/single/send/pause', { query: { utr } })).status, 409, 'nothing to pause yet');
  app.clock.advance(RECALL);
  await app.background();
  t.equal((await app.one.call('POST', '/single/send/pause', { query: { utr } })).status, 200);
  app.clock.advance(60_000);
  await app.background();
  t.match(await sendDetails(app, utr), { status: 2, delivered: 1 });
  t.equal((await app.one.call('POST', '/single/send/resume', { query: { utr } })).status, 200);
  app.clock.advance(1000);
  await app.background();
  t.match(await sendDetails(app, utr), { status: 2, delivered: 2 });
  t.equal((await app.one.call('POST', '/single/send/cancel', { query: { utr } })).status, 200);
  app.clock.advance(60_000);
  await app.background();
  t.match(await sendDetails(app, utr), { status: 3, delivered: 2 });
  t.match((await sendReport(app, utr)).states, { kept: 2, cancelled: 1 });
});

t.test('the report has each recipient in one state, and nobody before the launch', async (t) => {
  const { app, body } = await readyToSend(t, { SEND_RATE: '1' });
  const utr = await createSend(app, body);
  const nobody = { queued: 0, sending: 0, accepted: 0, kept: 0, bounced: 0, failed: 0, suppressed: 0, cancelled: 0 };
  t.strictSame((await sendReport(app, utr)).states, nobody);
  app.clock.advance(RECALL);
  await app.background();
  t.strictSame((await sendReport(app, utr)).states, { ...nobody, queued: 2, kept: 1 });
  await app.one.call('POST', '/single/send/cancel', { query: { utr } });
  await app.background();
  t.strictSame((await sendReport(app, utr)).states, { ...nobody, kept: 1, cancelled: 2 });
});

for (const offers of [['PIPELINING'], []]) {
  for (const stop of ['pause', 'cancel', 'delete']) {
    const relay = offers.length > 0 ? 'that pipelines' : 'without PIPELINING';
    t.test(`after the answer to ${stop}, a relay ${relay} sees no MAIL FROM`, async (t) => {
      const sink = await startSink(t, { offers });
      const { app, body } = await readyToSend(
        t,
        {},
        () => new SmtpPool(parseRelays(sink.url), { connections: 1, onRelayFailure: () => undefined }),
      );
      let answer: (said: string) => void = () => undefined;
      const answered = new Promise<string>((resolve) => {
        answer = resolve;
      });
      // The only connection waits for an answer; the next mail would follow on it.
      if (offers.length > 0) sink.script = { offers, dot: () => answered };
      else sink.script = { offers, rcpt: '550 5.7.1 not here\r\n', rset: () => answered };
      const mails = () => sink.commands.filter((line) => line.startsWith('MAIL')).length;
      const before = mails();
      const utr = await createSend(app, body);
      app.clock.advance(RECALL);
      const sending = app.background();
      while (mails() === before || (offers.length === 0 && !sink.commands.includes('RSET'))) await setImmediate();
      const { status } =
        stop === 'delete'
          ? await app.one.call('DELETE', '/single/send/delete', { query: { utr } })
          : await app.one.call('POST', `/single/send/${stop}`, { query: { utr } });
      t.equal(status, 200);
      answer('250 2.0.0 ok\r\n');
      await sending;
      t.equal(mails() - before, 1, 'the one that was under way');
    });
  }
}

t.test('a relay that says a byte a second holds up neither the API nor an unsubscribe', async (t) => {
  const sink = await startSink(t);
  const { app, body } = await readyToSend(
    t,
    {},
    () => new SmtpPool(parseRelays(sink.url), { connections: 2, onRelayFailure: () => undefined }),
  );
  const [link = ''] = /\/u\/[^>]+/.exec(await firstMail(app, sink, body)) ?? [];
  const before = sink.received.length;
  sink.script = { drip: 1000 };
  const utr = await createSend(app, body);
  app.clock.advance(RECALL);
  const commands = sink.commands.length;
  void app.background().catch(() => undefined);
  while (sink.commands.length === commands) await setImmediate();
  const form = { 'List-Unsubscribe': 'One-Click' };
  t.equal((await app.page('POST', link, { form })).status, 200);
  for (let calls = 0; calls < 50; calls++) t.match(await sendDetails(app, utr), { status: 2 });
  t.equal((await app.one.call('POST', '/single/send/pause', { query: { utr } })).status, 200);
  t.equal(sink.received.length, before, 'all of it before the relay had said a line');
  t.ok(sink.peak <= 2, 'on no more sockets than it may have');
});

/** Sends one campaign through and gives the last mail that came. */
async function firstMail(app: TestApp, sink: Awaited<ReturnType<typeof startSink>>, body: Record<string, unknown>) {
  await createSend(app, body);
  app.clock.advance(RECALL);
  await app.background();
  return String(sink.received.at(-1)?.message);
}

t.test('cancelled in its rest it goes back to 0; deleted while running it is gone and starts nothing', async (t) => {
  const { app, body } = await readyToSend(t, { SEND_RATE: '1' });
  const first = await createSend(app, body);
  await app.one.call('POST', '/single/send/cancel', { query: { utr: first } });
  app.clock.advance(RECALL);
  await app.background();
  t.match(await sendReport(app, first), { status: 0, held_reason: 'Cancelled before it ran' });
  const second = await createSend(app, body);
  app.clock.advance(RECALL);
  await app.background();
  t.equal(
    (await app.one.call('DELETE', '/single/send/delete', { query: { utr: second } })).body.message,
    'Deleted Successfully',
  );
  const sent = outboxOf(app).length;
  app.clock.advance(60_000);
  await app.background();
  t.equal(outboxOf(app).length, sent);
  t.equal((await app.one.call('GET', '/single-send/details', { query: { utr: second } })).status, 404);
});
