/**
 * Operations for the versions of templates in other languages, which transactional mails use (additions to the contract). The operations
 * for the versions of other mails share the schemas and functions of this file.
 */
import { eq } from 'drizzle-orm';
import Type, { type Static } from 'typebox';
import { languageCode } from '../../audience/contacts/contact-languages.ts';
import { listCustomFields } from '../../audience/fields/custom-fields.ts';
import { requireConditions } from '../../campaigns/single-send-errors.ts';
import { readMailRule } from '../../database/accounts.ts';
import { type LanguageVersion, ownTemplates } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { type CheckedAudience, checkLanguages } from '../../delivery/checks/recipients-check.ts';
import { invalid, notFound } from '../../errors/failure.ts';
import { messages } from '../../errors/field-errors.ts';
import { sentence } from '../../errors/sentences.ts';
import { withinShare } from '../../http/account-share.ts';
import { identifier, integer, isoTimestampSchema, line } from '../../http/requests/schemas.ts';
import { type Context, operation } from '../../operations/operation.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { hasTemplate } from '../mail-content.ts';
import { requireTemplate } from '../own-templates.ts';
import { MAX_LANGUAGES } from './versions.ts';

const Version = Type.Object({
  language: Type.String({ description: 'The language of the version, as an ISO 639-1 code.' }),
  subject: Type.String({ description: 'The subject of the version; empty: the subject of the e-mail.' }),
  preheader: Type.String({ description: 'The preview text of the version; empty: the preview text of the e-mail.' }),
  template_id: integer({ description: 'The template with the content of the version; 0: the content of the e-mail.' }),
});

/** The versions of a mail, as an operation returns them. */
export const Versions = Type.Object({
  languages: Type.Array(Version, {
    description: 'The versions. In previews, `variant` 1 is the first version.',
  }),
  account_language: Type.String({
    description: 'The language of the e-mail itself and of contacts whose language is unknown, as an ISO 639-1 code.',
  }),
  missing: Type.Array(
    Type.Object({
      language: Type.String({ description: 'The language, as an ISO 639-1 code.' }),
      count: integer({ description: 'The number of contacts with this language.' }),
    }),
    {
      description:
        'The languages of contacts for which the e-mail has no version: these contacts get the e-mail itself. At most 100 000 contacts are examined. Empty if the e-mail has no versions.',
    },
  ),
});
export type Versions = Static<typeof Versions>;

/** The language that a request names. */
export const versionLanguage = line({
  description: 'The language: an ISO 639-1 code, a tag such as pt-BR, or a name.',
});

/** The parameters that describe a version. */
export const versionInput = {
  language: versionLanguage,
  subject: Type.Optional(
    Type.Unsafe<string>({
      ...line({ description: 'The subject of the version; empty: the subject of the e-mail.' }),
      examples: ['Hello'],
    }),
  ),
  preheader: Type.Optional(
    line({ description: 'The preview text of the version; empty: the preview text of the e-mail.' }),
  ),
  template_id: Type.Optional(
    Type.Unsafe<number>({
      ...integer({ description: 'The template with the content of the version; 0: the content of the e-mail.' }),
      empty: 0,
    }),
  ),
};
type VersionInput = Static<Type.TObject<typeof versionInput>>;

/** Returns the versions of a mail, and the languages of its audience for which it has no version; no languages if `audience` is null. */
export async function shownVersions(
  { db, accountId }: Context,
  versions: readonly LanguageVersion[] | null,
  audience: CheckedAudience | null,
): Promise<Versions> {
  const languages = (versions ?? []).map(({ language, subject, preheader, template_id }) => ({
    language,
    subject,
    preheader,
    template_id,
  }));
  const account_language = readMailRule(db, accountId, 'mail_language');
  const others = languages.map(({ language }) => language);
  const missing =
    audience === null || others.length === 0
      ? []
      : await withinShare(accountId, () =>
          checkLanguages(db.$client, listCustomFields(db, accountId), audience, { language: account_language, others }),
        );
  return { languages, account_language, missing: missing.map(({ name: language, count }) => ({ language, count })) };
}

/** Returns the versions of a mail after one was added or replaced. Throws 422 if the input is not valid. */
export function withVersion(
  { db, accountId }: Context,
  versions: readonly LanguageVersion[] | null,
  { language: code, subject = '', preheader = '', template_id = 0 }: VersionInput,
): LanguageVersion[] {
  const language = requireLanguage(code);
  requireConditions('subject', [subject]);
  requireConditions('preheader', [preheader]);
  if (template_id !== 0 && !hasTemplate(db, accountId, template_id))
    throw invalid('template_id', messages.selected('template_id'));
  const html = (versions ?? []).find((version) => version.language === language)?.template_html ?? '';
  const hasHtml = template_id === 0 && html !== '';
  if (subject === '' && preheader === '' && template_id === 0 && !hasHtml)
    throw invalid('subject', sentence('language_same'));
  const others = (versions ?? []).filter((other) => other.language !== language);
  if (others.length >= MAX_LANGUAGES) throw invalid('language', messages.items('language', MAX_LANGUAGES));
  const version = { language, subject, preheader, template_id, ...(hasHtml && { template_html: html }) };
  return [...others, version].sort((a, b) => (a.language < b.language ? -1 : 1));
}

/**
 * Returns the versions of a mail without the one in this language; null if no version is left. Throws 404 if the mail has no such
 * version, and 422 if the language is unknown.
 */
export function withoutVersion(versions: readonly LanguageVersion[] | null, code: string): LanguageVersion[] | null {
  const language = requireLanguage(code);
  const others = (versions ?? []).filter((other) => other.language !== language);
  if (others.length === (versions ?? []).length) throw notFound();
  return others.length === 0 ? null : others;
}

function requireLanguage(language: string): string {
  const code = languageCode(language);
  if (code === null) throw invalid('language', messages.selected('language'));
  return code;
}

const ById = { id: identifier('The template, which must be your own.') };

export const listTemplateLanguages = operation({
  name: 'List the versions of a template in other languages (addition)',
  description: 'A transactional e-mail from the template has the version in the language of its recipient.',
  role: 'viewer',
  input: Type.Object(ById),
  output: Versions,
  run(context, { id }) {
    const { db, accountId } = context;
    const { languages } = requireTemplate(db, accountId, id);
    const targets = db.$client
      .prepare<[number], { id: string; table: 'contacts' }>(
        'SELECT CAST(id AS TEXT) AS id, \'contacts\' AS "table" FROM contact_types WHERE user_id = ? AND deleted_at IS NULL',
      )
      .all(accountId);
    return shownVersions(context, languages, { targets, excluded: [], groupId: 0 });
  },
});

export const saveTemplateLanguage = operation({
  name: 'Add or change the version of a template in a language (addition)',
  description: `A template can have ${MAX_LANGUAGES} versions. A version has the content of another template. E-mails of campaigns have versions of their own.`,
  role: 'editor',
  input: Type.Object({ ...ById, ...versionInput }),
  output: Type.Object({ updated_at: isoTimestampSchema() }),
  run: (context, { id, ...fields }) =>
    changeVersions(context, id, ({ languages }) => withVersion(context, languages, fields)),
});

export const removeTemplateLanguage = operation({
  name: 'Remove the version of a template in a language (addition)',
  role: 'editor',
  input: Type.Object({ ...ById, language: versionLanguage }),
  output: Type.Object({ updated_at: isoTimestampSchema() }),
  run: (context, { id, language }) =>
    changeVersions(context, id, ({ languages }) => withoutVersion(languages, language)),
});

/** Replaces the versions of a template by those that `newVersions` returns. */
function changeVersions(
  { db, clock, accountId }: Pick<Context, 'db' | 'clock' | 'accountId'>,
  id: unknown,
  newVersions: (template: ReturnType<typeof requireTemplate>) => LanguageVersion[] | null,
): { updated_at: string } {
  return inTransaction(db, () => {
    const template = requireTemplate(db, accountId, id);
    const updated_at = isoTimestamp(clock.now());
    db.update(ownTemplates)
      .set({ languages: newVersions(template), updated_at })
      .where(eq(ownTemplates.id, template.id))
      .run();
    return { updated_at };
  });
}
