/** A form together with the data of other records that its page shows. */
import { and, asc, eq, inArray, isNull } from 'drizzle-orm';
import { trackingMode } from '../audience/tracking-choice.ts';
import type { Db } from '../database/open.ts';
import { unsubscribeGroups } from '../database/schema/index.ts';
import { type AskedField, askedFields } from './fields.ts';
import type { Form } from './forms.ts';

/** The maximum length of a group's description on the page. */
const MAX_DESCRIPTION_CHARACTERS = 1000;

export interface ShownForm {
  form: Form;
  fields: readonly AskedField[];
  /** The unsubscribe groups to choose from, without deleted ones. */
  groups: readonly { id: number; group_name: string; description: string }[];
  /** The text of the box that asks whether opens and clicks may be recorded; null if there is no such box. */
  trackingText: string | null;
}

/**
 * Reads the fields and groups of a form, and the question about opens and clicks. A form asks that question only if the account
 * records opens and clicks by consent.
 */
export function readShown(db: Db, form: Form): ShownForm {
  const fields = askedFields(db, form.user_id, form.fields);
  const asksTracking = form.asks_tracking === 1 && trackingMode(db, form.user_id) === 'consent';
  const trackingText = asksTracking ? form.tracking_text : null;
  return { form, fields, groups: shownGroups(db, form.user_id, form.group_ids), trackingText };
}

/** Returns the unsubscribe groups of an account with these ids, without deleted ones. */
export function shownGroups(db: Db, accountId: number, ids: number[]): ShownForm['groups'] {
  const isOwned = and(eq(unsubscribeGroups.user_id, accountId), inArray(unsubscribeGroups.id, ids));
  return db
    .select({
      id: unsubscribeGroups.id,
      group_name: unsubscribeGroups.group_name,
      description: unsubscribeGroups.description,
    })
    .from(unsubscribeGroups)
    .where(and(isOwned, isNull(unsubscribeGroups.deleted_at)))
    .orderBy(asc(unsubscribeGroups.id))
    .all()
    .map((group) => ({ ...group, description: group.description.slice(0, MAX_DESCRIPTION_CHARACTERS) }));
}
