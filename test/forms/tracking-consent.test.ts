/** The box of a form that asks whether opens and clicks may be recorded. */
import t from 'tap';
import { startApp, type TestApp } from '../support/app.ts';
import { mustSucceed } from '../support/campaign.ts';
import { addReadyForm, askedMails, type ReadyForm, subscribe } from '../support/forms.ts';
import { addPerson, cookieOf, FROM_PAGE } from '../support/people.ts';

const BOX = /<input type="checkbox" name="tracking" value="1"\/>\s*<span>You may record which e-mails I open/;

/** Sends the form for an address and confirms it by the mail, from another network; gives the page with the button. */
async function confirm(app: TestApp, form: ReadyForm, email: string, more: Record<string, unknown>): Promise<string> {
  await subscribe(app, form, email, more);
  const path = (await askedMails(app)).at(-1)?.path ?? '';
  const { text } = await app.page('GET', path);
  app.clock.advance(60_000);
  await app.page('POST', path, { headers: { 'x-forwarded-for': '198.51.100.7' } });
  return text;
}

const choiceOf = async (app: TestApp, contact_id: number) =>
  (await app.one.call('GET', '/contacts/tracking', { query: { contact_id } })).body.message.tracking;

t.test(
  'who ticks the box and confirms is recorded, with the text, the moments and the networks as proof',
  async (t) => {
    const app = await startApp(t, { TRUST_PROXY: '127.0.0.1' });
    const must = mustSucceed(t, app.one);
    await must('/tracking/save', { mode: 'consent' });
    const form = await addReadyForm(t, app, { asks_tracking: 1 });
    const page = (await app.page('GET', form.path)).text;
    t.match(page, BOX, 'not ticked and not required');
    const details = (await app.one.call('GET', '/forms/details', { query: { id: form.id } })).body.message;
    t.match(details.snippet, BOX, 'on other websites, too');
    t.match(details.form, { asks_tracking: 1, tracking_text: /^You may record/ });

    const asked = app.clock.now().toISOString();
    const button = await confirm(app, form, 'anna@example.org', { tracking: '1' });
    t.match(button, 'You may record which e-mails I open', 'whoever confirms sees what they allow');
    t.match(await choiceOf(app, 1), {
      choice: 'allowed',
      is_measured: 1,
      source: 'form',
      consent_text: /^You may record which e-mails/,
    });
    const proof = app.db.prepare("SELECT * FROM consent_log WHERE action = 'tracking_allowed'").all();
    t.match(proof, [
      {
        form_name: 'Footer',
        asked_at: new RegExp(asked.slice(0, 19)),
        asked_from: '192.0.2.1',
        confirmed_from: '198.51.100.7',
        created_at: new RegExp(app.clock.now().toISOString().slice(0, 19)),
      },
    ]);
    const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app, 'owner', { name: 'Ada' })) };
    const timeline = (await app.page('GET', '/contacts/1', { headers })).text;
    t.match(timeline, /Allowed open and click tracking.*You may record which e-mails.*192\.0\.2\.1/s);

    app.clock.advance(24 * 3_600_000);
    const plain = await confirm(app, form, 'ben@example.org', {});
    t.notMatch(plain, 'You may record');
    t.match(await choiceOf(app, 2), { choice: 'none', is_measured: 0, consent_text: null }, 'who does not is not');
  },
);

t.test('a form says nothing of opens and clicks where nobody is asked, whatever is sent', async (t) => {
  const app = await startApp(t);
  const must = mustSucceed(t, app.one);
  const form = await addReadyForm(t, app, { asks_tracking: 1, tracking_text: 'Yes <b>, do' });
  for (const mode of ['off', 'totals', 'person']) {
    await must('/tracking/save', { mode });
    t.notMatch((await app.page('GET', form.path)).text, 'name="tracking"', mode);
  }
  await confirm(app, form, 'anna@example.org', { tracking: '1' });
  t.match(await choiceOf(app, 1), { choice: 'none', consent_text: null });
  await must('/tracking/save', { mode: 'consent' });
  t.match((await app.page('GET', form.path)).text, 'Yes &lt;b>, do');
  await must('/forms/save', { id: form.id, asks_tracking: 0 });
  t.notMatch((await app.page('GET', form.path)).text, 'name="tracking"', 'nor a form whose owner does not ask');
});

t.test(
  'a form that is sent without the box takes no permission back, and what was filled in wrongly keeps it ticked',
  async (t) => {
    const app = await startApp(t);
    const must = mustSucceed(t, app.one);
    await must('/tracking/save', { mode: 'consent' });
    const form = await addReadyForm(t, app, { asks_tracking: 1, language: 'de' });
    await confirm(app, form, 'anna@example.org', { tracking: 'on' });
    t.match(await choiceOf(app, 1), { choice: 'allowed', consent_text: /^Sie dürfen aufzeichnen/ });
    app.clock.advance(25 * 3_600_000);
    await confirm(app, form, 'anna@example.org', {});
    t.match(await choiceOf(app, 1), { choice: 'allowed' });
    const wrong = await subscribe(app, form, 'nobody', { tracking: '1' });
    t.equal(wrong.status, 422);
    t.match(wrong.text, 'name="tracking" value="1" checked');
  },
);

t.test(
  'the builder offers the box where opens and clicks are recorded of those who allow it, and shows it in the preview',
  async (t) => {
    const app = await startApp(t);
    const must = mustSucceed(t, app.one);
    const form = await addReadyForm(t, app);
    const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app, 'owner', { name: 'Ada' })) };
    const path = `/forms/${form.id}`;
    const read = async () => (await app.page('GET', path, { headers })).text;
    t.notMatch(await read(), 'asks_tracking');
    await must('/tracking/save', { mode: 'consent' });
    t.match(await read(), 'Ask for consent to open and click tracking');
    const typed = { name: 'Footer', contact_type_id: '1', sender_id: '1', language: 'en', asks_tracking: '1' };
    const own = { ...typed, tracking_text: 'You may look' };
    const shown = await app.page('POST', path, { headers, form: { ...own, do: 'show' } });
    t.match(shown.text, /form-box.*You may look/s);
    t.equal((await app.page('POST', path, { headers, form: { ...own, do: 'save' } })).status, 303);
    const stored = (await app.one.call('GET', '/forms/details', { query: { id: form.id } })).body.message.form;
    t.match(stored, { asks_tracking: 1, tracking_text: 'You may look' });
    await must('/tracking/save', { mode: 'person' });
    t.match(await read(), 'Not shown now');
  },
);
