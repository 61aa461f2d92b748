/** The sentences with which the service gives reasons, and their translations. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import t from 'tap';
import { HELD_CODES } from '../../src/database/schema/index.ts';
import { messages } from '../../src/errors/field-errors.ts';
import { SENTENCES, Sentence, type SentenceCode, sentence } from '../../src/errors/sentences.ts';
import { codeOf, readStored, stored, storedSql } from '../../src/errors/stored.ts';
import { sentences } from '../../src/ui/words/de/sentences.ts';
import { Language } from '../../src/ui/words/index.ts';

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

t.test(
  'every sentence is the same after it was stored, with values that are names, numbers, marks and other sentences',
  async (t) => {
    const values = [
      7,
      'Name',
      ':left_target',
      '::twice',
      '{"a":1}',
      sentence('cause_full'),
      sentence('returned', { cause: sentence('cause_full'), reply: '552 5.2.2' }),
    ];
    const kept = Object.entries(SENTENCES).flatMap(([code, english]) =>
      values.map((value) => {
        const names = [...holesOf(english)].map((hole) => hole.slice(1, -1));
        const said = new Sentence(code as SentenceCode, Object.fromEntries(names.map((name) => [name, value])));
        return { said, text: stored(said) };
      }),
    );
    t.strictSame(
      kept.filter(({ text }) => !/^:[a-z]/.test(text)),
      [],
    );
    t.strictSame(
      kept.filter(({ said, text }) => !isDeepStrictEqual(readStored(text), said)),
      [],
    );
    t.strictSame(
      kept.filter(({ text }) => stored(readStored(text)) !== text),
      [],
      'the same sentence is always the same text',
    );
  },
);

t.test(
  'a text of others is never read as a sentence, however it begins, and is no other after it was stored',
  async (t) => {
    const texts = [
      '',
      '550 5.1.1 no',
      ':',
      '::',
      ':left_target',
      '::left_target',
      ':given_up{"reply":"x"}',
      ':nobody_knows',
      ':constructor',
    ];
    for (const text of texts) t.equal(readStored(stored(text)), text, text);
    for (const text of [':nobody_knows', ':given_up{', ':given_up{"reply":{}}', ':given_up[1]', ':__proto__'])
      t.equal(readStored(text), text, `${text} is not made by this release`);
    t.equal(codeOf(readStored(stored(':left_target'))), null);
  },
);

t.test('a reason of every recipient is not longer than its English', async (t) => {
  const reasons = [
    'unsubscribed_all',
    'unsubscribed_group',
    'excluded',
    'suppressed_bounce',
    'suppressed_complaint',
    'inactive',
    'left_target',
    'removed_from_segment',
    'contact_deleted',
    'mailing_cancelled',
    'kept_in_outbox',
    'not_built',
    'waits_for_cap',
  ] as const;
  for (const code of reasons) t.ok(storedSql(code).length - 2 <= SENTENCES[code].length, code);
  const capped = sentence('over_cap', { mails: 3, days: 7 });
  t.ok(stored(capped).length <= String(capped).length);
  const gaveUp = sentence('given_up', { reply: '451 4.3.0 later' });
  t.ok(stored(gaveUp).length <= String(gaveUp).length);
});

t.test('every sentence is said by the code, so that none is translated for nothing', async (t) => {
  const root = join(import.meta.dirname, '../../src');
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !name.startsWith('ui/words') && name !== 'errors/sentences.ts',
  );
  const said = new Set(
    files.flatMap((name) =>
      [...readFileSync(join(root, name), 'utf8').matchAll(/(?:SENTENCES\.|['`])(\w+)\b/g)].map(([, code]) => code),
    ),
  );
  // Codes that are put together from a part and a name.
  const PUT_TOGETHER =
    /^(?:cause_|suppression_|relay_test_|held_(?:own_)?(?:type|segment)_deleted$|held_(?:cancelled|copy|no_audience|sender_|too_many_))/;
  // Codes that only rows have which an earlier release stored.
  const EARLIER = ['mail_sender_unverified', 'held_check_failed'];
  const unsaid = Object.keys(SENTENCES).filter(
    (code) => !EARLIER.includes(code) && !PUT_TOGETHER.test(code) && !said.has(code),
  );
  t.strictSame(unsaid, []);
});

t.test('the text of every field error is a sentence that is translated', async (t) => {
  for (const [rule, text] of Object.entries(messages)) {
    const english = Reflect.apply(text, undefined, ['contact_type_id', 3]);
    t.match(codeOf(english), /^field_/, `${rule}: ${english}`);
    t.match(german.sentence(english), /„Liste“/, `${rule} names the field in German`);
  }
});

t.test('a hold without details has a sentence of its code', async (t) => {
  const plain = HELD_CODES.filter((code) => Object.hasOwn(SENTENCES, `held_${code}`));
  const withDetails = ['canary_unclear', 'missed_time', 'too_many_bounces', 'too_many_complaints', 'too_many_refusals'];
  t.strictSame(
    plain.filter((code) => !withDetails.includes(code)),
    ['cancelled', 'check_failed', 'copy', 'no_audience', 'sender_deleted', 'sender_unverified'],
  );
});

t.test('a sentence is put together in the reader’s language, with numbers and days of their locale', async (t) => {
  const late = sentence('held_missed_time', { minutes: 1500, cause: sentence('missed_held') });
  t.equal(german.sentence(late), 'Der geplante Zeitpunkt wurde um 1.500 min verpasst: Der Versand war pausiert');
  t.equal(
    german.sentence(sentence('file_too_large', { count: 104_857_600 })),
    'Die Datei darf höchstens 100 MB groß sein.',
  );
  t.equal(german.sentence(sentence('backup_fresh', { day: '2026-11-22' })), 'Die letzte Sicherung ist vom 22.11.2026');
  t.equal(
    german.sentence(sentence('returned', { cause: sentence('cause_full'), reply: '552 5.2.2 over quota' })),
    'Das Postfach ist voll. 552 5.2.2 over quota',
    'what a mail server says stays as it is',
  );
  t.equal(
    german.sentence(sentence('held_and', { reason: sentence('held_restored'), more: sentence('held_settings') })),
    `${sentences.held_restored}; ${sentences.held_settings}`,
    'causes after one another',
  );
  t.equal(new Language('en').sentence(sentence('cause_full')), SENTENCES.cause_full);
  t.equal(
    new Language('en').sentence(sentence('not_pausable')),
    'Only a sending campaign can be paused',
    'in the words of the dashboard',
  );
});

t.test('a sentence that ends a text has a full stop, which is not repeated', async (t) => {
  t.equal(german.fullSentence(sentence('live_no_group')), 'Wählen Sie zuerst ein Thema.');
  for (const text of ['The mailbox is full.', '“Who are you?”', 'Later …', ''])
    t.equal(german.fullSentence(text), text);
});

t.test('names that people chose stay as they are, and so does what nobody here said', async (t) => {
  const held = sentence('held_mail', { subject: '2026', problem: sentence('mail_sender_deleted') });
  t.equal(german.sentence(held), 'Die Mail „2026“ kann nicht gesendet werden: Der Absender der Mail wurde gelöscht');
  t.equal(german.sentence('550 5.1.1 no such user'), '550 5.1.1 no such user');
  t.equal(german.sentence(`${'x'.repeat(5000)} left`), `${'x'.repeat(5000)} left`);
});

t.test('what others say is shown as it is, even where it looks like a time or a name of the language', async (t) => {
  for (const language of [german, new Language('en')]) {
    for (const text of ['2026-99-99', '2026-13-01T99:99Z', sentence('given_up', { reply: '9999-99-99' })])
      t.match(language.sentence(text), /\d{4}-\d\d-\d\d/, String(text));
    for (const name of ['constructor', '__proto__', 'toString'])
      t.match(language.sentence(sentence('field_integer', { field: name })), name, name);
  }
});
