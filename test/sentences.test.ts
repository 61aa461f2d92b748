/** The sentences with which the service gives reasons, and their translations. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { sentences } from '../src/dashboard/words/de/sentences.ts';
import { Language } from '../src/dashboard/words/index.ts';
import { HELD_CODES } from '../src/database/schema/index.ts';
import { messages } from '../src/errors/field-errors.ts';
import { findSentence, SENTENCES, sentence, sentenceCode } from '../src/errors/sentences.ts';

const german = new Language('de', 'de-DE', 'Europe/Berlin');
const holesOf = (text: string) => new Set<string>(text.match(/\{\w+\}/g));

t.test('every sentence has a German one with no other values', async (t) => {
  for (const [code, english] of Object.entries(SENTENCES)) {
    const text = Reflect.get(sentences, code);
    t.type(text, 'string', `${code} is translated`);
    t.strictSame(
      [...holesOf(String(text))].filter((hole) => !holesOf(english).has(hole)),
      [],
      `${code} asks for no value that the sentence lacks`,
    );
  }
});

t.test('every sentence is recognized with its values, and no other instead', async (t) => {
  for (const [code, english] of Object.entries(SENTENCES)) {
    const given = Object.fromEntries([...holesOf(english)].map((hole) => [hole.slice(1, -1), '12']));
    const text = english.replaceAll(/\{\w+\}/g, '12');
    t.strictSame(findSentence(text), { code, values: given }, english);
  }
});

t.test('every sentence is said by the code, so that none is translated for nothing', async (t) => {
  const root = join(import.meta.dirname, '../src');
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !name.startsWith('dashboard/words') && name !== 'errors/sentences.ts',
  );
  const source = files.map((name) => readFileSync(join(root, name), 'utf8')).join('\n');
  // Codes that are put together from a part and a name.
  const PUT_TOGETHER =
    /^(?:cause_|relay_test_|held_(?:own_)?(?:type|segment)_deleted$|held_(?:cancelled|copy|no_audience|sender_|too_many_))/;
  const unsaid = Object.keys(SENTENCES).filter(
    (code) => !PUT_TOGETHER.test(code) && !new RegExp(`(?:SENTENCES\\.|['\`])${code}\\b`).test(source),
  );
  t.strictSame(unsaid, []);
});

t.test('the text of every field error is a sentence that is translated', async (t) => {
  for (const [rule, text] of Object.entries(messages)) {
    const english = Reflect.apply(text, undefined, ['contact_type_id', 3]);
    t.match(sentenceCode(english), /^field_/, `${rule}: ${english}`);
    t.match(german.sentence(english), /„Kontakttyp“/, `${rule} names the field in German`);
  }
});

t.test('a hold without details has a sentence of its code', async (t) => {
  const plain = HELD_CODES.filter((code) => Object.hasOwn(SENTENCES, `held_${code}`));
  const withDetails = ['canary_unclear', 'missed_time', 'too_many_bounces', 'too_many_complaints', 'too_many_refusals'];
  t.strictSame(
    plain.filter((code) => !withDetails.includes(code)),
    ['cancelled', 'copy', 'no_audience', 'sender_deleted', 'sender_unverified'],
  );
});

t.test('a sentence is put together in the reader’s language, with numbers and days of their locale', async (t) => {
  const late = sentence('held_missed_time', { minutes: 1500, cause: SENTENCES.missed_held });
  t.equal(german.sentence(late), 'Der Zeitpunkt wurde um 1.500 min verpasst: Der Versand war angehalten');
  t.equal(german.sentence(sentence('backup_fresh', { day: '2026-11-22' })), 'Die letzte ist vom 22.11.2026');
  t.equal(
    german.sentence('The mailbox is full.: 552 5.2.2 over quota'),
    'Das Postfach ist voll. 552 5.2.2 over quota',
    'what a mail server says stays as it is',
  );
  t.equal(
    german.sentence(`${SENTENCES.held_restored}; ${SENTENCES.held_settings}`),
    `${sentences.held_restored}; ${sentences.held_settings}`,
    'causes after one another',
  );
  t.equal(new Language('en').sentence(SENTENCES.cause_full), SENTENCES.cause_full);
  t.equal(
    new Language('en').sentence(SENTENCES.not_pausable),
    'Only a running mailing can be paused',
    'in the words of the dashboard',
  );
});

t.test('names that people chose stay as they are, and so does what nobody here said', async (t) => {
  const held = sentence('held_mail', { subject: '2026', problem: SENTENCES.mail_sender_deleted });
  t.equal(german.sentence(held), 'Die Mail „2026“ kann nicht gesendet werden: Ihr Absender wurde gelöscht');
  t.equal(german.sentence('550 5.1.1 no such user'), '550 5.1.1 no such user');
  t.equal(german.sentence(`${'x'.repeat(5000)} left`), `${'x'.repeat(5000)} left`);
});

t.test('what others say is shown as it is, even where it looks like a time or a name of the language', async (t) => {
  for (const language of [german, new Language('en')]) {
    for (const text of ['2026-99-99', '2026-13-01T99:99Z', 'Given up after 4 days: 9999-99-99'])
      t.match(language.sentence(text), /\d{4}-\d\d-\d\d/, text);
    for (const name of ['constructor', '__proto__', 'toString'])
      t.match(language.sentence(sentence('field_integer', { field: name })), name, name);
  }
});
