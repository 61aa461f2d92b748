/** The order of what is done in the database and what is chosen on pages meanwhile. */

import { setTimeout as pause } from 'node:timers/promises';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { headers } from '@nats-io/transport-node';
import t, { type Test } from 'tap';
import { startNats } from '../../fixtures/nats.ts';
import { storeTrackingChoice, storeTrackingChoices } from '../../src/audience/store-tracking-choice.ts';
import { removeSuppression, suppressAddress } from '../../src/audience/suppressions.ts';
import { addUnsubscribers, removeUnsubscribers } from '../../src/audience/unsubscribes.ts';
import { readConfig } from '../../src/config.ts';
import { TRACKING_CHOICE } from '../../src/database/schema/index.ts';
import { WriteLock } from '../../src/database/write-lock.ts';
import { openTokens } from '../../src/delivery/links/tokens.ts';
import { sentence } from '../../src/errors/sentences.ts';
import { stored } from '../../src/errors/stored.ts';
import { PROOF_HEADER } from '../../src/nodes/change-proof.ts';
import { connectNats } from '../../src/nodes/connection.ts';
import { untilChoicesApplied } from '../../src/nodes/controller/catch-up.ts';
import { Contents } from '../../src/nodes/controller/contents.ts';
import { NodeHandoffs } from '../../src/nodes/controller/node-handoffs.ts';
import { PageSender } from '../../src/nodes/controller/page-sender.ts';
import { consentApplier } from '../../src/nodes/feedback/apply-consent.ts';
import { findPosition, savePosition } from '../../src/nodes/feedback/position.ts';
import { ChangePublisher } from '../../src/nodes/feedback/publish-changes.ts';
import { publishChoice } from '../../src/nodes/keep-consent.ts';
import { makeStreams, STREAM } from '../../src/nodes/streams.ts';
import { systemClock } from '../../src/time/clock.ts';
import { ACCEPTED, launch, Relay } from '../support/launched-mailing.ts';
import { skipWithout } from '../support/tools.ts';

const skip = skipWithout('nats');

/** A database with two people and a stream of which it has everything. */
async function prepare(t: Test) {
  const { urls } = await startNats(t);
  const options = { name: 'brain', signal: new AbortController().signal, log: () => undefined };
  const connection = await connectNats(readConfig({ NATS_URL: urls }), options);
  t.teardown(() => connection.close());
  await makeStreams(connection);
  const { db } = await launch(t, 2, new Relay(() => ACCEPTED));
  const client = db.$client;
  const manager = await jetstreamManager(connection);
  const info = () => manager.streams.info(STREAM.consents);
  const made = String((await info()).created);
  savePosition(client, STREAM.consents, { made, sequence: 0 });
  const tokens = openTokens(client);
  const person = client
    .prepare<[], { address: number; user: number; email: string }>(
      'SELECT id AS address, user_id AS user, normalized_email AS email FROM addresses LIMIT 1',
    )
    .get();
  if (person === undefined) throw new Error('nobody is there');
  const ids = { ...person, delivery: 0, mailing: 0, group: 0 };
  const publisher = new ChangePublisher({ connection, db, lock: new WriteLock(client), tokens, run: 'this' });
  return {
    db,
    client,
    person,
    publisher,
    info,
    connection,
    made,
    leave: () =>
      addUnsubscribers(db, { accountId: person.user, groupId: null, source: 'api', now: new Date().toISOString() }, [
        { address: person.email, normalized: person.email, domain: '' },
      ]),
    choose: (form: 'none' | 'back', at: number) =>
      publishChoice(
        jetstream(connection),
        tokens,
        { ids, token: tokens.recipient(ids).unsubscribe, at },
        { form, text: '', left: form === 'none' ? [0] : [], joined: form === 'back' ? [0] : [] },
      ),
    /** Carries out the message with this sequence. */
    async carryOut(sequence: number, run = 'this') {
      const message = await manager.streams.getMessage(STREAM.consents, { seq: sequence });
      if (message === null) throw new Error('there is no such message');
      const apply = consentApplier(db, tokens, systemClock, run);
      apply(message.string(), message.subject, message.header.get(PROOF_HEADER));
      savePosition(client, STREAM.consents, { made, sequence });
    },
    left: () => client.prepare('SELECT count(*) FROM unsubscribers').pluck().get(),
    waiting: () => client.prepare('SELECT count(*) FROM unpublished_choices').pluck().get(),
  };
}

t.test('what was done before a choice on a page is not published after it', { skip }, async (t) => {
  const { leave, choose, publisher, carryOut, info, left, waiting } = await prepare(t);
  leave();
  await choose('back', Date.now() + 1000);
  await publisher.publish();
  t.equal((await info()).state.last_seq, 1, 'it waits until the choice is carried out');
  await carryOut(1);
  t.strictSame([left(), waiting()], [0, 0], 'which came later');
  await publisher.publish();
  t.equal((await info()).state.last_seq, 1);
});

t.test('what was done after a choice on a page stays, and is published after it', { skip }, async (t) => {
  const { leave, choose, publisher, carryOut, info, left, waiting } = await prepare(t);
  await choose('back', Date.now() - 1000);
  leave();
  await publisher.publish();
  t.equal((await info()).state.last_seq, 1);
  await carryOut(1);
  t.strictSame([left(), waiting()], [1, 1]);
  await publisher.publish();
  t.strictSame([(await info()).state.last_seq, waiting()], [2, 0]);
  await carryOut(2);
  t.equal(left(), 1);
});

t.test(
  'a change that puts somebody back does nothing when it is published again after they left',
  { skip },
  async (t) => {
    const { db, client, person, publisher, connection, carryOut, info, leave, left } = await prepare(t);
    const one = <Value>(sql: string) => client.prepare<[], Value>(sql).pluck().get();
    const { user: accountId, address: addressId } = person;
    const now = () => new Date().toISOString();
    const track = (isAllowed: boolean) =>
      storeTrackingChoice(client, {
        accountId,
        addressId,
        isAllowed,
        source: 'api',
        text: '',
        mailingId: null,
        now: now(),
      });
    const suppress = () =>
      suppressAddress(client, {
        user_id: accountId,
        address_id: addressId,
        kind: 'bounce',
        diagnostic: '',
        created_at: now(),
      });
    /** Publishes what waits, reads it as every run does, and lets the clock go on. */
    const publish = async () => {
      const { last_seq: before } = (await info()).state;
      await publisher.publish();
      for (let at = before + 1; at <= (await info()).state.last_seq; at++) await carryOut(at);
      await pause(2);
    };
    const leaveAll = () => {
      leave();
      suppress();
      track(false);
    };
    const state = () => [
      left(),
      one('SELECT count(*) FROM suppressions'),
      one('SELECT max(tracking_choice) FROM addresses'),
    ];
    leaveAll();
    await publish();
    removeUnsubscribers(db, [Number(one('SELECT id FROM unsubscribers'))], 'api', now());
    removeSuppression(client, Number(one('SELECT id FROM suppressions')));
    track(true);
    t.strictSame(state(), [0, 0, TRACKING_CHOICE.allowed]);
    await publish();
    t.equal((await info()).state.last_seq, 6);
    const manager = await jetstreamManager(connection);
    const again = async (sequence: number) => {
      const message = await manager.streams.getMessage(STREAM.consents, { seq: sequence });
      if (message === null) throw new Error('there is no such message');
      const proof = headers();
      proof.set(PROOF_HEADER, message.header.get(PROOF_HEADER));
      const { seq } = await jetstream(connection).publish(message.subject, message.data, { headers: proof });
      return seq;
    };
    // Another run of the controller: its file has what this one did, and it does not know that.
    for (const sequence of [4, 5, 6]) await carryOut(await again(sequence), 'next');
    t.strictSame(state(), [0, 0, TRACKING_CHOICE.allowed], 'it says how it is');
    leaveAll();
    await publish();
    const gone = [1, 1, TRACKING_CHOICE.refused];
    for (const sequence of [4, 5, 6]) await carryOut(await again(sequence), 'next');
    t.strictSame(state(), gone);
  },
);

t.test(
  'a file that takes over has why an address is suppressed, whole, and what an import said of tracking, in English',
  { skip },
  async (t) => {
    const { client, person, publisher, carryOut, info } = await prepare(t);
    const { user: user_id, address: address_id } = person;
    const created_at = new Date(0).toISOString();
    const diagnostic = sentence('returned', {
      cause: sentence('cause_address'),
      reply: '550 5.1.1 no'.padEnd(500, '.'),
    });
    suppressAddress(client, { user_id, address_id, kind: 'bounce', diagnostic, created_at });
    const text = sentence('tracking_imported', { name: 'people.csv' });
    storeTrackingChoices(client, { accountId: user_id, text, now: created_at }, [
      { address: address_id, choice: TRACKING_CHOICE.allowed },
    ]);
    await publisher.publish();
    client.exec(`DELETE FROM suppressions; DELETE FROM consent_log; UPDATE addresses SET tracking_choice = 0;
      DELETE FROM unpublished_choices`);
    for (let at = 1; at <= (await info()).state.last_seq; at++) await carryOut(at, 'next');
    const read = (sql: string) => client.prepare(sql).pluck().all();
    t.strictSame(read('SELECT diagnostic FROM suppressions'), [stored(diagnostic)]);
    t.strictSame(read('SELECT consent_text FROM consent_log'), [String(text)]);
  },
);

t.test('nothing is claimed before every choice that NATS has is in the database', { skip }, async (t) => {
  const { choose, client, db, connection, made } = await prepare(t);
  await choose('none', Date.now());
  await choose('back', Date.now());
  const contents = new Contents('ours.1', () => '');
  const handoffs = new NodeHandoffs({
    client,
    newName: () => 'ours.1',
    now: () => new Date(),
    monotonic: () => 0,
    contents,
    sender: new PageSender(contents),
    settings: () => '',
    onGone: () => undefined,
    mayLeave: () => true,
    onOutcome: () => undefined,
    log: () => undefined,
  });
  const beat = {
    protocol: 1,
    version: '',
    run: 'node.1',
    name: 'node',
    capacity: 100,
    rate: 0,
    refusal: '',
    withdrawn: [],
  };
  handoffs.beat({ ...beat, brain: '' });
  handoffs.take(
    { protocol: 1, run: 'node.1', brain: 'ours.1', ended: [], has: [] },
    { stream: 'made', sequence: 1 },
    'node',
  );
  handoffs.beat({ ...beat, brain: 'ours.1' });
  const { signal } = new AbortController();
  const caughtUp = untilChoicesApplied({ connection, client, signal, log: () => undefined }).then(() => {
    t.equal(findPosition(db.$client, STREAM.consents)?.sequence, 2);
    handoffs.begin();
  });
  savePosition(client, STREAM.consents, { made, sequence: 1 });
  t.equal(handoffs.room(null), 0);
  await new Promise((resolve) => setTimeout(resolve, 200));
  t.equal(handoffs.room(null), 0);
  savePosition(client, STREAM.consents, { made, sequence: 2 });
  await caughtUp;
  t.equal(handoffs.room(null), 100);
});
