/** Recipes: automations that are made with their mails, as drafts. */
import t from 'tap';
import { RECIPE_BY_NAME, RECIPES } from '../../src/automations/recipes.ts';
import { LANGUAGE_CODES } from '../../src/languages.ts';
import { mailsOf, withWelcomeSeries } from '../support/automations.ts';

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
      const { trigger_event, exit_criteria, mails } = RECIPE_BY_NAME[recipe];
      t.match(series, { is_live: 0, automation_for: 'contacts_1', trigger_event, exit_criteria }, recipe);
      t.strictSame(
        series.mails.map((mail: Record<string, unknown>) => [mail.subject, mail.waiting_type, mail.content]),
        mails.map(({ texts, waiting_type }) => [texts[language].subject, waiting_type, 'json']),
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
  const form = {
    recipe: 'birthday',
    language: 'en',
    automation_name: 'Birthday',
    automation_for: 'contacts_1',
    unsubscribe_group_id: 1,
    sender_id: 1,
  };
  const refused = await app.two.call('POST', '/automations/create-from-recipe', { form });
  t.equal(refused.status, 422);
  t.match(Object.keys(refused.body.errors ?? refused.body.message), [
    'automation_for',
    'unsubscribe_group_id',
    'sender_id',
  ]);
});
