/** Why one contact gets the mails of an automation or a campaign or not. */
import t from 'tap';
import { DAY, HOUR, withPaths, withWelcomeSeries } from '../support/automations.ts';
import { addPerson, cookieOf } from '../support/people.ts';
import { ACCEPTED, startSend, startSeries, startShop, UNKNOWN } from '../support/shop.ts';

interface Rule {
  rule: string;
  is_met: 0 | 1;
  value: string;
  change: string | null;
}

const ruleOf = (rules: readonly Rule[], name: string) => rules.filter(({ rule }) => rule === name);
const unmet = (rules: readonly Rule[]) => rules.flatMap(({ rule, is_met: isMet }) => (isMet === 1 ? [] : [rule]));

t.test('past and coming steps of a contact are explained, and every rule allows who waits', async (t) => {
  const { utr, get, live, join, pass } = await withWelcomeSeries(t);
  await live();
  await join('ann');
  await pass(HOUR);
  const { why } = (await get('/automations/why', { utr, email: 'ann@example.org' })).body.message;
  t.match(why, { email: 'ann@example.org', contact_id: 1, state: 'waiting', reason: null, run: 1 });
  t.strictSame(unmet(why.rules), []);
  t.match(why.steps, [
    { subject: 'one', code: 'mail', delivery_state: 'accepted', attempts: 1, is_elsewhere: 0 },
    { subject: 'two', code: null, taken_at: null, due_at: String },
    { subject: 'three', code: null, taken_at: null, due_at: String },
  ]);
  t.equal((await get('/automations/why', { utr, email: 'no address' })).status, 422);
});

t.test('the rule that stops mail is named with its value and what would change it', async (t) => {
  const { utr, get, post, live, join, pass } = await withWelcomeSeries(t);
  await live();
  await join('ann');
  await pass(HOUR);
  await post('/global-unsubscribes/save', { email_address: 'ann@example.org' });
  const before = (await get('/automations/why', { utr, email: 'nobody@example.org' })).body.message.why;
  t.strictSame(unmet(before.rules), ['target', 'contact']);
  t.match(ruleOf(before.rules, 'target'), [
    { value: 'Not in: Readers', change: 'Add the contact to one of these lists or segments.' },
  ]);
  t.equal(before.state, 'outside');
  const left = (await get('/automations/why', { utr, email: 'ann@example.org' })).body.message.why;
  t.strictSame(unmet(left.rules), ['unsubscribed']);
  t.match(ruleOf(left.rules, 'unsubscribed'), [
    { value: /^Unsubscribed on /, change: 'The contact subscribes again.' },
  ]);
  t.equal(left.reason_code, 'unsubscribed_all');
  await get('/automations/pause', { utr });
  const paused = (await get('/automations/why', { utr, email: 'ann@example.org' })).body.message.why;
  t.match(ruleOf(paused.rules, 'started'), [{ is_met: 0, change: 'Start the automation, or send the campaign.' }]);
});

t.test('caps are shown with how many mails count, and the words of the relay are kept', async (t) => {
  const shop = await startShop(t);
  const { app, relay, get, post, add } = shop;
  await post('/sending/caps/save', { caps: ['1/7'] });
  relay.answer = (to) => (to.startsWith('bo') ? UNKNOWN : ACCEPTED);
  await add('ann');
  await add('bo');
  const utr = await startSend(shop);
  await app.background();
  const bo = (await get('/single-send/why', { utr, email: 'bo@example.org' })).why;
  t.match(bo.delivery, { state: 'bounced', attempts: 1, reply: /550 5.1.1 no such user/ });
  t.match(unmet(bo.rules), ['suppression']);
  t.match(ruleOf(bo.rules, 'suppression')[0]?.value, /550 5.1.1 no such user/);
  const ann = (await get('/single-send/why', { utr, email: 'ann@example.org' })).why;
  t.match(ann.delivery, { state: 'accepted', attempts: 1 });
  t.match(ruleOf(ann.rules, 'cap'), [{ is_met: 0, value: 'E-mails in 7 days: 1 of at most 1.' }]);
  const nobody = (await get('/single-send/why', { utr, email: 'nobody@example.org' })).why;
  t.match(nobody, { delivery: null, contact_id: null });
  t.strictSame(unmet(nobody.rules), ['target', 'contact']);
  const series = await startSeries(shop, { hello: 0 }, { ignores_caps: 1 });
  await shop.pass(DAY);
  t.match((await get('/automations/why', { utr: series.utr, email: 'ann@example.org' })).why, {
    state: 'outside',
    reason_code: 'joined_outside_live',
  });
});

t.test('each step says which values decided at that moment, and the log has them too', async (t) => {
  const { utr, get, post, step, utrOf, live, join, pass } = await withPaths(t);
  await post('/custom-fields/save', { field_name: 'stage', field_type: 'text' });
  const before = await utrOf('two');
  await step({ kind: 'set_field', field: 'stage', value: 'new', before });
  await step({ kind: 'set_field', field: 'stage', value: 'old', before });
  await step({ kind: 'if', segment_id: 1, before });
  await step({ kind: 'split', share: 50, before });
  await step({ kind: 'wait_until', until: 'event', event: 'purchase', timeout_hours: 1, before });
  await step({ kind: 'wait_until', until: 'hour', hour: 12, before });
  await live();
  await join('ann');
  await pass(30 * HOUR);
  const change = { contact_id: 1, contact_type_id: 1, email: 'ann@example.org', first_name: 'Else', country: 1 };
  await post('/contacts/update', change);
  const { why } = (await get('/automations/why', { utr, email: 'ann@example.org' })).body.message;
  const stepsOf = (kind: string) => why.steps.filter((one: { kind: string }) => one.kind === kind);
  t.match(stepsOf('set_field'), [{ used: ['stage: from “–” to “new”.'] }, { used: ['stage: from “new” to “old”.'] }]);
  t.match(stepsOf('if'), [
    { code: 'yes', used: ['In the segment “Anns”.', 'Values at that moment: first_name: ann.'] },
  ]);
  t.match(stepsOf('split'), [
    { used: [/^The random number was [\d.]+ of 100\. Below 50, the contact takes the first path\.$/] },
  ]);
  t.match(stepsOf('wait_until'), [
    { code: 'no', used: ['The event “purchase” did not come in time.'] },
    { code: 'yes', used: ['In the time zone Asia/Kabul.'] },
  ]);
  t.strictSame(stepsOf('mail')[0]?.used, []);
  const { log } = (await get('/automations/log', { utr, email: 'ann@example.org' })).body.message;
  t.match(
    log.find(({ kind }: { kind: string }) => kind === 'if'),
    { reason: 'Values at that moment: first_name: ann.', reason_code: 'used_values' },
  );
});

t.test('a contact who waits at a step is told for what, until when, and what would change it', async (t) => {
  const { app, utr, get, post, step, utrOf, live, join, pass } = await withPaths(t);
  await post('/custom-fields/save', { field_name: 'renewal', field_type: 'datetime-local' });
  const before = await utrOf('two');
  const wait = { kind: 'wait_until', before };
  await step({ ...wait, until: 'event', event: 'purchase', event_filter: 'value >= 30', timeout_hours: 4 });
  await step({ ...wait, until: 'date', field: 'renewal', timeout_hours: 48 });
  await step({ ...wait, until: 'hour', hour: 12 });
  await live();
  await join('ann');
  await pass(HOUR);
  const asked = { utr, email: 'ann@example.org' };
  const shown = async () => {
    const { steps } = (await get('/automations/why', asked)).body.message.why;
    const { awaits, change } = (await get('/automations/preview', asked)).body.message.preview;
    const at = steps.filter((one: { awaits: string | null }) => one.awaits !== null);
    t.match(at, [{ kind: 'wait_until', awaits, change }]);
    return [awaits, change, at[0]?.due_at?.slice(0, 16)];
  };
  t.match(await shown(), [
    'Waits for the event “purchase” with value >= 30, at most until 2026-01-15 14:00 UTC.',
    /^If the event comes, the contact goes on at once by the path “It came in time”/,
    '2026-01-15T14:00',
  ]);
  const owner = addPerson(app);
  const cookie = () => cookieOf(app, owner);
  const page = await app.page('GET', `/automations/${utr}/why`, { query: asked, headers: { cookie: cookie() } });
  t.match(page.text, /Waits for the event “purchase” with value >= 30, at most[\s\S]+by the path “Timed out”/);
  t.match(page.text, 'At the latest');
  const look = await app.page('GET', `/automations/${utr}`, { query: asked, headers: { cookie: cookie() } });
  t.match(look.text, 'Waits for the event “purchase”');
  await pass(4 * HOUR);
  t.match(await shown(), [
    'Waits for the date in “renewal”, now –, in the time zone Asia/Kabul; at most until 2026-01-17 14:00 UTC.',
    /^Another date in “renewal” counts at once/,
    '2026-01-17T14:00',
  ]);
  await pass(48 * HOUR);
  t.notMatch(page.text, 'Not taken');
  t.match(await shown(), [
    'Waits until 2026-01-18 12:00, in the time zone Asia/Kabul.',
    /It changes if the contact gets another time zone/,
    '2026-01-18T07:30',
  ]);
  await post('/global-unsubscribes/save', { email_address: 'ann@example.org' });
  await pass(4 * DAY);
  const ended = await app.page('GET', `/automations/${utr}/why`, { query: asked, headers: { cookie: cookie() } });
  t.match(ended.text, 'Not taken', 'after the end no further step comes');
  t.notMatch(ended.text, 'Not yet, or not at all');
});

t.test(
  'a paused automation promises no way out of a wait, and what came meanwhile is waited for no longer',
  async (t) => {
    const { app, utr, get, step, utrOf, live, join, pass } = await withPaths(t);
    const wait = { kind: 'wait_until', before: await utrOf('two') };
    await step({ ...wait, until: 'event', event: 'purchase', timeout_hours: 4 });
    await live();
    await join('ann');
    await pass(HOUR);
    await get('/automations/pause', { utr });
    const shown = async () =>
      (await get('/automations/preview', { utr, email: 'ann@example.org' })).body.message.preview;
    t.match(await shown(), { awaits: /^Waits for the event “purchase”/, change: null });
    await pass(HOUR);
    const event = { name: 'purchase', email: 'ann@example.org' };
    t.equal((await app.one.call('POST', '/events', { json: event })).status, 200);
    await pass(HOUR);
    t.match(await shown(), { awaits: null, change: null, reason_code: 'automation_not_live' });
  },
);

t.test('a contact of the target who was not let in by the trigger has not entered', async (t) => {
  const { utr, get, post, live, join } = await withWelcomeSeries(t);
  await post('/automations/update', { utr, trigger_kind: 'hand' });
  await live();
  await join('ann');
  const { why } = (await get('/automations/why', { utr, email: 'ann@example.org' })).body.message;
  t.match([why.state, why.reason_code], ['outside', 'awaits_trigger']);
  t.match(ruleOf(why.rules, 'entry'), [{ is_met: 0, value: /^Has not entered yet: / }]);
});

t.test("another account's automation or campaign cannot be asked about", async (t) => {
  const { app, utr } = await withWelcomeSeries(t);
  for (const path of ['/automations/why', '/single-send/why'])
    t.equal((await app.two.call('GET', path, { query: { utr, email: 'ann@example.org' } })).status, 404);
});
