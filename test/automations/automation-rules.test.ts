/** Edge cases of the rules of automations: the smallest examples in which the code and the model once differed. */
import t, { type Test } from 'tap';
import { FIRST_DUE } from '../../src/automations/enrolment.ts';
import { setLive } from '../../src/automations/go-live.ts';
import { MEMBERSHIP_CHANGES_PAGE, NEXT_CHANGED_ACCOUNT } from '../../src/automations/membership-changes.ts';
import { readConfig } from '../../src/config.ts';
import { LEAVE_TARGET } from '../../src/delivery/queue/enrolment-state.ts';
import type { Mail } from './automation-model.ts';
import { DAY, HOUR, startWorld } from './automation-month.ts';

/** An automation of two mails, the second after two days. */
async function start(t: Test, exit: 0 | 1 = 1) {
  const world = await startWorld(t, 1);
  await world.create(1, { target: 1, group: 1, exit });
  await world.addSchedule(1, 'instantly', 1);
  const last = await world.addSchedule(1, 'days', 2);
  const tick = async () => {
    world.model.tick(world.app.clock.now().getTime());
    await world.app.background();
  };
  const lines = (mails: Mail[]) => mails.map(({ person, schedule }) => `${person} ${schedule}`).sort();
  /** Compares what was sent after these days. */
  const agree = async () => {
    for (let day = 0; day < 5; day++) {
      world.app.clock.advance(DAY);
      await tick();
    }
    t.strictSame(lines(world.accepted()), lines(world.model.mails));
  };
  const { utr } = (await world.app.one.call('GET', '/automations')).body.message.automations[0];
  return { ...world, tick, agree, last, utr };
}

t.test('a person who joins after the clock was set back is enrolled', async (t) => {
  const { app, model, setLive, addNew, agree, tick } = await start(t);
  await setLive(1);
  app.clock.jump(-HOUR);
  await addNew(1);
  await tick();
  await agree();
  t.equal(model.mails.length, 2);
});

t.test('a person who joined in the second before it went live is not enrolled', async (t) => {
  const { app, setLive, addNew, agree, create, addSchedule } = await start(t);
  await create(2, { target: 1, group: 1, exit: 0 });
  await addSchedule(2, 'instantly', 1);
  await setLive(2);
  app.clock.advance(100);
  await addNew(1);
  app.clock.advance(100);
  await setLive(1);
  await agree();
});

t.test('a person who leaves and comes back while it is paused has left', async (t) => {
  const { setLive, pause, add, move, agree, tick, model } = await start(t);
  await setLive(1);
  await add('a@x.org', 1);
  await tick();
  await pause(1);
  await move('a@x.org', 1);
  await tick();
  await move('a@x.org', 2);
  await setLive(1);
  await agree();
  t.equal(model.mails.length, 1);
});

t.test(
  'a person who joined while it was live is enrolled, even if it was paused or held before the join was applied',
  async (t) => {
    const { app, setLive, pause, add, agree, tick } = await start(t);
    const pending = () => app.db.prepare('SELECT count(*) FROM membership_changes').pluck().get();
    await setLive(1);
    await add('a@x.org', 1);
    await pause(1);
    t.equal(pending(), 1, 'and the pause itself reads no changes');
    await setLive(1);
    await add('b@x.org', 1);
    await app.one.call('DELETE', '/sender/delete', { query: { sender_id: 1 } });
    app.db.exec('UPDATE senders SET deleted_at = NULL');
    await tick();
    t.equal(app.db.prepare('SELECT count(*) FROM enrolments').pluck().get(), 2);
    await setLive(1);
    await agree();
  },
);

t.test(
  'a last mail that is replaced keeps its wait: at once none is left while live, paused people keep their place',
  async (t) => {
    const { app, setLive, pause, add, agree, tick, deleteSchedule, addSchedule, last, accepted } = await start(t);
    await setLive(1);
    await add('a@x.org', 1);
    await tick();
    await pause(1);
    await deleteSchedule(1, last);
    const replaced = await addSchedule(1, 'days', 2);
    await setLive(1);
    app.clock.advance(HOUR);
    await tick();
    t.equal(accepted().length, 1, 'it is not due yet');
    await add('b@x.org', 1);
    await tick();
    await deleteSchedule(1, replaced);
    await addSchedule(1, 'days', 1);
    await agree();
  },
);

t.test('what changes while the mails are frozen is checked before it goes live', async (t) => {
  const { app, utr } = await start(t);
  const deps = { db: app.drizzle, clock: app.clock, config: readConfig({}), wake: () => {} };
  const going = setLive(deps, 1, utr, { isByProgram: false });
  app.db.exec("UPDATE senders SET deleted_at = 'x'");
  await t.rejects(going, { message: /its sender was deleted/ });
  app.db.exec('UPDATE senders SET deleted_at = NULL');
  const again = setLive(deps, 1, utr, { isByProgram: false });
  app.db.exec("UPDATE automation_schedules SET subject = 'Changed'");
  await again;
  t.strictSame(
    app.db
      .prepare("SELECT DISTINCT content ->> '$.content.subject' FROM mailings WHERE owner_kind = 'schedule'")
      .pluck()
      .all(),
    ['Changed'],
  );
});

t.test(
  'the statements that run in every round use an index, so that their cost does not grow with the number of people',
  async (t) => {
    const { app } = await start(t);
    const plan = (text: string) =>
      app.db
        .prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${text.replaceAll(/\?|@\w+/g, '1')}`)
        .all()
        .map(({ detail }) => detail);
    t.strictSame(plan(MEMBERSHIP_CHANGES_PAGE), ['SEARCH m USING INDEX membership_changes_user (user_id=?)']);
    t.notOk(plan(NEXT_CHANGED_ACCOUNT).some((line) => /SCAN membership|TEMP B-TREE/.test(line)));
    t.match(
      plan(LEAVE_TARGET)[0],
      /SEARCH enrolments USING INDEX enrolments_active \(automation_id=\? AND address_id=\?\)/,
    );
    t.match(plan(FIRST_DUE).join(), /SEARCH n USING INDEX enrolments_place \(automation_id=\? AND position>\?\)/);
    t.notOk(
      plan(FIRST_DUE).some((line) => /^SCAN (?!firsts|CONSTANT ROW)/.test(line)),
      'only one row for each place',
    );
  },
);

t.test('the preview knows pending joins, pauses and deleted contacts; the report deleted mails', async (t) => {
  const { app, setLive, pause, add, remove, tick, deleteSchedule, last, utr } = await start(t, 0);
  const get = async (path: string) =>
    (await app.one.call('GET', `/automations/${path}`, { query: { utr, email: 'a@x.org' } })).body.message[path];
  await setLive(1);
  await add('a@x.org', 1);
  t.match(await get('preview'), {
    state: 'waiting',
    reason: null,
    mails: [{ due_at: /^2026-01-15/ }, { due_at: /^2026-01-17/ }],
  });
  await tick();
  await pause(1);
  t.match(await get('preview'), {
    reason: 'the automation is not live',
    mails: [{ sent_at: /^2026/ }, { due_at: null }],
  });
  await setLive(1);
  app.db.exec('UPDATE deliveries SET state = 5 WHERE mailing_id IN (SELECT id FROM mailings WHERE automation_id = 1)');
  t.match(await get('preview'), { mails: [{ sent_at: null, due_at: null }, {}] }, 'what was left out was not sent');
  await remove(['a@x.org'], 1);
  t.match(await get('preview'), { reason: 'the contact was deleted', mails: [{}, { due_at: null }] });
  await deleteSchedule(1, last);
  t.match(await get('report'), { mails: [{ delivered: 1 }, { utr: null, subject: 'A mail' }] });
  app.db.exec(
    "UPDATE mailings SET state = 'held', held_code = 'relay_refused', held_reason = 'refused' WHERE automation_id = 1",
  );
  t.match(await get('report'), { held_code: 'relay_refused', held_reason: 'refused' });
});
