/** A sender whose mail goes over one relay only: who may choose it, and that its mail goes there and nowhere else. */
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { addPerson, callerOf } from '../support/people.ts';
import { SENDER as LARK } from '../support/sender.ts';
import { addContact, createSend, RECALL, readyToSend } from '../support/single-sends.ts';
import { followingCourier } from '../support/smtp/following-courier.ts';
import { type Sink, startSink } from '../support/smtp/scripted-relay.ts';
import { until } from '../support/until.ts';

const SENDER = { ...LARK, from_email: 'offers@example.com' };
const SETTINGS = { SENDER_VERIFICATION: 'optional' };
const DOWN = { greeting: '421 4.3.2 closed for now\r\n' };

/** Two relays and two senders with a list each; the second sender names the second relay. */
async function startTwo(t: Test, people: readonly string[] = ['Ida', 'Jon']) {
  const { app, body } = await readyToSend(t, SETTINGS, followingCourier);
  const operator = callerOf(app, addPerson(app));
  const sinks: [Sink, Sink] = [await startSink(t), await startSink(t)];
  for (const [at, { port }] of sinks.entries()) {
    const form = { name: `Relay ${at + 1}`, host: '127.0.0.1', port, security: 'none' };
    await operator.call('POST', '/relays/save', { form });
  }
  const post = (path: string, form: Record<string, unknown>) => operator.call('POST', path, { form });
  const added = await post('/sender/save', { ...SENDER, relay_id: 2 });
  if (added.status !== 200) throw new Error(added.text);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Second list' } });
  for (const name of people) await addContact(app.one, 2, name);
  const bodies = [body, { ...body, sender_id: 2, recipient_id: ['contacts_2'] }] as const;
  const launch = async (...given: Record<string, unknown>[]) => {
    for (const one of given) await createSend(app, one);
    app.clock.advance(RECALL + 1000);
    await app.background();
  };
  const received = () => sinks.map((sink) => sink.received.map(({ to }) => to).sort());
  await app.background();
  return { app, operator, sinks, bodies, launch, post, received };
}

const FIRST = ['Ann@example.org', 'Bob@example.org', 'zoe@example.org'];
const SECOND = ['Ida@example.org', 'Jon@example.org'];

t.test(
  'mail of a sender that names a relay goes over that one alone, its verification and test mails too',
  async (t) => {
    const { app, bodies, launch, received, sinks } = await startTwo(t);
    t.strictSame(received(), [[], ['offers@example.com']], 'the verification mail');
    const utr = await createSend(app, {
      ...bodies[1],
      schedule_type: 1,
      schedule_date: '2030-01-31',
      schedule_time: '09:30',
    });
    const form = { utr, email_address: 'desk@example.org' };
    t.match(await app.one.call('POST', '/single/send/test', { form }), { status: 200 });
    await app.background();
    t.strictSame(received(), [[], ['desk@example.org', 'offers@example.com']], 'the test mail');
    for (const { received } of sinks) received.length = 0;
    await launch(...bodies);
    t.strictSame(received(), [FIRST, SECOND]);
  },
);

t.test(
  'while the relay of a sender is down its mail waits, other mail does not, and it leaves once the relay is back',
  async (t) => {
    const { app, bodies, launch, received, sinks, operator } = await startTwo(t);
    const [, second] = sinks;
    second.received.length = 0;
    second.script = DOWN;
    second.dropAll();
    await launch(bodies[1], bodies[0]);
    t.strictSame(received(), [FIRST, []]);
    const { relays } = (await operator.call('GET', '/relays')).body.message;
    t.match(relays[1], { failure: /closed for now/, sender_ids: [2] });
    second.script = {};
    app.clock.advance(60_000);
    // The pool connects again after a second of its own time.
    await until(
      () => second.received.length > 0,
      () => app.background(),
    );
    t.strictSame(received(), [FIRST, SECOND], 'each of them once');
  },
);

t.test('a first relay that is down does not send the mail of a sender that names it to the next', async (t) => {
  const { app, bodies, launch, received, sinks, post } = await startTwo(t);
  t.equal((await post('/sender/update', { ...SENDER, sender_id: 2, relay_id: 1 })).status, 200);
  for (const sink of sinks) sink.received.length = 0;
  sinks[0].script = { greeting: '554 5.7.1 go away\r\n', mail: '451 4.3.0 later\r\n' };
  sinks[0].dropAll();
  await launch(bodies[1], bodies[0]);
  t.strictSame(received(), [[], FIRST], 'only mail for any relay goes over the next one');
  const left = app.db.prepare('SELECT count(*) FROM deliveries WHERE state = 0').pluck();
  t.equal(left.get(), SECOND.length, 'the rest is queued');
});

t.test('a relay that is chosen while mail is sent gets what has not left, and nobody gets a mail twice', async (t) => {
  const people = Array.from({ length: 60 }, (_, at) => `P${at}`);
  const { app, bodies, received, sinks, post } = await startTwo(t, people);
  sinks[1].received.length = 0;
  sinks[1].script = { dot: () => sleep(20).then(() => '250 ok\r\n') };
  await createSend(app, bodies[1]);
  app.clock.advance(RECALL + 1000);
  while (sinks[1].received.length < 5) await app.step();
  t.equal((await post('/sender/update', { ...SENDER, sender_id: 2, relay_id: 1 })).status, 200);
  await app.background();
  const [first = [], second = []] = received();
  t.ok(first.length > 0 && second.length > 0, `${first.length} and ${second.length}`);
  t.strictSame([...first, ...second].sort(), people.map((name) => `${name}@example.org`).sort());
});

t.test('only an operator who is signed in names a relay; whoever names none changes nothing', async (t) => {
  const { app, post } = await startTwo(t);
  const chosen = () => app.db.prepare('SELECT relay_id FROM senders WHERE id = 2').pluck().get();
  const update = { ...SENDER, sender_id: 2 };
  for (const relay_id of ['', 0, undefined]) {
    const form = { ...update, ...(relay_id !== undefined && { relay_id }) };
    t.equal((await app.one.call('POST', '/sender/update', { form })).status, 200);
    t.equal(chosen(), 2, 'a pair of keys sees no relays, so it cannot take one away');
  }
  const refused = await app.one.call('POST', '/sender/update', { form: { ...update, relay_id: 1 } });
  t.match(refused, { status: 422, body: { errors: { relay_id: [/owner of the first account/] } } });
  const other = callerOf(app, addPerson(app, 'owner', { accountId: 2, email: 'two@example.org' }));
  for (const relay_id of [1, 99])
    t.match(await other.call('POST', '/sender/save', { form: { ...SENDER, relay_id } }), {
      status: 422,
      body: { errors: { relay_id: [/owner of the first account/] } },
    });
  t.equal((await other.call('GET', '/relays')).status, 403);
  t.notMatch((await app.one.call('GET', '/senders')).text, 'relay');
  const editor = callerOf(app, addPerson(app, 'editor'));
  t.equal((await editor.call('POST', '/sender/update', { form: { ...update, relay_id: 1 } })).status, 403);
  t.match(await post('/sender/update', { ...update, relay_id: 99 }), {
    status: 422,
    body: { errors: { relay_id: [] } },
  });
  t.equal(chosen(), 2);
  t.equal((await post('/sender/update', { ...update, relay_id: 0 })).status, 200);
  t.equal(chosen(), null);
});

t.test('a relay that senders name is not deleted, and the answer says how many they are', async (t) => {
  const { app, post } = await startTwo(t);
  t.match(await post('/relays/delete', { id: 2 }), { status: 409, body: { errors: /use this SMTP server only: 1\./ } });
  t.equal((await app.one.call('DELETE', '/sender/delete?sender_id=2')).status, 200);
  t.equal((await post('/relays/delete', { id: 2 })).status, 200);
  t.equal(app.db.prepare('SELECT relay_id FROM senders WHERE id = 2').pluck().get(), null);
});
