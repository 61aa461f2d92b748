/** The pages that recipients open are in the language of their browser where we write it, and in English for everybody else. */
import PostalMime from 'postal-mime';
import { isValidElement } from 'preact';
import { renderToString } from 'preact-render-to-string';
import t from 'tap';
import { USUAL_TEXTS } from '../../src/forms/texts.ts';
import { de } from '../../src/http/pages/words/de.tsx';
import { en } from '../../src/http/pages/words/en.tsx';
import { wordsIn } from '../../src/http/pages/words/index.ts';
import { PAGE_LANGUAGES } from '../../src/languages.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { sendCampaign } from '../support/campaign.ts';
import { addForm, addReadyForm } from '../support/forms.ts';

type Visit = (language: string | undefined) => ReturnType<TestApp['page']>;

/** Every page of ours that a recipient or the owner of a sender's mailbox sees. Opening them in this order is possible again and again. */
async function visits(app: TestApp, links: Record<string, string>): Promise<[string, Visit][]> {
  const { u = '', c = '' } = links;
  const raw = app.db.prepare<[], Buffer>('SELECT raw FROM outbox ORDER BY id LIMIT 1').pluck().get();
  const { text: plain = '' } = await PostalMime.parse(raw ?? '');
  const verify = /\/verify\/\S+/.exec(plain)?.[0] ?? '';
  const visit =
    (method: string, path: string, form?: Record<string, string>): Visit =>
    (language) =>
      app.page(method, path, {
        ...(form && { form }),
        headers: language === undefined ? {} : { 'accept-language': language },
      });
  return [
    ['preferences', visit('GET', u)],
    ['choices', visit('POST', u, { form: 'groups', shown: '1', on: '1' })],
    ['one click', visit('POST', u)],
    ['no mail at all', visit('POST', u, { form: 'none' })],
    ['nothing to choose', visit('GET', u)],
    ['the way back', visit('POST', u, { form: 'back' })],
    ['opens refused', visit('POST', u, { form: 'untrack' })],
    ['opens allowed', visit('POST', u, { form: 'track' })],
    ['too many choices', untilRefused(visit('POST', u, { form: 'back' }))],
    ['unsubscribing from a copy', visit('GET', '/u/shared')],
    ['a form of another page', visit('POST', u, { form: 'odd' })],
    ['too much', visit('POST', u, { form: 'x'.repeat(100_000) })],
    ['an unknown link', visit('GET', `${u}x`)],
    ['an unknown click', visit('GET', `${c}9`)],
    ['no page', visit('GET', '/nowhere')],
    ['confirm', visit('GET', verify)],
    ['an unknown confirmation', visit('GET', `${verify}x`)],
    ['confirmed', visit('POST', verify)],
  ];
}

/** The same visit again and again, until it is refused as too many. */
function untilRefused(visit: Visit): Visit {
  return async (language) => {
    const answer = await visit(language);
    return answer.status === 429 ? answer : untilRefused(visit)(language);
  };
}

/** The visible sentences of a catalogue: what stands between two tags, or between a tag and a value. */
function sentences(catalogue: object): string[] {
  return Object.values(catalogue)
    .flatMap((entry: unknown) => {
      if (typeof entry === 'function') return textOf(entry('\0')).split('\0');
      if (typeof entry === 'string') return entry;
      return typeof entry === 'object' && entry !== null ? sentences(entry) : [];
    })
    .map((text) => text.trim())
    .filter((text) => text.length > 3);
}

function textOf(value: unknown): string {
  return isValidElement(value) ? renderToString(value) : String(value);
}

const OTHERS = PAGE_LANGUAGES.filter((code) => code !== 'en');

t.test(
  'every page is in the first language of the browser that we write, and in English for every other',
  async (t) => {
    const { mails, app } = await started();
    const pages = await visits(app, mails[0]?.paths ?? {});
    const english = new Set(sentences(en));
    const seen: Record<string, string> = {};
    for (const [name, visit] of pages) {
      // The choices of an hour are limited.
      app.clock.advance(3_600_000);
      const plain = await visit(undefined);
      t.match(plain.text, '<html lang="en">', name);
      t.ok(
        [...english].some((sentence) => plain.text.includes(sentence)),
        name,
      );
      for (const language of ['en-US,en;q=0.9,de;q=0.8', 'sv', '*', 'de;q=0', 'xx-€;q=, ,;', 'd'.repeat(5000)])
        t.equal((await visit(language)).text, plain.text, `${name}, asked for in ${language.slice(0, 30)}`);
      t.match(plain.headers, { vary: 'Accept-Language', 'cache-control': 'no-store' }, name);
      for (const code of OTHERS) {
        const own = new Set(sentences(wordsIn(code)));
        t.strictSame(
          [...own].filter((sentence) => plain.text.includes(sentence) && !english.has(sentence)),
          [],
          name,
        );
        const translated = await visit(`sv-SE, ${code}-AT;q=0.9, en;q=0.8`);
        t.match(translated.text, `<html lang="${code}">`, name);
        t.equal(translated.status, plain.status, name);
        t.strictSame(
          [...english].filter((sentence) => translated.text.includes(sentence) && !own.has(sentence)),
          [],
          `${name}, ${code}`,
        );
        t.match(translated.headers, { vary: 'Accept-Language', 'cache-control': 'no-store' }, name);
        seen[code] += translated.text;
      }
    }
    for (const code of OTHERS) {
      const words = wordsIn(code);
      const { busy, failed, tooLarge, linkTooLong } = words.messages;
      const { form, archive, preferences } = words;
      const kept = sentences({ busy, failed, tooLarge, linkTooLong, left: preferences.unsubscribed, form, archive });
      t.strictSame(
        sentences(words).filter((sentence) => !seen[code]?.includes(sentence) && !kept.includes(sentence)),
        [],
        `${code}: every text is seen, but for those of a failure, of a mail without a group or too large, of a link too long, of forms and of the archive`,
      );
    }

    async function started() {
      const app = await startApp(t);
      return { app, ...(await sendCampaign(t, app, { html: '<a href="https://shop.example/">news</a>' })) };
    }
  },
);

t.test(
  'the preference page is in the language of the contact: their own, else that of their country, the browser or the account',
  async (t) => {
    const app = await startApp(t);
    const { mails } = await sendCampaign(t, app, {});
    const { u = '' } = mails[0]?.paths ?? {};
    const seen = async (method: string, accepted: string, form?: Record<string, string>) => {
      const { text } = await app.page(method, u, { headers: { 'accept-language': accepted }, ...(form && { form }) });
      return /<html lang="(..)">/.exec(text)?.[1];
    };
    t.equal(await seen('GET', 'sv'), 'en');
    await app.one.call('POST', '/sending/mails/save', { form: { language: 'it' } });
    t.equal(await seen('GET', 'sv'), 'it', 'the account’s, where the browser asks for none of ours');
    t.equal(await seen('GET', 'pl'), 'pl', 'the browser’s, where the contact’s is unknown');
    app.db.exec("UPDATE contacts SET country_id = (SELECT id FROM countries WHERE name = 'France')");
    t.equal(await seen('GET', 'pl'), 'fr', 'that of the contact’s country');
    app.db.exec("UPDATE contacts SET language = 'de'");
    t.equal(await seen('GET', 'pl'), 'de', 'the contact’s own');
    t.equal(await seen('POST', 'pl', { form: 'untrack' }), 'de', 'and so the answer to a choice');
    const text = app.db.prepare<[], string>('SELECT consent_text FROM consent_log ORDER BY id DESC LIMIT 1');
    t.equal(text.pluck().get(), de.preferences.trackingText, 'and the text that the consent log keeps');
    app.db.exec("UPDATE contacts SET deleted_at = '2020-01-01', language = 'de'");
    t.equal(await seen('GET', 'pl'), 'pl', 'of a contact that was deleted it is no longer known');
  },
);

t.test('a failure of ours and a busy database are told in German too', async (t) => {
  const app = await startApp(t);
  const { mails } = await sendCampaign(t, app, {});
  app.db.exec('ALTER TABLE unsubscribe_groups RENAME TO gone');
  const { status, text } = await app.page('GET', mails[0]?.paths.u ?? '', { headers: { 'accept-language': 'de' } });
  t.equal(status, 500);
  t.match(text, '<html lang="de">');
  const { title, text: said } = de.messages.failed;
  for (const sentence of [title, ...said]) t.match(text, sentence);
});

t.test('what is not written by us keeps its language: a web copy does not depend on the browser’s', async (t) => {
  const app = await startApp(t);
  const { mails } = await sendCampaign(t, app, { html: '<p>Hello</p><a href="((web_copy))">View in browser</a>' });
  const copy = (language: string) =>
    app.page('GET', mails[0]?.paths.w ?? '', { headers: { 'accept-language': language } });
  const [english, german] = [await copy('en'), await copy('de')];
  t.equal(english.text, german.text);
  t.equal(german.headers.vary, undefined);
});

t.test('a form is in the language that its owner chose, whatever the browser asks for', async (t) => {
  const app = await startApp(t);
  const german = await addReadyForm(t, app, { language: 'de' });
  const english = await addForm(t, app, { language: 'en' });
  const visit = async (path: string, language: string) =>
    (await app.page('GET', path, { headers: { 'accept-language': language } })).text;
  const inGerman = await visit(german.path, 'en');
  t.match(inGerman, '<html lang="de">');
  t.match(inGerman, de.form.email);
  t.notMatch(inGerman, en.form.email);
  const inEnglish = await visit(english.path, 'de');
  t.match(inEnglish, '<html lang="en">');
  t.match(inEnglish, en.form.email);
  t.notMatch(inEnglish, de.form.email);
});

t.test('a form has its usual texts in each of the languages', async (t) => {
  const app = await startApp(t);
  await addReadyForm(t, app);
  for (const language of PAGE_LANGUAGES) {
    const { path } = await addForm(t, app, { language });
    const { text } = await app.page('GET', path);
    t.match(text, `<html lang="${language}">`);
    for (const one of [wordsIn(language).form.email, USUAL_TEXTS[language].title, USUAL_TEXTS[language].button_text])
      t.ok(text.includes(one), one);
  }
});
