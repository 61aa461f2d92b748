/** The accounts' own templates: how they are read, added and changed, and how many an account can have. */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { eq, sql } from 'drizzle-orm';
import type { Db } from '../database/open.ts';
import { ownedRecord } from '../database/ownership.ts';
import { ownTemplates } from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import { renderTemplate } from '../delivery/compiling/compile.ts';
import { conflict, Failure, notFound } from '../errors/failure.ts';
import { sentence } from '../errors/sentences.ts';
import { type Clock, isoTimestamp } from '../time/clock.ts';
import { MEBIBYTE } from '../units.ts';
import type { TemplateCodes } from './mail-content.ts';

/** The maximum number of templates of an account. */
export const MAX_TEMPLATES = 200;
/** The maximum size of the code of all templates of an account. */
export const MAX_TEMPLATE_BYTES = 50 * MEBIBYTE;

interface TemplateDeps {
  db: Db;
  clock: Clock;
}

export type OwnTemplate = typeof ownTemplates.$inferSelect;

/** Returns both codes of a template. If there is JSON, the HTML is made from it. Throws ContentError if the JSON has a fault. */
export async function templateCodes(accountId: number, json: string, html: string): Promise<TemplateCodes> {
  return { json_code: json, html_code: json === '' ? html : await renderTemplate(accountId, json) };
}

/** Returns the account's own template with this id. Throws 404 if there is none. */
export function requireTemplate(db: Db, accountId: number, id: unknown): OwnTemplate {
  const template = db
    .select()
    .from(ownTemplates)
    .where(ownedRecord(ownTemplates, id, accountId))
    .get();
  if (template === undefined) throw notFound('Record not found');
  return template;
}

/** Adds a template and returns its id. Throws 409 if the account has no room for it. Call inside a transaction. */
export function addTemplate(
  { db, clock }: TemplateDeps,
  accountId: number,
  name: string,
  codes: TemplateCodes,
): number {
  const size = sizeOf(codes);
  requireRoom(db, accountId, size, 1);
  const now = isoTimestamp(clock.now());
  return db
    .insert(ownTemplates)
    .values({
      user_id: accountId,
      utr: randomUUID(),
      template_name: name,
      ...codes,
      size,
      created_at: now,
      updated_at: now,
    })
    .returning({ id: ownTemplates.id })
    .get().id;
}

/**
 * Adds templates from HTML files. Skips a file if the account has a template with the same name and code already. Stops when the account
 * has no room for more templates. Other requests are answered between two templates.
 */
export async function addMissingTemplates(
  deps: TemplateDeps,
  accountId: number,
  templates: readonly { name: string; path: string }[],
): Promise<void> {
  const find = deps.db.$client.prepare(
    'SELECT 1 FROM own_templates WHERE user_id = ? AND template_name = ? AND html_code = ?',
  );
  for (const { name, path } of templates) {
    const html_code = await readFile(path, 'utf8');
    const add = () => {
      if (find.get(accountId, name, html_code) === undefined)
        addTemplate(deps, accountId, name, { json_code: '', html_code });
    };
    try {
      inTransaction(deps.db, add);
    } catch (error) {
      if (error instanceof Failure && error.status === 409) return;
      throw error;
    }
  }
}

/** Changes the name of a template, its code, or both. Throws 409 if the account has no room for the code. Call inside a transaction. */
export function changeTemplate(
  { db, clock }: TemplateDeps,
  { id, user_id, size: oldSize }: Pick<OwnTemplate, 'id' | 'user_id' | 'size'>,
  { name, codes }: { name?: string | undefined; codes?: TemplateCodes | undefined },
): void {
  const size = codes && sizeOf(codes);
  if (size !== undefined && size > oldSize) requireRoom(db, user_id, size - oldSize, 0);
  db.update(ownTemplates)
    .set({ template_name: name, ...codes, size, updated_at: isoTimestamp(clock.now()) })
    .where(eq(ownTemplates.id, id))
    .run();
}

function sizeOf({ json_code, html_code }: TemplateCodes): number {
  return Buffer.byteLength(json_code) + Buffer.byteLength(html_code);
}

/** Throws 409 if an account has no room for this number of further bytes in `newTemplates` further templates. */
export function requireRoom(db: Db, accountId: number, bytes: number, newTemplates: number): void {
  const { count, size } = db
    .select({ count: sql<number>`count(*)`, size: sql<number>`ifnull(sum(${ownTemplates.size}), 0)` })
    .from(ownTemplates)
    .where(eq(ownTemplates.user_id, accountId))
    .all()[0] ?? { count: 0, size: 0 };
  if (count + newTemplates > MAX_TEMPLATES) throw conflict(sentence('templates_many', { count: MAX_TEMPLATES }));
  if (size + bytes > MAX_TEMPLATE_BYTES)
    throw conflict(sentence('templates_full', { size: MAX_TEMPLATE_BYTES / MEBIBYTE }));
}
