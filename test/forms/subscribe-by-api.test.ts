/** Asking for a subscription by the API: the confirmation is that of a form. */
import t from 'tap';
import { HOURLY } from '../../src/forms/requests.ts';
import { USUAL_TEXTS } from '../../src/forms/texts.ts';
import { DAY_MS } from '../../src/units.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { mustSucceed } from '../support/campaign.ts';
import { addForm, addReadyForm, askedMails, subscribe } from '../support/forms.ts';

async function ask(app: TestApp, given: Record<string, unknown>, who: TestApp['one'] = app.one) {
  const { status, body } = await who.call('POST', '/contacts/subscribe', { json: given });
  return status === 200 ? body.message.state : { status, ...body.errors };
}

const contactsOf = async (app: TestApp) => (await app.one.call('GET', '/contacts/list')).body.message.contacts;

t.test(
  'an address that the API names becomes a contact once it confirms, with its fields, and the consent is recorded',
  async (t) => {
    const app = await startApp(t);
    await app.one.call('POST', '/custom-fields/save', { form: { field_name: 'shoe_size', field_type: 'number' } });
    await addReadyForm(t, app, { fields: ['first_name'], labels: ['Your name'] });
    const given = {
      email: 'Anna@Example.org',
      form_id: 1,
      first_name: 'Anna',
      city: 'Bonn',
      custom_field: { shoe_size: '38' },
      consent_text: 'Send me the news of the shop',
      source: 'Checkout',
      ip: '2001:db8:1:2:3::4',
    };
    t.equal(await ask(app, given), 'asked');
    t.strictSame(await contactsOf(app), [], 'nothing before the confirmation');
    const [mail, ...others] = await askedMails(app);
    t.strictSame(others, []);
    t.match(mail, { to: 'anna@example.org', subject: 'Please confirm your subscription' });
    const page = (await app.page('GET', mail?.path ?? '')).text;
    t.match(page, /Send me the news of the shop.*Your name.*Anna.*Bonn.*38/s, 'the page names all that was given');
    t.match((await app.page('POST', mail?.path ?? '')).text, 'You are subscribed');
    t.match(await contactsOf(app), [
      {
        email: 'Anna@Example.org',
        first_name: 'Anna',
        city: 'Bonn',
        custom_field: { shoe_size: { field_value: '38' } },
      },
    ]);
    t.match(app.db.prepare('SELECT * FROM consent_log').all(), [
      {
        action: 'subscribed',
        source: 'form',
        form_name: 'Checkout',
        consent_text: 'Send me the news of the shop',
        asked_at: /^2026-01-15T09:00:00/,
        asked_from: '2001:db8:1:2',
      },
    ]);
    t.equal(await ask(app, given), 'subscribed');
    app.clock.advance(2 * DAY_MS);
    t.equal(await ask(app, given), 'subscribed');
    t.equal((await askedMails(app)).length, 1, 'who has confirmed gets no more mail');
  },
);

t.test('with the address of a visitor, the limits refuse known and unknown addresses alike', async (t) => {
  const app = await startApp(t);
  await addReadyForm(t, app);
  const ip = '192.0.2.7';
  for (let number = 0; number < HOURLY.network; number++)
    t.equal(await ask(app, { email: 'anna@example.org', form_id: 1, ip }), 'asked', 'a known address counts, too');
  for (const email of ['anna@example.org', 'nobody@example.org'])
    t.equal((await app.one.call('POST', '/contacts/subscribe', { json: { email, form_id: 1, ip } })).status, 429);
  t.equal((await askedMails(app)).length, 1);
});

t.test('repeated requests send one mail a day, and none where a form sent one', async (t) => {
  const app = await startApp(t);
  const form = await addReadyForm(t, app);
  const rows = app.db.prepare('SELECT count(*) FROM form_requests').pluck();
  for (const email of ['anna@gmail.com', 'Anna@gmail.com', ' anna@gmail.com'])
    t.equal(await ask(app, { email, form_id: 1 }), 'asked');
  t.equal(rows.get(), 1, 'a repeated request does not count');
  for (const email of ['a.nna@gmail.com', 'anna+shop@gmail.com'])
    t.equal(await ask(app, { email, form_id: 1 }), 'asked');
  await subscribe(app, form, 'bob@example.org');
  t.equal(await ask(app, { email: 'bob@example.org', form_id: 1 }), 'asked');
  t.strictSame(
    (await askedMails(app)).map(({ to }) => to),
    ['anna@gmail.com', 'bob@example.org'],
  );
  app.clock.advance(DAY_MS);
  t.equal(await ask(app, { email: 'anna@gmail.com', form_id: 1 }), 'asked');
  t.equal((await askedMails(app)).length, 3);
});

t.test('the limits of forms hold for the API too', async (t) => {
  const app = await startApp(t);
  await addReadyForm(t, app);
  for (let at = 0; at < HOURLY.network; at++)
    t.equal(await ask(app, { email: `p${at}@example.org`, form_id: 1, ip: '192.0.2.7' }), 'asked');
  t.match(await ask(app, { email: 'one-more@example.org', form_id: 1, ip: '192.0.2.7' }), { status: 429 });
  for (let at = HOURLY.network; at < HOURLY.form; at++)
    t.equal(await ask(app, { email: `p${at}@example.org`, form_id: 1 }), 'asked', 'no network, no limit of a network');
  t.match(await ask(app, { email: 'one-more@example.org', form_id: 1 }), { status: 429 });
  app.clock.advance(60 * 60 * 1000);
  t.equal(await ask(app, { email: 'one-more@example.org', form_id: 1 }), 'asked');
});

t.test(
  'who is suppressed or was deleted permanently is not asked; who unsubscribed comes back by confirming',
  async (t) => {
    const app = await startApp(t);
    const must = mustSucceed(t, app.one);
    await addReadyForm(t, app);
    await must('/bounces', { address: 'anna@example.org', kind: 'bounce' });
    const { contacts } = (
      await app.one.call('POST', '/contacts/upsert', {
        json: { contact_type_id: 1, contacts: [{ email: 'bob@example.org' }, { email: 'cy@example.org' }] },
      })
    ).body.message;
    await must('/contacts/person/erase', { contact_id: contacts[0].contact_id });
    await must('/global-unsubscribes/save', { email_address: 'cy@example.org' });
    for (const email of ['anna@example.org', 'bob@example.org'])
      t.equal(await ask(app, { email, contact_type_id: 1 }), 'suppressed');
    t.equal(await ask(app, { email: 'cy@example.org', contact_type_id: 1 }), 'asked');
    const [mail, ...others] = await askedMails(app);
    t.strictSame(others, []);
    const unsubscribed = app.db.prepare('SELECT count(*) FROM unsubscribers').pluck();
    t.equal(unsubscribed.get(), 1, 'the request alone brings nobody back');
    t.match((await app.page('POST', mail?.path ?? '')).text, 'You are subscribed');
    t.equal(unsubscribed.get(), 0);
    t.equal(await ask(app, { email: 'cy@example.org', contact_type_id: 1 }), 'subscribed');
  },
);

t.test('chosen topics are subscribed to, and those of the form that were not chosen are not', async (t) => {
  const app = await startApp(t);
  const must = mustSucceed(t, app.one);
  for (const group_name of ['News', 'Offers', 'Events'])
    await must('/unsubscribes-groups/save', { group_name, description: 'd', is_display: 1 });
  await addReadyForm(t, app, { group_ids: ['1', '2'] });
  const left = app.db.prepare('SELECT email_address, unsubscribe_groups_id FROM unsubscribers ORDER BY id').raw();
  const confirmed = async (given: Record<string, unknown>) => {
    t.equal(await ask(app, { form_id: 1, ...given }), 'asked');
    await app.page('POST', (await askedMails(app)).at(-1)?.path ?? '');
  };
  await confirmed({ email: 'anna@example.org', group_ids: [1, 3] });
  t.strictSame(left.all(), [['anna@example.org', 2]]);
  await confirmed({ email: 'bob@example.org' });
  t.strictSame(left.all(), [['anna@example.org', 2]], 'without topics nothing is said about them');
  t.equal(await ask(app, { email: 'anna@example.org', form_id: 1, group_ids: [1] }), 'subscribed');
  app.clock.advance(DAY_MS);
  t.equal(await ask(app, { email: 'anna@example.org', form_id: 1, group_ids: [2] }), 'asked', 'a topic that was left');
});

t.test('hostile and malformed requests are refused by their field, and records of others are unknown', async (t) => {
  const app = await startApp(t);
  const form = await addReadyForm(t, app);
  await app.one.call('POST', '/custom-fields/save', { form: { field_name: 'age', field_type: 'number' } });
  await mustSucceed(t, app.one)('/contacts-type/add', { name: 'Customers' });
  const email = 'anna@example.org';
  const refused = async (given: Record<string, unknown>, field: string, who = app.one) =>
    t.match(await ask(app, given, who), { status: 422, [field]: [/./] }, JSON.stringify(given).slice(0, 80));
  await refused({ form_id: 1 }, 'email');
  await refused({ email: 'a@b@c', form_id: 1 }, 'email');
  await refused({ email }, 'form_id');
  await refused({ email, form_id: 2 }, 'form_id');
  await refused({ email, form_id: 1, contact_type_id: 2 }, 'form_id');
  await refused({ email, contact_type_id: 2 }, 'contact_type_id');
  await refused({ email, form_id: 1, ip: 'nowhere' }, 'ip');
  await refused({ email, form_id: 1, group_ids: [9] }, 'group_ids');
  await refused({ email, form_id: 1, first_name: 'A\r\nBcc: x' }, 'first_name');
  await refused({ email, form_id: 1, consent_text: 'x'.repeat(2001) }, 'consent_text');
  await refused({ email, form_id: 1, custom_field: { age: 'old' } }, 'custom_field');
  await refused({ email, form_id: 1, custom_field: { nothing: '1' } }, 'custom_field');
  await refused({ email, form_id: 1, custom_field: { age: '1'.repeat(256) } }, 'custom_field');
  await refused({ email, form_id: 1 }, 'form_id', app.two);
  await refused({ email, contact_type_id: 1 }, 'contact_type_id', app.two);
  await mustSucceed(t, app.one)('/forms/save', { id: form.id, is_active: 0 });
  t.match(await ask(app, { email, form_id: 1 }), { status: 409 });
  await refused({ email, contact_type_id: 1 }, 'contact_type_id');
  await addForm(t, app, { name: 'Second' });
  t.equal(
    await ask(app, { email, contact_type_id: 1 }),
    'asked',
    'the first form of the list that takes subscriptions',
  );
  t.match(app.db.prepare('SELECT form_id FROM form_requests').pluck().all(), [2]);
});

t.test(
  'the mail and the pages are in the language of the contact, else in the one that the request gives',
  async (t) => {
    const app = await startApp(t);
    await addReadyForm(t, app, {});
    const asked = async (email: string, more: Record<string, unknown>) => {
      t.equal(await ask(app, { email, form_id: 1, ...more }), 'asked');
      return (await askedMails(app)).find(({ to }) => to === email);
    };
    const mail = await asked('anna@example.org', { language: 'French' });
    t.equal(mail?.subject, USUAL_TEXTS.fr.mail_subject);
    const path = mail?.path ?? '';
    t.match((await app.page('GET', path)).text, '<html lang="fr"');
    t.match((await app.page('POST', path)).text, '<html lang="fr"');
    t.match((await app.page('GET', path)).text, '<html lang="fr"', 'also once it is confirmed');
    t.equal(
      (await asked('bob@example.org', { language: 'ja' }))?.subject,
      USUAL_TEXTS.en.mail_subject,
      'no such texts',
    );
    t.equal((await asked('cy@example.org', {}))?.subject, USUAL_TEXTS.en.mail_subject);
    const known = { contact_type_id: 1, email: 'dee@example.org', language: 'de', country: 1 };
    await app.one.call('POST', '/contacts/add', { form: known });
    const dee = await asked('dee@example.org', { language: 'fr' });
    t.equal(dee?.subject, USUAL_TEXTS.de.mail_subject, 'a known contact keeps their language');
  },
);
