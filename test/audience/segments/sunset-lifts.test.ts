/** What lets people get mail again whom the sunset rule stopped. */
import t from 'tap';
import { DAY } from '../../support/automations.ts';
import { addContact, mustAnswer, uploadCsv } from '../../support/segments.ts';
import { act, MACHINE_AGENTS, OFFER, PERSON_AGENT, pass, SETTLED } from './engagement-world.ts';
import { inactiveNow } from './sunset-reckoning.ts';
import { kindsOf, lift, open, readersAsleep, readSunset, STOP, switchOn } from './sunset-world.ts';

t.test(
  'an open, a click, a form, a choice or joining again lets people get mail again, and machines do not',
  async (t) => {
    const world = await readersAsleep(t, 7);
    const { app } = world;
    await switchOn(world);
    t.equal(inactiveNow(app).length, 6);
    for (const agent of MACHINE_AGENTS) open(world, 'p1', agent, OFFER);
    app.clock.advance(SETTLED);
    await app.background();
    t.equal(inactiveNow(app).length, 6, 'machines');
    open(world, 'p1');
    open(world, 'p2', PERSON_AGENT, OFFER);
    app.clock.advance(SETTLED);
    await app.background();
    t.strictSame(inactiveNow(app), ['p3', 'p4', 'p5', 'p6']);
    const consent = app.db.prepare(
      'INSERT INTO consent_log (user_id, address_id, action, source, created_at) SELECT 1, id, ?, ?, ? FROM addresses WHERE normalized_email = ?',
    );
    const now = app.clock.now().toISOString();
    consent.run('unsubscribed', 'api', now, 'p3@example.com');
    t.equal(inactiveNow(app).length, 4, 'what the account does is no act of theirs');
    consent.run('subscribed', 'form', now, 'p3@example.com');
    consent.run('resubscribed', 'page', now, 'p4@example.com');
    await uploadCsv(app, 'email\np5@example.com\n');
    t.strictSame(inactiveNow(app), ['p5', 'p6'], 'a contact that an import finds again is none, too');
    await addContact(app, 'p5@example.com', { contact_type_id: 2 });
    t.equal(await lift(world, 'P6@example.com'), 200);
    t.strictSame(inactiveNow(app), []);
    t.equal(await lift(world, 'p6@example.com'), 404);
    t.match((await kindsOf(world, 3)).slice(0, 2), ['active_again person', 'clicked']);
    t.ok((await kindsOf(world, 7)).includes('active_again owner'));
    await pass(world, 2 * DAY);
    t.strictSame(inactiveNow(app), [], 'and the next days find none of them');
    t.match(await readSunset(world), { stopped: 0, days: [{ lifted: 6, stopped: 6 }] });
  },
);

t.test('an act that becomes known late counts from when it was, and one before does not', async (t) => {
  const world = await readersAsleep(t);
  await switchOn(world);
  const [p1, p2] = ['p1', 'p2'].map((name) => world.readers.get(name));
  const [mail, other] = [p1?.mails[1], p2?.mails[1]];
  if (p1 === undefined || p2 === undefined || mail === undefined || other === undefined) throw new Error('no mails');
  act(world, p1, mail, PERSON_AGENT, mail.at + DAY, null);
  act(world, p2, other, PERSON_AGENT, world.app.clock.now().getTime() - 35 * DAY, null);
  await world.app.background();
  t.strictSame(inactiveNow(world.app), ['p2', 'p3']);
});

t.test('everybody can be let go at once, and stays so for as long as the rule says', async (t) => {
  const world = await readersAsleep(t);
  const { app } = world;
  await switchOn(world);
  await mustAnswer(app, 'POST', '/sunset/lift-all');
  t.match(await readSunset(world), { is_working: 1 });
  await app.background();
  t.match(await readSunset(world), { stopped: 0, is_working: 0, days: [{ stopped: 3, lifted: 3 }] });
  await pass(world, 3 * DAY);
  t.strictSame(inactiveNow(app), []);
  await mustAnswer(app, 'POST', '/sunset/save', { form: { is_on: 0, ...STOP } });
  await pass(world, 40 * DAY);
  t.strictSame(inactiveNow(app), []);
});
