/** Operations for unsubscribe groups: kinds of mail that a contact can unsubscribe from without unsubscribing from all mail. */

import { eq, sql } from 'drizzle-orm';
import Type, { type Static } from 'typebox';
import { ownedRecord } from '../../database/ownership.ts';
import { ownedList, readRecord, recordObject, totalBytes } from '../../database/record-json.ts';
import { SINGLE_SEND_STATUS, unsubscribeGroups } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { conflict, notFound } from '../../errors/failure.ts';
import { sentence } from '../../errors/sentences.ts';
import { flag, identifier, integer, line, listQuery, stamps, text, zeroOrOne } from '../../http/requests/schemas.ts';
import { type Context, listOperation, operation, recordOperation } from '../../operations/operation.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { insertGroup } from '../unsubscribes.ts';

const Group = Type.Object({
  id: integer(),
  user_id: integer(),
  rand_id: Type.String({ description: 'Ten random digits.' }),
  group_name: Type.String(),
  description: Type.String(),
  is_display: zeroOrOne(),
  ...stamps,
});
const ListedGroup = Type.Object({
  ...Group.properties,
  unsubscribe_clients_count: integer({ description: 'The number of addresses unsubscribed from the group.' }),
});
/** The fields of a group that its owner enters. */
const groupProperties = {
  group_name: line(),
  description: text(),
  is_display: flag('1: the group is shown on the preference page.'),
};
const ById = { id: identifier('The unsubscribe group.') };
/** The records that prevent deleting a group. */
const Uses = Type.Object({
  single_sends: integer({ description: 'The number of drafts, and of single sends that wait or run.' }),
  automations: integer({ description: 'The number of automations, live or not.' }),
});

export interface GroupAndUses {
  group: Static<typeof ListedGroup>;
  uses: Static<typeof Uses>;
}

const record = recordObject(Group, unsubscribeGroups);
const listed = recordObject(ListedGroup, unsubscribeGroups);

export const listGroups = listOperation({
  name: 'List the groups',
  role: 'viewer',
  input: listQuery,
  as: 'unsubscribesGroups',
  record: ListedGroup,
  select: ({ accountId }, part) => ({
    ...ownedList(listed, unsubscribeGroups, accountId),
    bytes: totalBytes(unsubscribeGroups.description),
    part,
  }),
});

export const readGroup = recordOperation({
  name: 'Read a group',
  role: 'viewer',
  input: Type.Object(ById),
  as: 'unsubscribesGroup',
  record: Group,
  json: ({ db, accountId }, { id }) =>
    readRecord(db, record, sql`${unsubscribeGroups}`, ownedRecord(unsubscribeGroups, id, accountId)),
});

export const addGroup = operation({
  name: 'Add a group',
  role: 'editor',
  isOneWrite: true,
  input: Type.Object(groupProperties),
  run: ({ db, clock, accountId }, fields) => insertGroup(db, accountId, fields, isoTimestamp(clock.now())),
});

export const changeGroup = operation({
  name: 'Change a group',
  role: 'editor',
  isOneWrite: true,
  input: Type.Object({ ...ById, ...groupProperties }),
  run({ db, clock, accountId }, { id, ...fields }) {
    const { changes } = db
      .update(unsubscribeGroups)
      .set({ ...fields, updated_at: isoTimestamp(clock.now()) })
      .where(ownedRecord(unsubscribeGroups, id, accountId))
      .run();
    if (changes === 0) throw notFound();
  },
});

export const countUsesOfGroup = operation({
  name: 'Count what a group is used for (addition)',
  role: 'viewer',
  input: Type.Object(ById),
  output: Type.Object({ uses: Uses }),
  run: (context, { id }) => ({ uses: countUses(context, requireGroup(context, id)) }),
});

/** For the screen of a group. */
export const readGroupAndUses = operation({
  name: 'Read a group with what it is used for',
  role: 'viewer',
  input: Type.Object(ById),
  run(context, { id }): GroupAndUses {
    const { db } = context;
    const groupId = requireGroup(context, id);
    const json = readRecord(db, listed, sql`${unsubscribeGroups}`, eq(unsubscribeGroups.id, groupId));
    if (json === undefined) throw notFound();
    return { group: JSON.parse(json), uses: countUses(context, groupId) };
  },
});

export const deleteGroup = operation({
  name: 'Delete a group (addition)',
  description:
    'Refused with 409 while an unfinished single send or an automation uses the group. Links in sent e-mails still work, and the unsubscribes from the group stay recorded.',
  role: 'editor',
  isOneWrite: true,
  input: Type.Object(ById),
  run(context, { id: groupId }) {
    const { db, clock } = context;
    inTransaction(db, (tx) => {
      const id = requireGroup(context, groupId);
      const uses = countUses(context, id);
      if (uses.single_sends + uses.automations > 0) throw conflict(sentence('group_used', uses));
      const now = isoTimestamp(clock.now());
      tx.update(unsubscribeGroups).set({ deleted_at: now, updated_at: now }).where(eq(unsubscribeGroups.id, id)).run();
    });
  },
});

/** Returns true if the caller's account has a group. */
export function hasGroup(context: Context, id: unknown): boolean {
  return findGroup(context, id) !== undefined;
}

/** Returns the id of a group of the caller's account. Throws 404 if there is none. */
export function requireGroup(context: Context, id: unknown): number {
  const group = findGroup(context, id);
  if (group === undefined) throw notFound();
  return group.id;
}

/** Returns the name of a group. */
export function readGroupName({ db }: Context, id: number): string | undefined {
  const where = eq(unsubscribeGroups.id, id);
  return db.select({ name: unsubscribeGroups.group_name }).from(unsubscribeGroups).where(where).get()?.name;
}

function findGroup({ db, accountId }: Context, id: unknown): { id: number } | undefined {
  const where = ownedRecord(unsubscribeGroups, id, accountId);
  return db.select({ id: unsubscribeGroups.id }).from(unsubscribeGroups).where(where).get();
}

/** Counts the drafts, queued and running single sends and the automations of the account that use this group. */
function countUses({ db, accountId }: Context, groupId: number): Static<typeof Uses> {
  return db.get(sql`
    SELECT (SELECT count(*) FROM single_sends WHERE user_id = ${accountId} AND status <> ${SINGLE_SEND_STATUS.completed}
        AND unsubscribe_group_id = ${groupId}) AS single_sends,
      (SELECT count(*) FROM automations WHERE user_id = ${accountId} AND deleted_at IS NULL
        AND unsubscribe_group_id = ${String(groupId)}) AS automations`);
}
