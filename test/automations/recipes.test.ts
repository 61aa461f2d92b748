/** Recipes: automations that are made with their mails, as drafts. */
import t from 'tap';
import { RECIPE_BY_NAME, RECIPES } from '../../src/automations/recipes.ts';
import { addKeyPair } from '../../src/database/accounts.ts';
import { LANGUAGE_CODES } from '../../src/languages.ts';
import { DAY, mailsInBrief, mailsOf, withWelcomeSeries } from '../support/automations.ts';
import { addPerson, cookieOf, FROM_PAGE } from '../support/people.ts';

/** What a request for an automation by the recipe of birthdays has. */
const BIRTHDAY = {
  recipe: 'birthday',
  language: 'en',
  automation_name: 'Birthday',
  automation_for: 'contacts_1',
  unsubscribe_group_id: 1,
  sender_id: 1,
};

t.test('each recipe is a draft whose mails pass every check in each language, and which can be started', async (t) => {
  const { post, get, join } = await withWelcomeSeries(t);
  await join('ann');
  for (const recipe of RECIPES)
    for (const language of LANGUAGE_CODES) {
      const made = { recipe, language, automation_name: recipe, automation_for: 'contacts_1' };
      const { utr } = await post('/automations/create-from-recipe', {
        ...made,
        unsubscribe_group_id: 1,
        sender_id: 1,
      });
      const { series } = (await get('/automations/series', { utr })).body.message;
      const { trigger, field, exit_criteria, steps } = RECIPE_BY_NAME[recipe];
      t.match(series, { is_live: 0, automation_for: 'contacts_1', ...trigger, exit_criteria }, recipe);
      t.equal(series.trigger_field, field?.field_name ?? '');
      const written = steps.filter((step) => step.kind === 'mail');
      t.strictSame(
        series.mails.map((mail: Record<string, unknown>) => [mail.subject, mail.waiting_type, mail.content]),
        written.map(({ texts, waiting_type }) => [texts[language].subject, waiting_type, 'json']),
      );
      t.strictSame(
        series.steps.map((step: Record<string, unknown>) => step.kind),
        steps.flatMap(({ kind }) => (kind === 'mail' ? [kind] : [kind, 'exit'])),
        'who did what a step waits for exits',
      );
      for (const mail of series.mails) {
        const { checked } = (await get('/automations/schedule/check', { utr: mail.utr })).body.message;
        // What the sender's postal address lacks is no fault of the mail.
        const bad = checked.findings.filter(
          (one: { is_good: number; check: string }) => one.is_good === 0 && one.check !== 'addressLacks',
        );
        t.strictSame([checked.problem, bad], [null, []], `${recipe} in ${language}: ${mail.subject}`);
        t.notMatch(checked.text, /\(\(|undefined/, 'nothing is left to fill in');
      }
      t.equal((await get('/automations/set-live', { utr })).status, 200);
    }
});

t.test('who joins the list of a recipe gets its mails in their language, with and without a first name', async (t) => {
  const { app, post, get, join, pass } = await withWelcomeSeries(t);
  const { utr } = await post('/automations/create-from-recipe', {
    recipe: 'welcome',
    language: 'de',
    automation_name: 'Willkommen',
    automation_for: 'contacts_1',
    unsubscribe_group_id: 1,
    sender_id: 1,
  });
  await get('/automations/set-live', { utr });
  await join('Ann');
  await post('/contacts/add', { contact_type_id: 1, email: 'nameless@example.org', country: 1 });
  await pass(4 * 24 * 3_600_000);
  t.strictSame(
    mailsOf(app)
      .map(({ subject }) => subject)
      .sort(),
    [
      'Dürfen wir Sie etwas fragen?',
      'Dürfen wir Sie etwas fragen?',
      'Willkommen, Ann',
      'Willkommen, und danke für Ihre Anmeldung',
    ],
  );
});

t.test('a recipe takes no list, topic or sender of another account, and a viewer makes none', async (t) => {
  const { app } = await withWelcomeSeries(t);
  const refused = await app.two.call('POST', '/automations/create-from-recipe', { form: BIRTHDAY });
  t.equal(refused.status, 422);
  t.match(Object.keys(refused.body.errors ?? refused.body.message), [
    'automation_for',
    'unsubscribe_group_id',
    'sender_id',
  ]);
});

t.test(
  'a recipe that adds its field says that contacts need dates, not that at least none met its trigger',
  async (t) => {
    const { app, post } = await withWelcomeSeries(t);
    const { utr } = await post('/automations/create-from-recipe', BIRTHDAY);
    const cookie = cookieOf(app, addPerson(app, 'viewer', { accountId: 1 }));
    const text = async () => (await app.page('GET', `/automations/${utr}`, { headers: { ...FROM_PAGE, cookie } })).text;
    t.match(await text(), 'The contacts who would have triggered this automation are still being counted');
    await app.background();
    t.match(await text(), 'none would trigger it in the next 30 days. Contacts need a date in the field');
  },
);

t.test('a cart is forgotten by who orders, and who does not is reminded twice', async (t) => {
  const { app, post, get, join, pass } = await withWelcomeSeries(t);
  const { utr } = await post('/automations/create-from-recipe', {
    recipe: 'cart',
    language: 'en',
    automation_name: 'Cart',
    automation_for: 'contacts_1',
    unsubscribe_group_id: 1,
    sender_id: 1,
  });
  await get('/automations/set-live', { utr });
  for (const name of ['early', 'late', 'never']) await join(name);
  const hour = 3_600_000;
  const report = (name: string, email: string) => app.one.call('POST', '/events', { json: { name, email } });
  for (const name of ['early', 'late', 'never']) await report('cart', `${name}@example.org`);
  await pass(2 * hour);
  await report('purchase', 'early@example.org');
  await pass(3 * hour);
  await report('purchase', 'late@example.org');
  await pass(30 * hour);
  t.strictSame(
    mailsOf(app)
      .map(({ to, subject }) => `${to}: ${subject}`)
      .sort(),
    [
      'late@example.org: late, your cart is still here',
      'never@example.org: Shall we keep your cart?',
      'never@example.org: never, your cart is still here',
    ],
  );
});

t.test(
  'a recipe with a date uses the field of its name, or adds it, and is refused where that field has no dates',
  async (t) => {
    const { app, post } = await withWelcomeSeries(t);
    const form = {
      recipe: 'renewal',
      language: 'en',
      automation_name: 'Renewal',
      automation_for: 'contacts_1',
      unsubscribe_group_id: 1,
      sender_id: 1,
    };
    await post('/automations/create-from-recipe', form);
    await post('/automations/create-from-recipe', form);
    const fields = app.db.prepare('SELECT field_name, field_type FROM custom_fields').raw().all();
    t.strictSame(fields, [['renewal', 'datetime-local']], 'once');
    await post('/custom-fields/save', { field_name: 'birthday', field_type: 'text' });
    const refused = await app.one.call('POST', '/automations/create-from-recipe', {
      form: { ...form, recipe: 'birthday' },
    });
    t.equal(refused.status, 422);
    t.strictSame(Object.keys(refused.body.errors), ['field_name']);
  },
);

for (const type of ['datetime-local', 'yearly-date'])
  t.test(`birthdays of a file with their years start the mail each year, in a field of the type ${type}`, async (t) => {
    const { app, post, get, pass } = await withWelcomeSeries(t);
    await post('/custom-fields/save', { field_name: 'birthday', field_type: type });
    const content = 'email,first_name,birthday\nann@example.org,Ann,1990-01-17\nbo@example.org,Bo,1990-06-01';
    const file = { filename: 'a.csv', content };
    const multipart: [string, string | typeof file][] = [
      ['contact_type_id', '1'],
      ['file', file],
    ];
    t.equal((await app.one.call('POST', '/contacts/upload-csv', { multipart })).status, 200);
    const { utr } = await post('/automations/create-from-recipe', {
      ...{ recipe: 'birthday', language: 'en', automation_name: 'Birthday', automation_for: 'contacts_1' },
      ...{ unsubscribe_group_id: 1, sender_id: 1 },
    });
    await get('/automations/set-live', { utr });
    await pass(4 * DAY);
    t.match(mailsInBrief(app), [/^01-17T09:00 ann Happy birthday, Ann/]);
    t.equal(mailsInBrief(app).length, 1);
  });

t.test(
  'a recipe adds its field only for a key pair with the scope contacts, and with the automation or not at all',
  async (t) => {
    const { app } = await withWelcomeSeries(t);
    const form = {
      ...{ recipe: 'birthday', language: 'en', automation_name: 'Birthday', automation_for: 'contacts_1' },
      ...{ unsubscribe_group_id: 1, sender_id: 1 },
    };
    const made = async (...scopes: ('campaigns' | 'contacts')[]) => {
      const { publicKey: PublicKey, secretKey: SecretKey } = addKeyPair(app.drizzle, app.clock, 1, {
        name: '',
        scopes,
      });
      const headers = { PublicKey, SecretKey };
      return (await app.one.call('POST', '/automations/create-from-recipe', { form, headers })).status;
    };
    const stored = () =>
      app.db.prepare('SELECT (SELECT count(*) FROM custom_fields), (SELECT count(*) FROM automations)').raw().get();
    t.equal(await made('campaigns'), 403);
    t.strictSame(stored(), [0, 1]);
    app.db.exec("CREATE TRIGGER broken BEFORE INSERT ON automation_schedules BEGIN SELECT RAISE(ABORT, 'broken'); END");
    t.equal(await made('campaigns', 'contacts'), 500);
    t.strictSame(stored(), [0, 1]);
    app.db.exec('DROP TRIGGER broken');
    t.equal(await made('campaigns', 'contacts'), 200);
    t.equal(await made('campaigns'), 200, 'the field is there');
    t.strictSame(stored(), [1, 3]);
  },
);
