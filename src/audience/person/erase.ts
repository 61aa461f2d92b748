/** Erases a person: nothing that names them stays, except a keyed hash of their address, so that they are not added again. */

import type { Database } from 'better-sqlite3';
import type { Db } from '../../database/open.ts';
import { inTransaction } from '../../database/transaction.ts';
import { eraseFromRoleMails } from '../../delivery/feedback/bounces/kept-mails.ts';
import { noteChoicesToErase } from '../../delivery/feedback/choice.ts';
import { deliveryEraser } from '../../delivery/queue/ledger/ended.ts';
import { conflict } from '../../errors/failure.ts';
import { sentence } from '../../errors/sentences.ts';
import { type Clock, isoTimestamp } from '../../time/clock.ts';
import { type Actor, audit } from '../../users/audit.ts';
import { erasedForm } from '../contacts/address-rows.ts';
import { parseAddress, replaceAddress, spellings } from '../contacts/addresses.ts';
import { deleteContacts } from '../contacts/contacts.ts';
import { forgetRemoved } from '../search/search-index.ts';
import { eraseSunset } from '../sunset/rule.ts';
import { eraseSuppression } from '../suppressions.ts';
import { finishInSteps, forgetWrite, notedWrites, noteWrite } from '../unfinished-writes.ts';
import { eraseUnsubscriptions } from '../unsubscribes.ts';

/** What is removed at once, in this order, so that rows go before those they refer to. From then on the person gets no mail. */
const REMOVED_FIRST = [
  'DELETE FROM steps WHERE enrolment_id IN (SELECT e.id FROM automations a CROSS JOIN enrolments e ON e.automation_id = a.id AND e.address_id = @address WHERE a.user_id = @account)',
  'DELETE FROM enrolments WHERE id IN (SELECT e.id FROM automations a CROSS JOIN enrolments e ON e.automation_id = a.id AND e.address_id = @address WHERE a.user_id = @account)',
  'DELETE FROM membership_changes WHERE address_id = @address',
  'DELETE FROM segment_recipients WHERE id IN (SELECT r.id FROM segments s CROSS JOIN segment_recipients r ON r.segment_id = s.id AND r.address_id = @address WHERE s.user_id = @account)',
  'DELETE FROM segment_leaves WHERE address_id = @address',
  'DELETE FROM contact_moves WHERE contact_id IN (SELECT id FROM contacts WHERE address_id = @address)',
  'DELETE FROM contact_job_items WHERE contact_id IN (SELECT id FROM contacts WHERE address_id = @address)',
  'DELETE FROM import_changes WHERE import_id IN (SELECT id FROM contact_imports WHERE user_id = @account AND undo_until IS NOT NULL) AND address_id = @address',
  'DELETE FROM earlier_addresses WHERE address_id = @address OR contact_id IN (SELECT id FROM contacts WHERE address_id = @address)',
  'DELETE FROM purged_corrections WHERE address_id = @address OR earlier_id = @address',
  // One that was added with an earlier address since the erasure began is first deleted in the usual way, so that counts stay right.
  'UPDATE contacts SET deleted_at = @at WHERE address_id = @address AND deleted_at IS NULL',
  'DELETE FROM contacts WHERE address_id = @address',
  'DELETE FROM activity WHERE address_id = @address',
  'DELETE FROM proxied_activity WHERE address_id = @address',
  'DELETE FROM form_requests WHERE address_id = @address',
  'DELETE FROM transactional_pieces WHERE utr IN (SELECT utr FROM transactional_mails WHERE address_id = @address)',
  'DELETE FROM transactional_mails WHERE address_id = @address',
  // Webhooks are still told that the contact was deleted, by its id alone.
  "DELETE FROM webhook_log WHERE reply <> '' AND event_id IN (SELECT id FROM webhook_events WHERE lane = @address)",
  "DELETE FROM webhook_waiting WHERE event_id IN (SELECT id FROM webhook_events WHERE lane = @address AND type <> 'contact.deleted')",
  "DELETE FROM webhook_events WHERE lane = @address AND type <> 'contact.deleted'",
  'UPDATE webhook_waiting SET due_at = ifnull(due_at, 0) WHERE event_id IN (SELECT id FROM webhook_events WHERE lane = @address)',
  "UPDATE webhook_events SET data = json_set(data, '$.email', NULL, '$.erased', json('true')) WHERE lane = @address",
  'UPDATE addresses SET normalized_email = @erased WHERE id = @address',
];

/** Where other people's rows have an address as their second one, as it was typed: whose rows these are, and what removes it. */
const SECOND_ADDRESSES = {
  contacts: {
    typed: 'alt_email',
    ofAccount: 'user_id = @account',
    removal: 'alt_email = NULL, updated_at = ifnull(@at, updated_at)',
  },
  // Taking an import back must not bring it back.
  import_changes: {
    typed: "before ->> 'alt_email'",
    ofAccount: "kind = 'contact' AND import_id IN (SELECT id FROM contact_imports WHERE user_id = @account)",
    removal: "before = json_set(before, '$.alt_email', NULL)",
  },
  webhook_events: {
    typed: "data ->> 'alt_email'",
    ofAccount: 'user_id = @account',
    removal: "data = json_set(data, '$.alt_email', NULL)",
  },
} as const;

/** What may be much and is removed in steps: rows `after` an id `to` another. Deliveries and events stay, for the counts of their mailings. */
const REMOVED_IN_STEPS = [
  // The To field is the address alone, or in angle brackets after a name.
  {
    table: 'outbox',
    ids: 50,
    remover: outboxEraser,
  },
  { table: 'contacts', ids: 2000, remover: secondAddressEraser('contacts') },
  { table: 'import_changes', ids: 2000, remover: secondAddressEraser('import_changes') },
  { table: 'webhook_events', ids: 1000, remover: secondAddressEraser('webhook_events') },
  { table: 'webhook_events', ids: 1000, remover: webhookEraser },
  { table: 'mailings', ids: 250, remover: deliveryEraser },
] as const;

/** What an erasure does to the rows after an id to another. */
type Eraser = (erasure: Erasure & { after: number; to: number }) => void;

function outboxEraser(client: Database): Eraser {
  const erase = client.prepare(`
    DELETE FROM outbox WHERE id > @after AND id <= @to AND user_id = @account
      AND (lower(envelope_to) = @email OR fold("to") = @email OR instr(fold("to"), '<' || @email || '>') > 0)`);
  return (mails) => {
    erase.run(mails);
  };
}

function secondAddressEraser(table: keyof typeof SECOND_ADDRESSES): (client: Database) => Eraser {
  const { typed, ofAccount, removal } = SECOND_ADDRESSES[table];
  return (client) => {
    const alike = client.prepare<[Record<string, number | string>], { id: number; typed: string }>(`
      SELECT rowid AS id, ${typed} AS typed FROM ${table}
      WHERE rowid > @after AND rowid <= @to AND ${ofAccount} AND instr(lower(${typed}), @local) > 0`);
    const remove = client.prepare(`UPDATE ${table} SET ${removal} WHERE rowid = @id`);
    const eraseReplies = repliesEraser(client);
    return ({ account, email, at = null, after, to }) => {
      // The local part is the same however the domain is written.
      const local = email.slice(0, email.lastIndexOf('@') + 1);
      const found = alike
        .all({ account, local, after, to })
        .filter(({ typed }) => parseAddress(typed)?.normalized === email);
      for (const { id } of found) remove.run(table === 'contacts' ? { id, at } : { id });
      if (table === 'webhook_events') eraseReplies(found);
    };
  };
}

/** Removes what endpoints answered to events, since it may repeat them. */
function repliesEraser(client: Database): (events: readonly { id: number }[]) => void {
  const erase = client.prepare(
    "DELETE FROM webhook_log WHERE reply <> '' AND event_id IN (SELECT value ->> 'id' FROM json_each(?))",
  );
  return (events) => void (events.length > 0 && erase.run(JSON.stringify(events)));
}

/**
 * The change of an address belongs to the old address, but its event has the new one, too. It stays as ids alone, because later events of
 * the old address may wait behind it.
 */
function webhookEraser(client: Database): Eraser {
  const erase = client.prepare<[Record<string, number | string>], { id: number }>(`
    UPDATE webhook_events INDEXED BY webhook_events_user
    SET data = json_object('contact_id', data ->> 'contact_id', 'contact_type_id', data ->> 'contact_type_id', 'email', NULL, 'erased', json('true'))
    WHERE user_id = @account AND id > @after AND id <= @to AND type = 'contact.updated'
      AND (data ->> 'contact_id' IN (SELECT value FROM json_each(@ids)) OR fold(data ->> 'email') IN (SELECT value FROM json_each(@spellings)))
    RETURNING id`);
  const eraseReplies = repliesEraser(client);
  return ({ account, email, contacts = [], after, to }) => {
    const erased = erase.all({
      account,
      spellings: JSON.stringify(spellings(email)),
      ids: JSON.stringify(contacts),
      after,
      to,
    });
    eraseReplies(erased);
  };
}

/** An erasure that has begun. */
interface Erasure {
  account: number;
  address: number;
  email: string;
  /** The ids of their contacts, deleted ones too; notes of earlier versions do not have them. */
  contacts?: readonly number[];
  /** When it began, an ISO timestamp; notes of earlier versions do not have it. */
  at?: string;
}

/** One of an address that is still named: somebody can have had a thousand, and each costs some writes. */
interface NamedErasure extends Erasure {
  at: string;
  isNamed: true;
}

/**
 * Erases the person with this address of the account: all their contacts, memberships, lists and mails, under this address and those
 * that their contacts had earlier, and the address where other contacts have it as their second one. Connections overwrite in the file what they remove; afterwards the background empties the write-ahead
 * log, which still has it. The audit log says that somebody was erased, not who. Throws 409 while a mail to them is being handed to a relay.
 */
export async function erasePerson(
  db: Db,
  clock: Clock,
  accountId: number,
  addressId: number,
  actor: Actor,
): Promise<void> {
  const begun = begin(db, clock, accountId, addressId, actor);
  for (const { id, erasure } of begun) await removeTheRest(db.$client, id, erasure);
}

/** Does what a kill left of erasures. Call it at the start. */
export async function finishErasures(client: Database): Promise<void> {
  for (const { id, given } of notedWrites(client, 'erase')) await removeTheRest(client, id, JSON.parse(given));
}

/**
 * Empties the write-ahead log after an erasure, unless another connection is reading at this moment: then the next call does it. It is
 * for the background thread, because it can take long.
 */
export function emptyLogAfterErasure(client: Database): void {
  const noted = notedWrites(client, 'empty-log');
  if (noted.length === 0) return;
  const timeout = client.pragma('busy_timeout', { simple: true });
  // While it waits for readers nobody could write.
  client.pragma('busy_timeout = 0');
  try {
    const isInUse = client.pragma('wal_checkpoint(TRUNCATE)', { simple: true }) === 1;
    if (!isInUse) for (const { id } of noted) forgetWrite(client, id);
  } finally {
    client.pragma(`busy_timeout = ${timeout}`);
  }
}

/**
 * Deletes the person's contacts and makes the address that they have now unknown, in one transaction. Notes for each of their addresses
 * what else is to be removed.
 */
function begin(
  db: Db,
  clock: Clock,
  accountId: number,
  addressId: number,
  actor: Actor,
): { id: number; erasure: Erasure | NamedErasure }[] {
  const client = db.$client;
  return inTransaction(db, () => {
    const theirs = personAddresses(client, accountId, addressId);
    const sending = client.prepare(
      'SELECT 1 FROM deliveries WHERE state = 1 AND address_id = @id UNION ALL SELECT 1 FROM transactional_mails WHERE state = 1 AND address_id = @id',
    );
    if (theirs.some(({ id }) => sending.get({ id }) !== undefined)) throw conflict(sentence('being_mailed'));
    const contactsOf = client.prepare<[number], { id: number; isDeleted: 0 | 1 }>(
      'SELECT id, deleted_at IS NOT NULL AS isDeleted FROM contacts WHERE address_id = ?',
    );
    const at = isoTimestamp(clock.now());
    const contacts = theirs.flatMap(({ id }) => contactsOf.all(id));
    // The contacts are first deleted in the usual way, so that queued mails to them are not sent and counts stay right.
    const present = contacts.filter(({ isDeleted }) => isDeleted === 0);
    deleteContacts(
      db,
      present.map(({ id }) => id),
      at,
    );
    audit(db, { accountId, actor, action: 'person_erased' }, clock.now());
    return theirs.map(({ id: address, normalized: email }, index) => {
      const erasure = { account: accountId, address, email, contacts: contacts.map(({ id }) => id), at };
      if (index === 0) makeUnknown(client, erasure);
      const noted: Erasure | NamedErasure = index === 0 ? erasure : { ...erasure, isNamed: true };
      return { id: noteWrite(client, 'erase', noted), erasure: noted };
    });
  });
}

/** Removes what names an address, so that it gets no mail. Call it in a transaction. */
function makeUnknown(client: Database, { account, address, email, at }: Erasure & { at: string }): void {
  eraseUnsubscriptions(client, address);
  eraseSuppression(client, address);
  eraseSunset(client, address, at);
  noteChoicesToErase(client, account, address, email);
  eraseFromRoleMails(client, email);
  const erased = erasedForm(client, account, email);
  replaceInRules(client, account, email, erased);
  for (const statement of REMOVED_FIRST) client.prepare(statement).run({ account, address, erased, at });
}

/** The rows that a table has now, and what removes some of them. */
function partOf(client: Database, { table, ids, remover }: (typeof REMOVED_IN_STEPS)[number]) {
  const [after = 0, last = 0] =
    client.prepare<[], number[]>(`SELECT ifnull(min(rowid), 1) - 1, ifnull(max(rowid), 0) FROM ${table}`).raw().get() ??
    [];
  return { remove: client.transaction(remover(client)), after, last, ids };
}

async function removeTheRest(client: Database, id: number, erasure: Erasure | NamedErasure): Promise<void> {
  const named = 'isNamed' in erasure ? [erasure] : [];
  const tables = REMOVED_IN_STEPS.values();
  let part: ReturnType<typeof partOf> | undefined;
  const step = () => {
    const next = named.pop();
    if (next !== undefined) {
      makeUnknown(client, next);
      return true;
    }
    // A table is measured when those before it are done: an import that is under way copies second addresses into its records until they
    // are gone from the contacts.
    while (part === undefined || part.after >= part.last) {
      const { done, value } = tables.next();
      if (done === true) return false;
      part = partOf(client, value);
    }
    part.remove({ ...erasure, after: part.after, to: part.after + part.ids });
    part.after += part.ids;
    return true;
  };
  await finishInSteps(client, id, step, () => {
    forgetWrite(client, id);
    forgetRemoved(client);
    noteWrite(client, 'empty-log', null);
  });
}

/** Columns of an account's rows that can name an address, in JSON or as a text. */
const NAMING = [
  { table: 'segments', column: 'value', isJson: true },
  { table: 'segments', column: 'rules', isJson: true },
  { table: 'contact_jobs', column: 'filter', isJson: true },
  { table: 'contact_jobs', column: 'place', isJson: false },
] as const;

/**
 * Puts a code in the place of a normalized address wherever a rule or filter of the account names it. No contact has the code as its
 * address, as none has that of the erased person, so that every segment keeps the people it has. Call it in the transaction of the erasure.
 */
function replaceInRules(client: Database, accountId: number, address: string, code: string): void {
  const unnamed = (text: string) => replaceAddress(text, address, code);
  // Each text alone, because JSON has a line end as \\n, whose letter would count as one of the address behind it.
  const unnamedJson = (json: string) =>
    JSON.stringify(JSON.parse(json), (_name, value) => (typeof value === 'string' ? unnamed(value) : value));
  for (const { table, column, isJson } of NAMING) {
    const rows = client
      .prepare<[number, string], { id: number; text: string }>(
        `SELECT id, ${column} AS text FROM ${table} WHERE user_id = ? AND EXISTS (
           SELECT 1 FROM json_each(?) WHERE instr(fold(${column}), value) > 0)`,
      )
      .all(accountId, JSON.stringify(spellings(address)));
    const update = client.prepare(`UPDATE ${table} SET ${column} = ? WHERE id = ?`);
    for (const { id, text } of rows) update.run(isJson ? unnamedJson(text) : unnamed(text), id);
  }
}

interface PersonAddress {
  id: number;
  normalized: string;
}

/**
 * The addresses of the person with this address of the account, that one first; none when the account does not have it. An earlier
 * address that a contact which is not deleted has now is that of somebody else.
 */
export function personAddresses(client: Database, accountId: number, addressId: number): PersonAddress[] {
  return client
    .prepare<Record<string, number>, PersonAddress>(`
      WITH RECURSIVE theirs (id) AS (SELECT @address
        UNION SELECT e.address_id FROM theirs CROSS JOIN contacts c ON c.address_id = theirs.id
          CROSS JOIN earlier_addresses e ON e.contact_id = c.id WHERE NOT ${isOthers('e.address_id')}
        UNION SELECT p.earlier_id FROM theirs CROSS JOIN purged_corrections p ON p.address_id = theirs.id
          WHERE NOT ${isOthers('p.earlier_id')})
      SELECT a.id, a.normalized_email AS normalized FROM theirs CROSS JOIN addresses a ON a.id = theirs.id
      WHERE a.user_id = @account ORDER BY a.id <> @address, a.id`)
    .all({ account: accountId, address: addressId });
}

/** SQL for whether a contact that is not deleted has the address. */
function isOthers(addressId: string): string {
  return `EXISTS (SELECT 1 FROM contacts o CROSS JOIN contact_types t ON t.id = o.contact_type_id
    WHERE o.address_id = ${addressId} AND o.deleted_at IS NULL AND t.deleted_at IS NULL)`;
}
