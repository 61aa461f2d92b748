/** The content of a mail: its own code, or an unchanged built-in template. A mail made from an own template has a copy of its code. */
import { and, eq, isNull } from 'drizzle-orm';
import { readMailRules } from '../database/accounts.ts';
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

/** The template id of a mail with its own code. */
export const BLANK_TEMPLATE = 1;

/** The lowest id of an own template; built-in templates have lower ids. */
const FIRST_OWN = 1001;

/** Returns true if a template is an account's own. */
export function isOwn({ id }: { id: number }): boolean {
  return id >= FIRST_OWN;
}

/** The preview image of every own template, a file in data/templates. */
export const OWN_PREVIEW = 'own.png';

/** A template's code: MJML's JSON form and the HTML made from it. The JSON is empty if the template was written as HTML. */
export interface TemplateCodes {
  json_code: string;
  html_code: string;
}

/** The fields of a request that determine the content of a mail. */
interface GivenContent {
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
 * Returns the content with an own template replaced by a copy of its code, so that changing or deleting the template does not
 * change the mail. Code in `input` takes precedence over the template. Content without an own template is returned unchanged.
 */
export function withTemplateCopied<Given extends GivenContent>(db: Db, accountId: number, input: Given): Given {
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

/** Returns the versions in other languages of one of the account's own templates; null if it has none. */
export function findVersions(db: Db, accountId: number, id: number): LanguageVersion[] | null {
  const where = ownedRecord(ownTemplates, id, accountId);
  return db.select({ languages: ownTemplates.languages }).from(ownTemplates).where(where).get()?.languages ?? null;
}

/** Returns a template's code as a mail stores it: MJML or HTML, with the other empty. */
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

/** Returns the account's single send or automation mail with this utr. Throws 404. */
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
 * Returns the code of a template that an account may use, one of its own or a built-in one in its language; undefined
 * if there is none with this id.
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
  return builtIn && builtInTemplate(builtIn, readMailRules(db, accountId).mail_language);
}

/** Closes the newest version of a mail, so that the next change of its content makes a new version, however soon it follows. */
export function closeVersion(db: Db, kind: Mail['kind'], id: number): void {
  db.update(mailVersions)
    .set({ is_open: 0 })
    .where(and(eq(mailVersions.kind, kind), eq(mailVersions.owner_id, id), eq(mailVersions.is_open, 1)))
    .run();
}
