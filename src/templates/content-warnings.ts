/** The placeholders that an account may use, and the warnings about the account's mails. */
import { RESERVED_FIELDS, TOPIC } from '../audience/contacts/contact-fields.ts';
import { listCustomFields } from '../audience/fields/custom-fields.ts';
import type { Db } from '../database/open.ts';
import { dynamicContents } from '../database/schema/index.ts';
import type { ContentWarning } from '../delivery/checks/content-checks.ts';
import { findWarnings } from '../delivery/compiling/show.ts';
import { WEB_COPY } from '../delivery/content/placeholders.ts';

/** The texts of a mail that may contain placeholders. */
interface MailTexts {
  subject: string;
  preheader: string;
  template_json?: string | null;
  template_html?: string | null;
}

/**
 * Returns the names of all placeholders of an account: the built-in ones, our additions, the fields that conditions may use, and the
 * custom fields.
 */
export function knownPlaceholders(db: Db, accountId: number): string[] {
  const custom = listCustomFields(db, accountId).map(({ field_name }) => field_name);
  const builtIn = db.select({ name: dynamicContents.name }).from(dynamicContents).all();
  return [...new Set([...builtIn.map(({ name }) => name), WEB_COPY, ...RESERVED_FIELDS, TOPIC, ...custom])];
}

/** Returns the warnings about a mail of an account, such as unknown placeholders. */
export function mailWarnings(db: Db, accountId: number, mail: MailTexts): Promise<ContentWarning[]> {
  return findWarnings(accountId, textsOf(mail), knownPlaceholders(db, accountId));
}

/** Returns the texts and the code of a mail in the order that `findWarnings` takes. */
export function textsOf({ subject, preheader, template_json, template_html }: MailTexts): string[] {
  return [subject, preheader, template_json ?? '', template_html ?? ''];
}
