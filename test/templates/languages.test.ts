/** The built-in templates in eight languages: every text is translated, the check finds nothing, and the account's language chooses. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { listTemplates, templateFile } from '../../src/database/built-in-templates.ts';
import { builtInTemplate, templateTexts } from '../../src/database/template-texts.ts';
import { parseMjml, renderMjml } from '../../src/delivery/content/mjml.ts';
import { placeholderNames, scan } from '../../src/delivery/content/placeholders.ts';
import { PAGE_LANGUAGES } from '../../src/languages.ts';
import { createSend, outboxOf, RECALL, readyToSend } from '../support/single-sends.ts';

const templates = listTemplates().map((template) => ({
  ...template,
  json_code: readFileSync(templateFile(template, 'json'), 'utf8'),
  html_code: readFileSync(templateFile(template, 'html'), 'utf8'),
}));
/** The findings that are meant to be there: sample text, and links to example.com. */
const SAMPLES = ['sample', 'examples'];
const OTHERS = PAGE_LANGUAGES.filter((language) => language !== 'en');

/** The texts of MJML in its JSON form, without merge tags alone, numbers and codes. */
function textsOf({ tagName, content = '', children = [] }: ReturnType<typeof parseMjml>): string[] {
  const own = ['mj-style', 'mj-raw'].includes(tagName) ? [] : content.split(/<[^<>]*>/).map((text) => text.trim());
  const isText = (text: string) => /\p{L}/u.test(text.replace(/\(\([^()]*\)\)|&#?\w+;/g, ''));
  return [...own.filter(isText), ...children.flatMap(textsOf)];
}

t.test('every text of a built-in template is in each language, with the same merge tags', async (t) => {
  const english = new Set(templates.flatMap(({ json_code }) => textsOf(parseMjml(json_code))));
  const names = (text: string) => placeholderNames([scan(text)]);
  for (const language of OTHERS) {
    const texts = templateTexts(language);
    t.strictSame(
      [...english].filter((text) => !texts.get(text)),
      [],
      language,
    );
    t.strictSame(
      [...texts.keys()].filter((text) => !english.has(text)),
      [],
      `${language}: none is left of a text that changed`,
    );
    t.strictSame(
      [...texts].filter(([text, own]) => names(text).join() !== names(own).join()),
      [],
      language,
    );
  }
});

t.test('the HTML of a language is that of its design', async (t) => {
  for (const template of templates) {
    for (const language of OTHERS) {
      const { json_code, html_code } = builtInTemplate(template, language);
      t.equal(await renderMjml(parseMjml(json_code), true), html_code, `${template.template_name}, ${language}`);
      t.match(html_code, `<html lang="${language}"`);
    }
  }
});

t.test('the check finds nothing in any of them but the sample text, which is meant to be found', async (t) => {
  const { app } = await readyToSend(t);
  app.db.exec("UPDATE senders SET company_address2 = 'Hafen', country_id = 1");
  const built = templates.filter(({ is_blank }) => is_blank === 0);
  t.equal(built.length * PAGE_LANGUAGES.length, 64);
  for (const language of PAGE_LANGUAGES) {
    await app.one.call('POST', '/sending/mails/save', { form: { language } });
    for (const { id, template_name } of built) {
      const form = {
        template_id: id,
        sender_id: 1,
        subject: 'For ((first_name|you))',
        preheader: 'News',
        'recipient_id[0]': 'contacts_1',
      };
      const { check } = (await app.one.call('POST', '/check', { form })).body.message;
      t.equal(check.problem, null);
      const others = check.findings.filter(({ code }: { code: string }) => !SAMPLES.includes(code));
      t.strictSame(others, [], `${template_name}, ${language}`);
      t.equal(check.findings.length, SAMPLES.length, 'the sample text is found in each language');
    }
  }
});

t.test(
  'a campaign made from a built-in template is in the language of the account, and its versions in theirs',
  async (t) => {
    const { app, body } = await readyToSend(t);
    const { one } = app;
    await one.call('POST', '/sending/mails/save', { form: { language: 'de' } });
    const contacts = [{ email: 'fay@example.org', language: 'fr' }];
    await one.call('POST', '/contacts/upsert', { json: { contact_type_id: 1, contacts } });
    const { template_html: _, ...mail } = body;
    const when = { schedule_type: 1, schedule_date: '2030-01-01', schedule_time: '10:00:00' };
    const utr = await createSend(app, { ...mail, template_id: 4, ...when });
    const version = { utr, language: 'fr', template_id: 4 };
    t.equal((await one.call('POST', '/single/send/languages', { form: version })).status, 200);
    app.db.exec('UPDATE single_sends SET status = 1, schedule_type = 0, starts_at = 0');
    app.clock.advance(RECALL);
    await app.background();
    t.equal(app.db.prepare('SELECT held_reason FROM single_sends').pluck().get(), null);
    const mailTo = (name: string) =>
      outboxOf(app)
        .find(({ envelope_to }) => envelope_to.toLowerCase().startsWith(name))
        ?.raw.toString();
    t.match(mailTo('ann'), /lang=3D"de"/);
    t.match(mailTo('fay'), /lang=3D"fr"/);
    const { body: copied } = await one.call('POST', '/templates/create', {
      form: { template_name: 'Mine', template_id: 4 },
    });
    const own = (await one.call('GET', '/templates/details', { query: { id: copied.message.id } })).body.message;
    t.match(JSON.stringify(own), 'Herzliche', 'and so is a template of your own that is made from it');
    t.match(
      JSON.stringify((await one.call('GET', '/get-design/template')).body),
      'Warm regards',
      'the list stays in English',
    );
  },
);
