/**
 * Operations for the versions of a single send in other languages (additions to the contract). Each recipient gets the version in their
 * language; who has another language gets the mail itself.
 */
import Type from 'typebox';
import { languageCode } from '../../audience/contacts/contact-languages.ts';
import { readMailRules } from '../../database/accounts.ts';
import type { Db } from '../../database/open.ts';
import type { LanguageVersion } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { invalid, notFound } from '../../errors/failure.ts';
import { messages } from '../../errors/field-errors.ts';
import { sentence } from '../../errors/sentences.ts';
import { identifier, integer, isoTimestampSchema, line, unchangedSince } from '../../http/requests/schemas.ts';
import { type Context, operation } from '../../operations/operation.ts';
import { hasTemplate } from '../../templates/mail-content.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { requireChangeable, requireSingleSend, type SingleSend } from '../single-sends.ts';
import { changeUnsent } from '../status.ts';
import { MAX_LANGUAGES } from './drafts.ts';

const Version = Type.Object({
  language: Type.String({ description: 'Its language, as an ISO 639-1 code.' }),
  subject: Type.String({ description: 'Its subject; empty: that of the mail.' }),
  preheader: Type.String({ description: 'Its preview text; empty: that of the mail.' }),
  template_id: integer({ description: 'The template of its content; 0: the content of the mail.' }),
});
const ByUtr = { utr: identifier('The single send.') };
const ofVersion = line({ description: 'The language: an ISO 639-1 code, a tag such as pt-BR, or a name.' });

export const listLanguages = operation({
  name: 'List the versions of a single send in other languages (addition)',
  role: 'viewer',
  input: Type.Object(ByUtr),
  output: Type.Object({
    languages: Type.Array(Version, {
      description: 'The versions. Their numbers as `variant` of a preview begin at 1.',
    }),
    account_language: Type.String({
      description: 'The language of the mail itself and of contacts whose language is unknown, as an ISO 639-1 code.',
    }),
  }),
  run({ db, accountId }, { utr }) {
    const languages = requireSingleSend(db, accountId, utr).languages ?? [];
    return { languages, account_language: readMailRules(db, accountId).mail_language };
  },
});

export const saveLanguage = operation({
  name: 'Add or change the version of a single send in a language (addition)',
  description: `A single send can have ${MAX_LANGUAGES} versions, and either these or an A/B test. It stays a draft or queued.`,
  role: 'editor',
  input: Type.Object({
    ...ByUtr,
    unchanged_since: unchangedSince(),
    language: ofVersion,
    subject: Type.Optional(
      Type.Unsafe<string>({ ...line({ description: 'Its subject; empty: that of the mail.' }), examples: ['Hello'] }),
    ),
    preheader: Type.Optional(line({ description: 'Its preview text; empty: that of the mail.' })),
    template_id: Type.Optional(
      Type.Unsafe<number>({
        ...integer({ description: 'The template of its content; 0: that of the mail.' }),
        empty: 0,
      }),
    ),
  }),
  output: Type.Object({ updated_at: isoTimestampSchema() }),
  run(context, { utr, unchanged_since, language, subject = '', preheader = '', template_id = 0 }) {
    const code = requireLanguage(language);
    return change(context, utr, unchanged_since, (send, db) => {
      if (send.ab_test !== null) throw invalid('language', sentence('ab_languages'));
      if (template_id !== 0 && !hasTemplate(db, send.user_id, template_id))
        throw invalid('template_id', messages.selected('template_id'));
      if (subject === '' && preheader === '' && template_id === 0) throw invalid('subject', sentence('language_same'));
      const version = { language: code, subject, preheader, template_id };
      const others = (send.languages ?? []).filter((other) => other.language !== code);
      if (others.length >= MAX_LANGUAGES) throw invalid('language', messages.items('language', MAX_LANGUAGES));
      return [...others, version].sort((one, other) => (one.language < other.language ? -1 : 1));
    });
  },
});

export const removeLanguage = operation({
  name: 'Remove the version of a single send in a language (addition)',
  role: 'editor',
  input: Type.Object({ ...ByUtr, unchanged_since: unchangedSince(), language: ofVersion }),
  output: Type.Object({ updated_at: isoTimestampSchema() }),
  run(context, { utr, unchanged_since, language }) {
    const code = requireLanguage(language);
    return change(context, utr, unchanged_since, ({ languages }) => {
      const others = (languages ?? []).filter((other) => other.language !== code);
      if (others.length === (languages ?? []).length) throw notFound();
      return others;
    });
  },
});

function requireLanguage(given: string): string {
  const code = languageCode(given);
  if (code === null) throw invalid('language', messages.selected('language'));
  return code;
}

/** Replaces the versions of a single send that is not sent yet by those that `made` returns. */
function change(
  { db, clock, accountId, actor }: Context,
  utr: unknown,
  unchangedSince: string | undefined,
  made: (send: SingleSend, db: Db) => LanguageVersion[],
): { updated_at: string } {
  return inTransaction(db, () => {
    const send = requireChangeable(db, accountId, utr, unchangedSince);
    const languages = made(send, db);
    const updated_at = isoTimestamp(clock.now());
    const changes = { languages: languages.length === 0 ? null : languages, changed_by: actor.userId, updated_at };
    changeUnsent(db, send.id, changes);
    return { updated_at };
  });
}
