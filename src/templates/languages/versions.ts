/**
 * The versions of a mail in other languages. A single send, a mail of an automation, a feed and a template for transactional mails can
 * have versions.
 */
import { readMailRule } from '../../database/accounts.ts';
import type { Db } from '../../database/open.ts';
import type { LanguageVersion, Variant } from '../../database/schema/index.ts';
import { invalid } from '../../errors/failure.ts';
import { messages } from '../../errors/field-errors.ts';
import { withTemplateCopied } from '../mail-content.ts';

/** The maximum number of versions of a mail in other languages. */
export const MAX_LANGUAGES = 20;

/** The parts of a mail that a version can replace. */
interface Mail {
  user_id: number;
  subject: string;
  preheader: string;
  template_id: number;
  template_json: string | null;
  template_html: string | null;
}

/** A mail that can have versions. */
export interface VersionedMail extends Mail {
  languages: readonly LanguageVersion[] | null;
}

/**
 * Returns a mail with its parts replaced by those of a variant or version. Parts that are empty or 0 are not replaced. If the variant or
 * version has a template, the mail gets the present code of the template.
 */
export function withOwnParts<AnyMail extends Mail>(
  db: Db,
  mail: AnyMail,
  own: Omit<Variant, 'sender_name'> & Pick<LanguageVersion, 'template_html'>,
): AnyMail {
  const withTexts = { ...mail, subject: own.subject || mail.subject, preheader: own.preheader || mail.preheader };
  const { template_id, template_html = '' } = own;
  if (template_id === 0 && template_html === '') return withTexts;
  const code = { template_id, template_json: '', template_html };
  return { ...withTexts, ...withTemplateCopied(db, mail.user_id, code) };
}

/**
 * Returns a mail with the parts of its version with this number. Number 0 is the mail itself, which is in the language of the account.
 * The footer of the mail is in `version_language`. Throws 422 if there is no such version.
 */
export function asVersion<AnyMail extends VersionedMail>(
  db: Db,
  mail: AnyMail,
  number: number,
): AnyMail & { version_language?: string } {
  const versions = mail.languages ?? [];
  const version = versions[number - 1];
  if (version !== undefined) return { ...withOwnParts(db, mail, version), version_language: version.language };
  if (number !== 0) throw invalid('variant', messages.selected('variant'));
  return versions.length === 0 ? mail : { ...mail, version_language: readMailRule(db, mail.user_id, 'mail_language') };
}
