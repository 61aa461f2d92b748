/** The forms of an account: how they are read, added and changed, and whether a form accepts subscriptions now. */
import type { Database } from 'better-sqlite3';
import { and, asc, eq } from 'drizzle-orm';
import type { Config } from '../config.ts';
import { findNamedValue } from '../database/named-values.ts';
import type { Db } from '../database/open.ts';
import { ownedBy, ownedRecord } from '../database/ownership.ts';
import { forms } from '../database/schema/index.ts';
import type { Tokens } from '../delivery/links/tokens.ts';
import { isUnverified } from '../delivery/transport/relays/in-use.ts';
import { isoTimestamp } from '../time/clock.ts';

export type Form = typeof forms.$inferSelect;
/** The settings of a form that its owner chooses. */
export type FormInput = Omit<Form, 'id' | 'user_id' | 'shown' | 'sent' | 'confirmed' | 'created_at' | 'updated_at'>;

/** Why a form accepts no subscriptions: it is switched off, or something that it needs is missing. */
export const FORM_OFF_CODES = ['off', 'type_deleted', 'sender_deleted', 'sender_unverified'] as const;
export type FormOffCode = (typeof FORM_OFF_CODES)[number];

const PURPOSE = 'form';

/** Returns the account's forms in the order in which they were added. */
export function formsOf(db: Db, accountId: number): Form[] {
  return db.select().from(forms).where(ownedBy(forms, accountId)).orderBy(asc(forms.id)).all();
}

/** Returns the account's form with this identifier; undefined if there is none. */
export function findForm(db: Db, accountId: number, id: unknown): Form | undefined {
  return db
    .select()
    .from(forms)
    .where(ownedRecord(forms, id, accountId))
    .get();
}

/** Returns the form whose public URL has this token, of any account; undefined if the token is not ours or the form was deleted. */
export function findFormByToken(db: Db, tokens: Tokens, token: string): Form | undefined {
  const id = tokens.read(PURPOSE, token) ?? idOfOldUrl(db, tokens, token);
  return id === null
    ? undefined
    : db
        .select()
        .from(forms)
        .where(eq(forms.id, Number(id)))
        .get();
}

/**
 * Returns the id of the form in a URL that an earlier release signed; null for other URLs. Websites contain such URLs, so they keep
 * working. They were signed with a secret that sender nodes know, so they work only for forms of that time, which were public.
 */
function idOfOldUrl(db: Db, tokens: Tokens, token: string): string | null {
  const lastOldId = Number(findNamedValue(db.$client, 'old_forms_up_to') ?? 0);
  const id = lastOldId === 0 ? null : tokens.readForgeable(PURPOSE, token);
  return id !== null && Number(id) <= lastOldId ? id : null;
}

/** Returns the path of a form's page. */
export function formPath(tokens: Tokens, id: number): string {
  return `/f/${tokens.sign(PURPOSE, String(id))}`;
}

/** Adds a form and returns its id. */
export function addForm(db: Db, accountId: number, input: FormInput, now: Date): number {
  const stamp = isoTimestamp(now);
  return db
    .insert(forms)
    .values({ ...input, user_id: accountId, created_at: stamp, updated_at: stamp })
    .returning({ id: forms.id })
    .get().id;
}

/** Changes a form. */
export function changeForm(db: Db, { id, user_id }: Form, input: FormInput, now: Date): void {
  db.update(forms)
    .set({ ...input, updated_at: isoTimestamp(now) })
    .where(and(eq(forms.id, id), eq(forms.user_id, user_id)))
    .run();
}

/** Returns why a form accepts no subscriptions now; null if it accepts them. */
export function formOffCode(client: Database, config: Config, form: Form): FormOffCode | null {
  if (form.is_active === 0) return 'off';
  const row = client
    .prepare<[number, number], { has_type: 0 | 1; is_verified: 0 | 1 | null }>(`
       SELECT EXISTS (SELECT 1 FROM contact_types WHERE id = ? AND deleted_at IS NULL) AS has_type,
       (SELECT is_verified FROM senders WHERE id = ? AND deleted_at IS NULL) AS is_verified`)
    .get(form.contact_type_id, form.sender_id);
  if (row?.has_type !== 1) return 'type_deleted';
  if (row.is_verified === null) return 'sender_deleted';
  return isUnverified(client, config, { is_verified: row.is_verified }) ? 'sender_unverified' : null;
}

/** Adds to the numbers of times that forms were shown. `shown` has the number to add by the id of the form. */
export function countShown(client: Database, shown: ReadonlyMap<number, number>): void {
  const add = client.prepare('UPDATE forms SET shown = shown + ? WHERE id = ?');
  client.transaction(() => {
    for (const [id, times] of shown) add.run(times, id);
  })();
}
