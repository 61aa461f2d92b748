/** Erases a contact's person: nothing that names the person stays, except a keyed hash of the address, so that it is not added again. */

import type { Database } from 'better-sqlite3';
import type { Db } from '../../database/open.ts';
import { inTransaction } from '../../database/transaction.ts';
import { eraseFromRoleMails } from '../../delivery/feedback/bounces/kept-mails.ts';
import { noteChoicesToErase } from '../../delivery/feedback/preference-choice.ts';
import { deliveryEraser } from '../../delivery/queue/ledger/ended-deliveries.ts';
import { eraseSomeMails } from '../../delivery/transactional/old-mails.ts';
import { conflict } from '../../errors/failure.ts';
import { sentence } from '../../errors/sentences.ts';
import { type Clock, isoTimestamp } from '../../time/clock.ts';
import { type Actor, audit } from '../../users/audit.ts';
import { parseAddress, replaceAddress, spellings } from '../contacts/addresses.ts';
import { deleteContacts } from '../contacts/contacts.ts';
import { erasedForm } from '../contacts/erased-addresses.ts';
import { forgetRemovedContacts } from '../search/search-index.ts';
import { eraseSunset } from '../sunset/lift.ts';
import { eraseSuppression } from '../suppressions.ts';
import { finishInSteps, recordedWrites, recordWrite, removeRecordedWrite } from '../unfinished-writes.ts';
import { eraseUnsubscriptions } from '../unsubscribes.ts';

/**
 * The SQL statements that run first, after which the person gets no mail. Their order removes rows before the rows that these refer to.
 */
const FIRST_STATEMENTS = [
  'DELETE FROM steps WHERE enrolment_id IN (SELECT e.id FROM automations a CROSS JOIN enrolments e ON e.automation_id = a.id AND e.address_id = @address WHERE a.user_id = @account)',
  'DELETE FROM enrolments WHERE id IN (SELECT e.id FROM automations a CROSS JOIN enrolments e ON e.automation_id = a.id AND e.address_id = @address WHERE a.user_id = @account)',
  'DELETE FROM enrolment_log WHERE address_id = @address',
  'DELETE FROM membership_changes WHERE address_id = @address',
  'DELETE FROM segment_recipients WHERE id IN (SELECT r.id FROM segments s CROSS JOIN segment_recipients r ON r.segment_id = s.id AND r.address_id = @address WHERE s.user_id = @account)',
  'DELETE FROM segment_leaves WHERE address_id = @address',
  'DELETE FROM contact_moves WHERE contact_id IN (SELECT id FROM contacts WHERE address_id = @address)',
  'DELETE FROM contact_job_items WHERE contact_id IN (SELECT id FROM contacts WHERE address_id = @address)',
  'DELETE FROM import_changes WHERE import_id IN (SELECT id FROM contact_imports WHERE user_id = @account AND undo_until IS NOT NULL) AND address_id = @address',
  'DELETE FROM earlier_addresses WHERE address_id = @address OR contact_id IN (SELECT id FROM contacts WHERE address_id = @address)',
  'DELETE FROM purged_corrections WHERE address_id = @address OR earlier_id = @address',
  // A contact added with an earlier address since the erasure began is first marked as deleted, so that counts stay right.
  'UPDATE contacts SET deleted_at = @at WHERE address_id = @address AND deleted_at IS NULL',
  'DELETE FROM contacts WHERE address_id = @address',
  'DELETE FROM activity WHERE address_id = @address',
  'DELETE FROM proxied_activity WHERE address_id = @address',
  'DELETE FROM contact_events WHERE address_id = @address',
  'DELETE FROM event_totals WHERE address_id = @address',
  'DELETE FROM form_requests WHERE address_id = @address',
  'DELETE FROM transactional_pieces WHERE utr IN (SELECT utr FROM transactional_mails WHERE address_id = @address)',
  // Mails whose message is kept are removed in steps, because each message may have 1 MiB.
  'DELETE FROM transactional_mails WHERE address_id = @address AND NOT EXISTS (SELECT 1 FROM sent_transactional_mails k WHERE k.mail_id = transactional_mails.id)',
  // Webhooks still receive the event that the contact was deleted, with only its id.
  "DELETE FROM webhook_log WHERE reply <> '' AND event_id IN (SELECT id FROM webhook_events WHERE lane = @address)",
  "DELETE FROM webhook_waiting WHERE event_id IN (SELECT id FROM webhook_events WHERE lane = @address AND type <> 'contact.deleted')",
  "DELETE FROM webhook_events WHERE lane = @address AND type <> 'contact.deleted'",
  'UPDATE webhook_waiting SET due_at = ifnull(due_at, 0) WHERE event_id IN (SELECT id FROM webhook_events WHERE lane = @address)',
  "UPDATE webhook_events SET data = json_set(data, '$.email', NULL, '$.erased', json('true')) WHERE lane = @address",
  'UPDATE addresses SET normalized_email = @erased WHERE id = @address',
];

/**
 * The columns in which other contacts can have the address as their second one, as it was typed, with the condition for the rows of the
 * account, and the change that removes the address.
 */
const SECOND_ADDRESSES = {
  contacts: {
    typed: 'alt_email',
    ofAccount: 'user_id = @account',
    removal: 'alt_email = NULL, updated_at = ifnull(@at, updated_at)',
  },
  // Undoing an import must not restore the address.
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

/**
 * The tables with many rows, which are processed in steps of `ids` ids each. Deliveries and events stay, for the counts of their
 * mailings.
 */
const STEPPED_TABLES = [
  { table: 'outbox', ids: 50, remover: outboxEraser },
  { table: 'contacts', ids: 2000, remover: secondAddressEraser('contacts') },
  { table: 'import_changes', ids: 2000, remover: secondAddressEraser('import_changes') },
  { table: 'webhook_events', ids: 1000, remover: secondAddressEraser('webhook_events') },
  { table: 'webhook_events', ids: 1000, remover: webhookEraser },
  { table: 'contact_events', ids: 1000, remover: eventTextsEraser },
  { table: 'webhook_events', ids: 1000, remover: sentEventsEraser },
  { table: 'contact_imports', ids: 2, remover: failedRowsEraser },
  { table: 'mailings', ids: 250, remover: deliveryEraser },
] as const;

/** Erases the person in the rows after the id `after` up to the id `to`. */
type Eraser = (erasure: Erasure & { after: number; to: number }) => void;

/** Returns a function that removes the person's mails from the test outbox. */
function outboxEraser(client: Database): Eraser {
  // The To field is the address alone, or a name with the address in angle brackets.
  const erase = client.prepare(`
    DELETE FROM outbox WHERE id > @after AND id <= @to AND user_id = @account
      AND (lower(envelope_to) = @email OR fold("to") = @email OR instr(fold("to"), '<' || @email || '>') > 0)`);
  return (mails) => {
    erase.run(mails);
  };
}

/** Returns a function that removes the address where other contacts have it as their second one. */
function secondAddressEraser(table: keyof typeof SECOND_ADDRESSES): (client: Database) => Eraser {
  const { typed, ofAccount, removal } = SECOND_ADDRESSES[table];
  return (client) => {
    const alike = client.prepare<[Record<string, number | string>], { id: number; typed: string }>(`
      SELECT rowid AS id, ${typed} AS typed FROM ${table}
      WHERE rowid > @after AND rowid <= @to AND ${ofAccount} AND instr(lower(${typed}), @local) > 0`);
    const remove = client.prepare(`UPDATE ${table} SET ${removal} WHERE rowid = @id`);
    const eraseReplies = repliesEraser(client);
    return ({ account, email, at = null, after, to }) => {
      // The local part is the same however the domain is spelled.
      const local = email.slice(0, email.lastIndexOf('@') + 1);
      const ids = alike
        .all({ account, local, after, to })
        .filter(({ typed }) => parseAddress(typed)?.normalized === email);
      for (const { id } of ids) remove.run(table === 'contacts' ? { id, at } : { id });
      if (table === 'webhook_events') eraseReplies(ids);
    };
  };
}

/** Returns a function that removes the cells of refused rows that contain the address, also within other text. */
function failedRowsEraser(client: Database): Eraser {
  const naming = client.prepare<[Record<string, number | string>], { id: number; errors: string }>(`
    SELECT id, errors FROM contact_imports WHERE id > @after AND id <= @to AND user_id = @account
      AND EXISTS (SELECT 1 FROM json_each(@spellings) s WHERE instr(fold(errors), s.value) > 0)`);
  const keep = client.prepare('UPDATE contact_imports SET errors = @errors WHERE id = @id');
  return ({ account, email, after, to }) => {
    for (const { id, errors } of naming.all({ account, after, to, spellings: JSON.stringify(spellings(email)) })) {
      const unnamed = (key: string, cell: unknown) =>
        key === 'value' && typeof cell === 'string' && replaceAddress(cell, email, '') !== cell ? undefined : cell;
      keep.run({ id, errors: JSON.stringify(JSON.parse(errors), unnamed) });
    }
  };
}

/** Returns a function that removes the responses of endpoints to events, because they may repeat personal data. */
function repliesEraser(client: Database): (events: readonly { id: number }[]) => void {
  const erase = client.prepare(
    "DELETE FROM webhook_log WHERE reply <> '' AND event_id IN (SELECT value ->> 'id' FROM json_each(?))",
  );
  return (events) => void (events.length > 0 && erase.run(JSON.stringify(events)));
}

/**
 * Returns a function that removes the address from events about changed contacts. Such an event belongs to the old address, but also
 * contains the new one. It keeps only ids, because later events of the old address may wait for it.
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

/**
 * Returns a function that removes the address from the events of other contacts, whose keys and properties are texts of other
 * programs, such as who recommended a shop. A key keeps its hash, so that a repeated event stays known.
 */
function eventTextsEraser(client: Database): Eraser {
  const naming = client.prepare<
    [Record<string, number | string>],
    { id: number; key: string | null; properties: string | null }
  >(`
    SELECT id, event_key AS key, properties FROM contact_events WHERE id > @after AND id <= @to AND user_id = @account
      AND EXISTS (SELECT 1 FROM json_each(@spellings) s WHERE instr(fold(ifnull(event_key, '') || ' ' || ifnull(properties, '')), s.value) > 0)`);
  const keep = client.prepare(
    'UPDATE OR IGNORE contact_events SET event_key = @key, properties = @properties WHERE id = @id',
  );
  return ({ account, email, after, to }) => {
    const code = erasedForm(client, account, email);
    for (const { id, key, properties } of naming.all({
      account,
      after,
      to,
      spellings: JSON.stringify(spellings(email)),
    }))
      keep.run({
        id,
        key: key === null ? null : replaceAddress(key, email, code),
        properties: properties === null ? null : withoutAddress(properties, email, ''),
      });
  };
}

/** Returns a function that removes the address from the events stored for webhooks. */
function sentEventsEraser(client: Database): Eraser {
  const naming = client.prepare<[Record<string, number | string>], { id: number; data: string }>(`
    SELECT id, data FROM webhook_events INDEXED BY webhook_events_user
    WHERE user_id = @account AND id > @after AND id <= @to AND type = 'contact.event'
      AND EXISTS (SELECT 1 FROM json_each(@spellings) s WHERE instr(fold(data), s.value) > 0)`);
  const keep = client.prepare('UPDATE webhook_events SET data = @data WHERE id = @id');
  const eraseReplies = repliesEraser(client);
  return ({ account, email, after, to }) => {
    const rows = naming.all({ account, after, to, spellings: JSON.stringify(spellings(email)) });
    for (const { id, data } of rows) keep.run({ id, data: withoutAddress(data, email, '') });
    eraseReplies(rows);
  };
}

interface Erasure {
  account: number;
  address: number;
  email: string;
  /** The ids of the person's contacts, deleted ones too; absent in records of earlier releases. */
  contacts?: readonly number[];
  /** When the erasure began, an ISO timestamp; absent in records of earlier releases. */
  at?: string;
}

/** An erasure of an address that rows may still contain. A contact can have had a thousand addresses, and each costs some writes. */
interface NamedErasure extends Erasure {
  at: string;
  isNamed: true;
}

/**
 * Erases the person with this address of the account: all their contacts, memberships, lists and mails, under this address and
 * earlier ones of their contacts, and the address where other contacts have it as their second one. SQLite overwrites removed
 * content in the file; afterwards the background thread empties the write-ahead log, which still has that content. The audit
 * log says that a person was erased, not who. Throws 409 while a mail to the person is being handed to a relay.
 */
export async function erasePerson(
  db: Db,
  clock: Clock,
  accountId: number,
  addressId: number,
  actor: Actor,
): Promise<void> {
  const begun = beginErasure(db, clock, accountId, addressId, actor);
  for (const { id, erasure } of begun) await eraseInSteps(db.$client, id, erasure);
}

/** Finishes erasures that a kill interrupted. Call it at the start. */
export async function finishErasures(client: Database): Promise<void> {
  for (const { id, given } of recordedWrites(client, 'erase')) await eraseInSteps(client, id, JSON.parse(given));
}

/**
 * Empties the write-ahead log after an erasure. If another connection is reading, the next call does it. Call it in the
 * background thread, because it can take long.
 */
export function emptyLogAfterErasure(client: Database): void {
  const recorded = recordedWrites(client, 'empty-log');
  if (recorded.length === 0) return;
  const timeout = client.pragma('busy_timeout', { simple: true });
  // With a timeout, the checkpoint would wait for readers, and no other connection could write meanwhile.
  client.pragma('busy_timeout = 0');
  try {
    const isInUse = client.pragma('wal_checkpoint(TRUNCATE)', { simple: true }) === 1;
    if (!isInUse) for (const { id } of recorded) removeRecordedWrite(client, id);
  } finally {
    client.pragma(`busy_timeout = ${timeout}`);
  }
}

/**
 * Deletes the person's contacts and erases their current address, in one transaction. Records for each of their addresses what
 * else must be removed.
 */
function beginErasure(
  db: Db,
  clock: Clock,
  accountId: number,
  addressId: number,
  actor: Actor,
): { id: number; erasure: Erasure | NamedErasure }[] {
  const client = db.$client;
  return inTransaction(db, () => {
    const addresses = personAddresses(client, accountId, addressId);
    const sending = client.prepare(
      'SELECT 1 FROM deliveries WHERE state = 1 AND address_id = @id UNION ALL SELECT 1 FROM transactional_mails WHERE state = 1 AND address_id = @id',
    );
    if (addresses.some(({ id }) => sending.get({ id }) !== undefined)) throw conflict(sentence('being_mailed'));
    const contactsOf = client.prepare<[number], { id: number; isDeleted: 0 | 1 }>(
      'SELECT id, deleted_at IS NOT NULL AS isDeleted FROM contacts WHERE address_id = ?',
    );
    const at = isoTimestamp(clock.now());
    const contacts = addresses.flatMap(({ id }) => contactsOf.all(id));
    // The contacts are first marked as deleted in the usual way, so that queued mails to them are not sent and counts stay right.
    const live = contacts.filter(({ isDeleted }) => isDeleted === 0).map(({ id }) => id);
    deleteContacts(db, live, at);
    audit(db, { accountId, actor, action: 'person_erased' }, clock.now());
    return addresses.map(({ id: address, normalized: email }, index) => {
      const erasure = { account: accountId, address, email, contacts: contacts.map(({ id }) => id), at };
      if (index === 0) eraseAddress(client, erasure);
      const recorded: Erasure | NamedErasure = index === 0 ? erasure : { ...erasure, isNamed: true };
      return { id: recordWrite(client, 'erase', recorded), erasure: recorded };
    });
  });
}

/** Removes the rows that name an address, so that it gets no mail. Call it in a transaction. */
function eraseAddress(client: Database, { account, address, email, at }: Erasure & { at: string }): void {
  eraseUnsubscriptions(client, address);
  eraseSuppression(client, address);
  eraseSunset(client, address, at);
  noteChoicesToErase(client, account, address, email);
  eraseFromRoleMails(client, email);
  const erased = erasedForm(client, account, email);
  replaceInRules(client, account, email, erased);
  for (const statement of FIRST_STATEMENTS) client.prepare(statement).run({ account, address, erased, at });
}

/** Returns the range of a table's ids, and the function that erases the person in a part of that range. */
function tableErasure(client: Database, { table, ids, remover }: (typeof STEPPED_TABLES)[number]) {
  const [after = 0, last = 0] =
    client.prepare<[], number[]>(`SELECT ifnull(min(rowid), 1) - 1, ifnull(max(rowid), 0) FROM ${table}`).raw().get() ??
    [];
  return { remove: client.transaction(remover(client)), after, last, ids };
}

async function eraseInSteps(client: Database, id: number, erasure: Erasure | NamedErasure): Promise<void> {
  const named = 'isNamed' in erasure ? [erasure] : [];
  const tables = STEPPED_TABLES.values();
  let part: ReturnType<typeof tableErasure> | undefined;
  const step = () => {
    const next = named.pop();
    if (next !== undefined) {
      eraseAddress(client, next);
      return true;
    }
    if (eraseSomeMails(client, erasure.address)) return true;
    // The last id of a table is read when the tables before it are done, because a running import copies second addresses from
    // the contacts into its records until the contacts have them no more.
    while (part === undefined || part.after >= part.last) {
      const { done, value } = tables.next();
      if (done === true) return false;
      part = tableErasure(client, value);
    }
    part.remove({ ...erasure, after: part.after, to: part.after + part.ids });
    part.after += part.ids;
    return true;
  };
  await finishInSteps(client, id, step, () => {
    removeRecordedWrite(client, id);
    forgetRemovedContacts(client);
    recordWrite(client, 'empty-log', null);
  });
}

/** The columns of rules and filters that can contain an address, in JSON or as a text. */
const RULE_COLUMNS = [
  { table: 'segments', column: 'value', isJson: true },
  { table: 'segments', column: 'rules', isJson: true },
  { table: 'automations', column: 'trigger_filter', isJson: false },
  { table: 'automations', column: 'trigger_value', isJson: false },
  { table: 'automation_schedules', column: 'event_filter', isJson: false },
  { table: 'contact_jobs', column: 'filter', isJson: true },
  { table: 'contact_jobs', column: 'place', isJson: false },
] as const;

/**
 * Replaces a normalized address by a code in every rule and filter of the account. No contact has the code as its address, and
 * none has the erased address either, so every segment keeps its members. Call it in the transaction of the erasure.
 */
function replaceInRules(client: Database, accountId: number, address: string, code: string): void {
  for (const { table, column, isJson } of RULE_COLUMNS) {
    const rows = client
      .prepare<[number, string], { id: number; text: string }>(
        `SELECT id, ${column} AS text FROM ${table} WHERE user_id = ? AND EXISTS (
           SELECT 1 FROM json_each(?) WHERE instr(fold(${column}), value) > 0)`,
      )
      .all(accountId, JSON.stringify(spellings(address)));
    const update = client.prepare(`UPDATE ${table} SET ${column} = ? WHERE id = ?`);
    for (const { id, text } of rows)
      update.run(isJson ? withoutAddress(text, address, code) : replaceAddress(text, address, code), id);
  }
}

/** Returns a JSON text with a code in place of a normalized address, in each of its strings. */
function withoutAddress(json: string, address: string, code: string): string {
  // Each string is unescaped on its own, because the n of an escaped line break (\\n) would look like part of an address after it.
  return JSON.stringify(JSON.parse(json), (_name, value) =>
    typeof value === 'string' ? replaceAddress(value, address, code) : value,
  );
}

interface PersonAddress {
  id: number;
  normalized: string;
}

/**
 * Returns the addresses of the person with this address of the account, that address first; none if the account does not have
 * it. Skips an earlier address that an existing contact has now, because it belongs to another person.
 */
export function personAddresses(client: Database, accountId: number, addressId: number): PersonAddress[] {
  return client
    .prepare<Record<string, number>, PersonAddress>(`
      WITH RECURSIVE theirs (id) AS (SELECT @address
        UNION SELECT e.address_id FROM theirs CROSS JOIN contacts c ON c.address_id = theirs.id
          CROSS JOIN earlier_addresses e ON e.contact_id = c.id WHERE NOT ${hasContact('e.address_id')}
        UNION SELECT p.earlier_id FROM theirs CROSS JOIN purged_corrections p ON p.address_id = theirs.id
          WHERE NOT ${hasContact('p.earlier_id')})
      SELECT a.id, a.normalized_email AS normalized FROM theirs CROSS JOIN addresses a ON a.id = theirs.id
      WHERE a.user_id = @account ORDER BY a.id <> @address, a.id`)
    .all({ account: accountId, address: addressId });
}

/** SQL: true if an existing contact has the address. */
function hasContact(addressId: string): string {
  return `EXISTS (SELECT 1 FROM contacts o CROSS JOIN contact_types t ON t.id = o.contact_type_id
    WHERE o.address_id = ${addressId} AND o.deleted_at IS NULL AND t.deleted_at IS NULL)`;
}
