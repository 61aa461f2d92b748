/** Reads transactional mails for lists and details. */
import type { Database } from 'better-sqlite3';
import { isoTimestamp } from '../clock.ts';
import { prepared } from '../database/prepared.ts';
import { type Attachment, DELIVERY_STATE, DELIVERY_STATE_NAMES, type DeliveryState } from '../database/schema/index.ts';
import { messageId } from '../delivery/transactional/mail.ts';
import { sentenceCode } from '../sentences.ts';

/** A mail as it is shown. Times are ISO timestamps. */
export interface ShownMail {
  id: number;
  utr: string;
  sender_id: number;
  email: string;
  name: string;
  subject: string;
  attachments: Attachment[];
  message_id: string;
  state: DeliveryState;
  attempts: number;
  /** What the server replied, or why there was no mail; null while there is nothing to say. */
  reply: string | null;
  reason_code: string | null;
  /** Null unless it waits for another try. */
  next_try_at: string | null;
  complained_at: string | null;
  created_at: string;
  updated_at: string;
}

interface Row {
  id: number;
  utr: string;
  sender_id: number;
  email: string;
  name: string;
  subject: string;
  attachments: string;
  message_key: string;
  message_domain: string;
  state: number;
  attempt: number;
  due_at: number;
  reply: string | null;
  created_at: number;
  updated_at: number;
  complained_at: number | null;
}

const COLUMNS =
  'id, utr, sender_id, email, name, subject, attachments, message_key, message_domain, state, attempt, due_at, reply, created_at, updated_at, complained_at';

/** Which mails a list has. */
export interface MailFilter {
  state: DeliveryState | undefined;
  /** Only to this address of the account; 0 for one it does not have. */
  addressId: number | undefined;
  /** Only those with a lower id. */
  before: number;
  limit: number;
}

/** The query of a list: those to one address are found by it, those in one state are looked for among all of the account. */
export function listQueryText({ state, addressId }: Pick<MailFilter, 'state' | 'addressId'>): string {
  const index = addressId === undefined ? 'transactional_mails_user' : 'transactional_mails_address';
  return `SELECT ${COLUMNS} FROM transactional_mails INDEXED BY ${index}
    WHERE user_id = @account AND id < @before AND id > @after${addressId === undefined ? '' : ' AND address_id = @address'}
      ${state === undefined ? '' : 'AND state = @state'} ORDER BY id DESC LIMIT @limit`;
}

/** Rows that are looked at for a page of one state, about 10 ms. */
const EXAMINED = 5000;

/**
 * The mails of an account, newest first, and the id to go on below; null at the end. A page of one state looks at some thousand mails at
 * most, so that it may hold fewer than `limit`.
 */
export function listMails(
  client: Database,
  account: number,
  { state, addressId, before, limit }: MailFilter,
): { mails: ShownMail[]; next_before_id: number | null } {
  const oldest = state === undefined ? 0 : oldestExamined(client, account, addressId, before);
  const rows = prepared<[Record<string, number>], Row>(client, listQueryText({ state, addressId })).all({
    account,
    before,
    after: oldest - 1,
    limit: limit + 1,
    ...(addressId !== undefined && { address: addressId }),
    ...(state !== undefined && { state: DELIVERY_STATE[state] }),
  });
  const page = rows.slice(0, limit);
  const end = rows.length > limit ? (page.at(-1)?.id ?? null) : oldest > 0 ? oldest : null;
  return { mails: page.map(shown), next_before_id: end };
}

/** The mail of an account with this utr; undefined if there is none. */
export function findMail(client: Database, account: number, utr: string): ShownMail | undefined {
  const row = prepared<[string, number], Row>(
    client,
    `SELECT ${COLUMNS} FROM transactional_mails WHERE utr = ? AND user_id = ?`,
  ).get(utr, account);
  return row && shown(row);
}

/** The id of the last mail that a page looks at; 0 if it looks at all. */
function oldestExamined(client: Database, account: number, addressId: number | undefined, before: number): number {
  const where = addressId === undefined ? 'user_id = @account' : 'user_id = @account AND address_id = @address';
  const index = addressId === undefined ? 'transactional_mails_user' : 'transactional_mails_address';
  const row = prepared<[Record<string, number>], { id: number }>(
    client,
    `SELECT id FROM transactional_mails INDEXED BY ${index} WHERE ${where} AND id < @before ORDER BY id DESC LIMIT 1 OFFSET ${EXAMINED}`,
  ).get({ account, before, ...(addressId !== undefined && { address: addressId }) });
  return row?.id ?? 0;
}

function shown({ message_key, message_domain, ...row }: Row): ShownMail {
  const { attempt, due_at, state, attachments, created_at, updated_at, complained_at, ...rest } = row;
  const moment = (at: number) => isoTimestamp(new Date(at));
  return {
    ...rest,
    attachments: JSON.parse(attachments),
    message_id: messageId({ id: row.id, message_key, message_domain }),
    state: DELIVERY_STATE_NAMES[state] ?? 'failed',
    attempts: attempt,
    reason_code: sentenceCode(row.reply),
    next_try_at: state === DELIVERY_STATE.queued && due_at > 0 ? moment(due_at) : null,
    complained_at: complained_at === null ? null : moment(complained_at),
    created_at: moment(created_at),
    updated_at: moment(updated_at || created_at),
  };
}
