/**
 * The versions of a mail in other languages: of a single send, of a mail of an automation, of a feed, and of a template from which
 * transactional mails are made.
 */
import { readMailRules } from '../../database/accounts.ts';
import type { Db } from '../../database/open.ts';
import type { LanguageVersion, Variant } from '../../database/schema/index.ts';
import { invalid } from '../../errors/failure.ts';
import { messages } from '../../errors/field-errors.ts';
import { withTemplateCopied } from '../mail-content.ts';

/** The maximum number of versions of a mail in other languages. */
export const MAX_LANGUAGES = 20;

/** The parts of a mail that a version can have of its own. */
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
 * Returns a mail with the parts that a variant or version has of its own. The present code of its template is copied.
 * Parts that are empty or 0 are as in the mail itself.
 */
export function withOwnParts<Given extends Mail>(
  db: Db,
  mail: Given,
  own: Omit<Variant, 'sender_name'> & Pick<LanguageVersion, 'template_html'>,
): Given {
  const shown = { ...mail, subject: own.subject || mail.subject, preheader: own.preheader || mail.preheader };
  const { template_id, template_html = '' } = own;
  if (template_id === 0 && template_html === '') return shown;
  const code = { template_id, template_json: '', template_html };
  return { ...shown, ...withTemplateCopied(db, mail.user_id, code) };
}

/**
 * Returns a mail as its version with this number has it; 0: the mail itself, which is in the language of the account.
 * The footer that is added follows `version_language`. Throws 422 if there is no such version.
 */
export function asVersion<Given extends VersionedMail>(
  db: Db,
  mail: Given,
  number: number,
): Given & { version_language?: string } {
  const versions = mail.languages ?? [];
  const version = versions[number - 1];
  if (version !== undefined) return { ...withOwnParts(db, mail, version), version_language: version.language };
  if (number !== 0) throw invalid('variant', messages.selected('variant'));
  return versions.length === 0 ? mail : { ...mail, version_language: readMailRules(db, mail.user_id).mail_language };
}
