/** Operations for contact types, which are named lists of contacts. */

import { sql } from 'drizzle-orm';
import Type, { type Static } from 'typebox';
import { finishHolds } from '../../campaigns/large-writes.ts';
import { ownedRecord, recordId } from '../../database/ownership.ts';
import { ownedList, readRecord, recordObject } from '../../database/record-json.ts';
import { contactTypes } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { notFound } from '../../errors/failure.ts';
import { identifier, integer, line, listQuery, softStamps } from '../../http/requests/schemas.ts';
import { type Context, listOperation, operation, recordOperation } from '../../operations/operation.ts';
import { holdCampaignsUsingTarget } from '../../senders/hold-campaigns.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { markForRecompute, recomputeSoon } from '../segments/recompute.ts';

export const ContactType = Type.Object({
  id: integer(),
  user_id: integer(),
  name: Type.String(),
  ...softStamps,
});
const ListedContactType = Type.Object({
  ...ContactType.properties,
  contacts_count: integer({ description: 'The number of contacts of this type.' }),
});
/** The name of a contact type. */
export const contactTypeName = (options: { description?: string } = {}) => line({ minLength: 2, ...options });
const name = contactTypeName();
const ById = { contact_type_id: identifier('The contact type.') };

export type ContactType = Static<typeof ContactType>;
export type ListedContactType = Static<typeof ListedContactType>;

const record = recordObject(ContactType, contactTypes);
const listed = recordObject(ListedContactType, contactTypes);

export const listContactTypes = listOperation({
  name: 'List the contact types',
  role: 'viewer',
  input: listQuery,
  as: 'contactTypes',
  record: ListedContactType,
  select: ({ accountId }, part) => ({ ...ownedList(listed, contactTypes, accountId), part }),
});

export const addContactType = operation({
  name: 'Add a contact type',
  role: 'editor',
  isOneWrite: true,
  input: Type.Object({ name }),
  run: (context, { name }) => ({ id: insertContactType(context, name) }),
});

/** Stores a new contact type and returns its id. */
export function insertContactType({ db, clock, accountId }: Context, name: string): number {
  const id = db.$client
    .prepare<[object], number>(
      `INSERT INTO contact_types (user_id, name, created_at, updated_at) VALUES (@accountId, @name, @now, @now) RETURNING id`,
    )
    .pluck()
    .get({ accountId, name, now: isoTimestamp(clock.now()) });
  if (id === undefined) throw new Error('the new contact type has no id');
  return id;
}

export const readContactType = recordOperation({
  name: 'Read a contact type',
  role: 'viewer',
  input: Type.Object(ById),
  as: 'contactType',
  record: ContactType,
  json: ({ db, accountId }, { contact_type_id: id }) =>
    readRecord(db, record, sql`${contactTypes}`, ownedRecord(contactTypes, id, accountId)),
});

export const renameContactType = operation({
  name: 'Rename a contact type',
  role: 'editor',
  isOneWrite: true,
  input: Type.Object({ id: identifier('The contact type.'), name }),
  run({ db, clock, accountId }, { id, name }) {
    const { changes } = db
      .update(contactTypes)
      .set({ name, updated_at: isoTimestamp(clock.now()) })
      .where(ownedRecord(contactTypes, id, accountId))
      .run();
    if (changes === 0) throw notFound();
  },
});

// The contacts of a deleted type count as deleted: every query for contacts requires a type that is not deleted.
export const deleteContactType = operation({
  name: 'Delete a contact type',
  description:
    'Deletes the contacts of the type too. A queued single send that names the type is no longer queued, and a live automation that names it becomes a draft. The confirmation is in `errors`, with the status success.',
  role: 'editor',
  input: Type.Object(ById),
  async run({ db, clock, accountId, wake }, { contact_type_id }) {
    const id = recordId(contact_type_id);
    const now = isoTimestamp(clock.now());
    const affected = inTransaction(db, (tx) => {
      const { changes } = tx
        .update(contactTypes)
        .set({ deleted_at: now })
        .where(ownedRecord(contactTypes, id, accountId))
        .run();
      if (changes === 0) throw notFound();
      holdCampaignsUsingTarget(db, 'contacts', id, now);
      return markForRecompute(db, sql`contact_type_id = ${id}`);
    });
    wake();
    await finishHolds(db);
    await recomputeSoon(db, affected, clock);
  },
});
