/** Publishes changes of lists that were not made on public pages: by API, dashboard, imports, complaints and bounces. */
import { setImmediate } from 'node:timers/promises';
import {
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
} from '@nats-io/jetstream';
import { headers, type NatsConnection } from '@nats-io/transport-node';
import type { Statement } from 'better-sqlite3';
import { TRACKING_ACTIONS } from '../../audience/store-tracking-choice.ts';
import { addNamedValue, findNamedValue } from '../../database/named-values.ts';
import type { Db } from '../../database/open.ts';
import { TRACKING_CHOICE } from '../../database/schema/index.ts';
import type { WriteLock } from '../../database/write-lock.ts';
import { contactKey, TRACKING } from '../../delivery/feedback/preference-choice.ts';
import type { Tokens } from '../../delivery/links/tokens.ts';
import { PROOF_HEADER, proveChange } from '../change-proof.ts';
import { type Change, type Consent, consentSubject, SUPPRESSED } from '../feedback-messages.ts';
import { STREAM } from '../streams.ts';
import { findPosition } from './position.ts';

/** The number of changes published at a time. */
const BATCH = 200;
/** The actions of the consent log about opens and clicks, as a list in SQL. */
const TRACKING_ACTIONS_SQL = TRACKING_ACTIONS.map((action) => `'${action}'`).join(', ');
const PUBLISH_TIMEOUT_MS = 5000;
const LOCK_WAIT_MS = 10_000;

interface Unpublished {
  id: number;
  accountId: number;
  addressId: number;
  /** A group id, 0 for all mail, `SUPPRESSED` or `TRACKING`. */
  list: number;
  /** When the change was made, epoch milliseconds. */
  at: number;
  /** The normalized address. */
  email: string;
}

/** Fields of the newest consent log entry. */
interface Logged {
  source: Change['source'] | null;
  mailing_id: number | null;
}

interface PublisherDeps {
  connection: NatsConnection;
  db: Db;
  lock: WriteLock;
  tokens: Tokens;
  /** The name of this run of the controller. */
  run: string;
}

export class ChangePublisher {
  readonly #deps: PublisherDeps;
  readonly #client: JetStreamClient;
  readonly #unpublished: Statement<[number], Unpublished>;
  readonly #entry: Statement<[{ address: number; list: number }], { id: number }>;
  readonly #logged: Statement<[number, number], Logged>;
  readonly #tracking: Statement<[number], Logged & { is_refused: 0 | 1; text: string | null }>;
  readonly #suppression: Statement<[number], { kind: 'bounce' | 'complaint'; diagnostic: string }>;
  readonly #published: Statement<[string]>;

  constructor(deps: PublisherDeps) {
    this.#deps = deps;
    this.#client = jetstream(deps.connection);
    const { $client } = deps.db;
    this.#unpublished = $client.prepare(`
      SELECT u.id, u.user_id AS accountId, u.address_id AS addressId, u.list, u.changed_at AS at, a.normalized_email AS email
      FROM unpublished_choices u CROSS JOIN addresses a ON a.id = u.address_id ORDER BY u.id LIMIT ?`);
    // The query has two parts because there are two partial indexes.
    this.#entry = $client.prepare(`
      SELECT id FROM unsubscribers WHERE address_id = @address AND @list = 0 AND unsubscribe_groups_id IS NULL
      UNION ALL SELECT id FROM unsubscribers WHERE address_id = @address AND unsubscribe_groups_id IS NOT NULL AND unsubscribe_groups_id = @list`);
    this.#logged = $client.prepare(`
      SELECT source, mailing_id FROM consent_log WHERE address_id = ? AND ifnull(unsubscribe_groups_id, 0) = ? AND action IN ('unsubscribed', 'resubscribed')
      ORDER BY id DESC LIMIT 1`);
    // If the import that stored a tracking choice is undone, the choice is published as refused, because the stream cannot express that there
    // is no choice.
    this.#tracking = $client.prepare(`
      SELECT a.tracking_choice <> ${TRACKING_CHOICE.allowed} AS is_refused, l.source, l.mailing_id,
        iif(l.source = 'import', english(l.consent_text), l.consent_text) AS text
      FROM addresses a LEFT JOIN consent_log l ON l.address_id = a.id AND l.action IN (${TRACKING_ACTIONS_SQL})
      WHERE a.id = ? ORDER BY l.id DESC LIMIT 1`);
    this.#suppression = $client.prepare('SELECT kind, diagnostic FROM suppressions WHERE address_id = ?');
    this.#published = $client.prepare('DELETE FROM unpublished_choices WHERE id IN (SELECT value FROM json_each(?))');
  }

  /** Publishes all waiting changes. Throws if NATS or the database fails; unconfirmed changes stay for the next call. */
  async publish(): Promise<void> {
    for (;;) {
      const manager = await jetstreamManager(this.#deps.connection, { checkAPI: false });
      const { applied, waiting } = this.#read();
      const published = await Promise.all(
        waiting.map(async ({ id, subject, text }) =>
          (await this.#publish(manager, subject, text, applied)) ? [id] : [],
        ),
      );
      const ids = published.flat();
      if (ids.length > 0) await this.#deps.lock.write(() => this.#published.run(JSON.stringify(ids)), LOCK_WAIT_MS);
      if (waiting.length < BATCH || ids.length === 0) return;
    }
  }

  /** Returns the waiting changes with their current state, and the sequence of the last message of the stream that this state includes. */
  #read(): { applied: number; waiting: { id: number; subject: string; text: string }[] } {
    const { db } = this.#deps;
    const read = db.$client.transaction(() => ({
      applied: findPosition(db.$client, STREAM.consents)?.sequence ?? 0,
      waiting: this.#unpublished.all(BATCH).map((row) => this.#message(row)),
    }));
    return read();
  }

  /** Returns the message that publishes a change. */
  #message({ id, accountId, addressId, list, at, email }: Unpublished): { id: number; subject: string; text: string } {
    const { tokens, run } = this.#deps;
    const tracking = list === TRACKING ? this.#tracking.get(addressId) : undefined;
    const logged = list === SUPPRESSED ? undefined : (tracking ?? this.#logged.get(addressId, list));
    const suppression = list === SUPPRESSED ? this.#suppression.get(addressId) : undefined;
    const isOnList =
      list === SUPPRESSED ? suppression !== undefined : this.#entry.get({ address: addressId, list }) !== undefined;
    const ids = { delivery: 0, mailing: logged?.mailing_id ?? 0, address: addressId, group: 0, user: accountId, email };
    const consent: Consent = {
      token: tokens.recipient(ids).unsubscribe,
      email,
      list,
      isLeft: tracking === undefined ? isOnList : tracking.is_refused === 1,
      at,
      text: tracking?.text ?? '',
      change: { run, source: logged?.source ?? 'api', ...(suppression && { suppression }) },
    };
    return {
      id,
      subject: consentSubject(accountId, contactKey(tokens, accountId, email), list),
      text: JSON.stringify(consent),
    };
  }

  /**
   * Publishes a change, unless the stream has a choice for the same contact and list that is not in this database yet. That choice is applied
   * first, so that the newest message always matches the database. Returns false if the change was not published.
   */
  async #publish(manager: JetStreamManager, subject: string, text: string, applied: number): Promise<boolean> {
    if (await this.#publishAfter(0, subject, text)) return true;
    const last = await manager.streams.getMessage(STREAM.consents, { last_by_subj: subject });
    const sequence = last?.seq ?? 0;
    return sequence <= applied && (await this.#publishAfter(sequence, subject, text));
  }

  /** Publishes a message if the newest one on the subject has this sequence; 0: if the subject has no message. Returns false otherwise. */
  async #publishAfter(lastSubjectSequence: number, subject: string, text: string): Promise<boolean> {
    try {
      const proof = headers();
      proof.set(PROOF_HEADER, proveChange(this.#deps.tokens, subject, text));
      const options = { headers: proof, expect: { lastSubjectSequence }, timeout: PUBLISH_TIMEOUT_MS };
      await this.#client.publish(subject, text, options);
      return true;
    } catch (error) {
      if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamWrongLastSequence) return false;
      throw error;
    }
  }
}

/** The number of entries that one short transaction queues. */
const STEP_ROWS = 2000;
const QUEUE_LOCK_WAIT_MS = 60_000;

/** SQL for the time at which an entry was created, in epoch milliseconds. */
const CREATED = "CAST(unixepoch(created_at, 'subsec') * 1000 AS INTEGER)";
/** The name of the stored value which says that everything was published with proofs. */
const PUBLISHED_WITH_PROOFS = 'choices_published_with_proofs';
/** SQL for the entries of each list: the table, the list, when the entry was made, and the condition for rows that are entries. */
const LISTS = [
  { table: 'unsubscribers', list: 'ifnull(unsubscribe_groups_id, 0)', at: CREATED, condition: 'true' },
  { table: 'suppressions', list: SUPPRESSED, at: CREATED, condition: 'true' },
  {
    table: 'addresses',
    list: TRACKING,
    at: `ifnull((SELECT max(${CREATED}) FROM consent_log
      WHERE address_id = addresses.id AND action IN ('tracking_allowed', 'tracking_refused')), 0)`,
    condition: `tracking_choice <> ${TRACKING_CHOICE.none}`,
  },
] as const;

/** Queues all list entries for publishing, in short transactions. Entries that already wait stay as they are. */
export async function queueEverything(db: Db, lock: WriteLock): Promise<void> {
  for (const { table, list, at, condition } of LISTS) {
    const step = db.$client.prepare(`
      INSERT OR IGNORE INTO unpublished_choices (user_id, address_id, list, changed_at)
      SELECT user_id, ${table === 'addresses' ? 'id' : 'address_id'}, ${list}, ${at}
      FROM ${table} WHERE id > @after AND id <= @to AND ${condition}`);
    const end = db.$client
      .prepare<[number], number | null>(
        `SELECT max(id) FROM (SELECT id FROM ${table} WHERE id > ? AND ${condition} ORDER BY id LIMIT ${STEP_ROWS})`,
      )
      .pluck();
    for (let after = 0, to = end.get(0) ?? 0; to > after; after = to, to = end.get(after) ?? 0) {
      const range = { after, to };
      await lock.write(() => step.run(range), QUEUE_LOCK_WAIT_MS);
      await setImmediate();
    }
  }
}

/**
 * Queues all list entries once if an earlier release has published them, because entries of such releases have no proof and a restored
 * backup would ignore them.
 */
export async function queueEverythingOnce(db: Db, lock: WriteLock): Promise<void> {
  if (findNamedValue(db.$client, PUBLISHED_WITH_PROOFS) !== null) return;
  await queueEverything(db, lock);
  await lock.write(() => addNamedValue(db.$client, PUBLISHED_WITH_PROOFS, ''), QUEUE_LOCK_WAIT_MS);
}
