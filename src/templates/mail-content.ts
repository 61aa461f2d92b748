/**
 * The content of a mail: code of its own, or an unchanged built-in template. A mail made from an account's own template has a copy of the
 * template's code.
 */
import { and, eq, isNull } from 'drizzle-orm';
import { readMailRule } from '../database/accounts.ts';
import type { Db } from '../database/open.ts';
import { isOwned, ownedRecord, recordUtr } from '../database/ownership.ts';
import {
  automationSchedules,
  automations,
  designTemplates,
  type LanguageVersion,
  mailVersions,
  ownTemplates,
  singleSends,
} from '../database/schema/index.ts';
import { builtInTemplate } from '../database/template-texts.ts';
import { notFound } from '../errors/failure.ts';

/** The id of the blank template, which is also the template id of a mail with its own code. */
export const BLANK_TEMPLATE = 1;

/** The lowest id of an own template. Built-in templates have lower ids. */
const FIRST_OWN = 1001;

/** Returns true if a template is an account's own, not a built-in one. */
export function isOwn({ id }: { id: number }): boolean {
  return id >= FIRST_OWN;
}

/** The file in data/templates that is the preview image of every own template. */
export const OWN_PREVIEW = 'own.png';

/** The code of a template: MJML in its JSON form, and the HTML made from it. The JSON is empty if the template was written as HTML. */
export interface TemplateCodes {
  json_code: string;
  html_code: string;
}

/** The fields of a request that determine the content of a mail. */
interface ContentInput {
  template_id?: number;
  template_json?: string;
  template_html?: string;
}

/** Returns true if a mail of this account may use this template. */
export function hasTemplate(db: Db, accountId: number, id: number): boolean {
  return (
    db.select({ id: designTemplates.id }).from(designTemplates).where(eq(designTemplates.id, id)).get() !== undefined ||
    isOwned(db, ownTemplates, id, accountId)
  );
}

/**
 * Returns content in which the code of an own template replaces the template's id, so that changing or deleting the template does not
 * change the mail. Code in `input` takes precedence over the template. Content without an own template is returned unchanged.
 */
export function withTemplateCopied<Input extends ContentInput>(db: Db, accountId: number, input: Input): Input {
  if (input.template_id === undefined) return input;
  const own = db
    .select({ json_code: ownTemplates.json_code, html_code: ownTemplates.html_code })
    .from(ownTemplates)
    .where(ownedRecord(ownTemplates, input.template_id, accountId))
    .get();
  if (own === undefined) return input;
  const hasCode = Boolean(input.template_json || input.template_html);
  return { ...input, template_id: BLANK_TEMPLATE, ...(!hasCode && asMailCode(own)) };
}

/** Returns the versions in other languages of one of the account's own templates; null if the template has none or does not exist. */
export function findVersions(db: Db, accountId: number, id: number): LanguageVersion[] | null {
  const where = ownedRecord(ownTemplates, id, accountId);
  return db.select({ languages: ownTemplates.languages }).from(ownTemplates).where(where).get()?.languages ?? null;
}

/** Returns the code of a template as a mail stores it: only the MJML, or only the HTML if there is no MJML. */
function asMailCode({ json_code, html_code }: TemplateCodes): { template_json: string; template_html: string } {
  return { template_json: json_code, template_html: json_code === '' ? html_code : '' };
}

/** A mail of an account: a single send, or a mail of an automation. */
export interface Mail {
  kind: 'single_send' | 'automation_mail';
  id: number;
  template_id: number;
  template_json: string;
  template_html: string;
}

/** Returns the account's single send or automation mail with this utr. Throws 404 if there is none. */
export function requireMail(db: Db, accountId: number, id: unknown): Mail {
  const utr = recordUtr(id);
  const send = db
    .select({
      id: singleSends.id,
      template_id: singleSends.template_id,
      template_json: singleSends.template_json,
      template_html: singleSends.template_html,
    })
    .from(singleSends)
    .where(and(eq(singleSends.user_id, accountId), eq(singleSends.utr, utr)))
    .get();
  if (send !== undefined)
    return {
      ...send,
      kind: 'single_send',
      template_json: send.template_json ?? '',
      template_html: send.template_html ?? '',
    };
  const mail = db
    .select({
      id: automationSchedules.id,
      template_id: automationSchedules.template_id,
      template_json: automationSchedules.template_json,
      template_html: automationSchedules.template_html,
    })
    .from(automationSchedules)
    .innerJoin(automations, eq(automations.id, automationSchedules.automation_id))
    .where(
      and(eq(automationSchedules.user_id, accountId), eq(automationSchedules.utr, utr), isNull(automations.deleted_at)),
    )
    .get();
  if (mail === undefined) throw notFound('Record not found');
  return { ...mail, kind: 'automation_mail' };
}

/**
 * Returns the code of the template with this id: one of the account's own, or a built-in one in the account's language. Returns undefined
 * if there is no such template.
 */
export function findTemplateCodes(db: Db, accountId: number, id: unknown): TemplateCodes | undefined {
  const own = db
    .select({ json_code: ownTemplates.json_code, html_code: ownTemplates.html_code })
    .from(ownTemplates)
    .where(ownedRecord(ownTemplates, id, accountId))
    .get();
  if (own !== undefined) return own;
  const builtIn = db
    .select({ json_code: designTemplates.json_code, html_code: designTemplates.html_code })
    .from(designTemplates)
    .where(eq(designTemplates.id, Number(id)))
    .get();
  return builtIn && builtInTemplate(builtIn, readMailRule(db, accountId, 'mail_language'));
}

/** Closes the newest version of a mail, so that the next change of its content makes a new version even if it follows at once. */
export function closeVersion(db: Db, kind: Mail['kind'], id: number): void {
  db.update(mailVersions)
    .set({ is_open: 0 })
    .where(and(eq(mailVersions.kind, kind), eq(mailVersions.owner_id, id), eq(mailVersions.is_open, 1)))
    .run();
}
