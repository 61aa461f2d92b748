/** Operations that read transactional mails: the result of one, the list of all, and one as it was sent. */
import { promisify } from 'node:util';
import { inflateRaw } from 'node:zlib';
import type { Database } from 'better-sqlite3';
import Type, { type Static } from 'typebox';
import { findAddressId } from '../audience/contacts/address-rows.ts';
import { parseAddress } from '../audience/contacts/addresses.ts';
import { recordUtr } from '../database/ownership.ts';
import {
  DELIVERY_STATE,
  DELIVERY_STATE_NAMES,
  type DeliveryState as DeliveryStateName,
  type transactionalMails,
} from '../database/schema/index.ts';
import { messageId } from '../delivery/transactional/mail.ts';
import { conflict, notFound } from '../errors/failure.ts';
import { sentence } from '../errors/sentences.ts';
import { codeOf, readStored } from '../errors/stored.ts';
import {
  DeliveryState,
  described,
  identifier,
  integer,
  isoTimestampSchema,
  line,
  nullable,
  said,
  zeroOrOne,
} from '../http/requests/schemas.ts';
import { operation } from '../operations/operation.ts';
import { isoTimestamp } from '../time/clock.ts';

const DEFAULT_ROWS = 50;

const Mail = Type.Object({
  id: integer(),
  utr: Type.String(),
  sender_id: integer(),
  email: Type.String({ description: "The recipient's address, as it was given." }),
  name: Type.String({ description: "The recipient's name." }),
  subject: Type.String({ description: 'The subject with its values.' }),
  attachments: Type.Array(
    Type.Object({
      file_name: Type.String({ description: 'The name that the file has in the e-mail.' }),
      type: Type.String({ description: 'The media type of the file.' }),
      size: integer({ description: 'The size of the file in bytes.' }),
    }),
    { description: 'The files that are attached to the e-mail.' },
  ),
  is_kept: zeroOrOne('1: GET /transactional/mail returns the e-mail as it was sent.'),
  message_id: Type.String({ description: 'The Message-ID without the angle brackets, the same at every try.' }),
  state: described(DeliveryState, 'The state of the e-mail; queued and sending are not final.'),
  attempts: integer({ description: 'How often the e-mail was handed to the SMTP server.' }),
  reply: nullable(said(), "The server's reply, or why no e-mail was sent; null before the first of these."),
  reason_code: nullable(Type.String()),
  next_try_at: nullable(
    isoTimestampSchema(),
    'When the e-mail is tried again, UTC; null unless it waits for another try.',
  ),
  complained_at: nullable(isoTimestampSchema(), 'When the recipient complained, UTC; null if they did not.'),
  created_at: isoTimestampSchema(),
  updated_at: isoTimestampSchema(),
});
export type Mail = Static<typeof Mail>;

export const readMail = operation({
  name: 'Read the state of a transactional e-mail (addition)',
  description:
    'The bodies and attachments of an e-mail are removed when it has a final state, unless the e-mail as sent is kept (GET /transactional/mail).',
  role: 'viewer',
  input: Type.Object({ utr: identifier('The e-mail.') }),
  output: Type.Object({ mail: Mail }),
  run({ db, accountId }, { utr }) {
    const mail = db.$client
      .prepare<[string, number], MailRow>(`SELECT ${COLUMNS} FROM transactional_mails WHERE utr = ? AND user_id = ?`)
      .get(recordUtr(utr), accountId);
    if (mail === undefined) throw notFound('Record not found');
    return { mail: mailRecord(mail) };
  },
});

const decompress = promisify(inflateRaw);

/** Returns the message in ASCII. Users with read access only may not read it, because its links act for its recipient. */
export const readSentTransactionalMail = operation({
  name: 'Read a transactional e-mail exactly as it was sent (addition)',
  description:
    'The bytes that a server accepted, without the dots that SMTP adds. 409: the e-mail is not kept (keeps_sent_mails was 0, 90 days are over, or it is larger than 1 MiB).',
  role: 'editor',
  input: Type.Object({ utr: identifier('The transactional e-mail.') }),
  async run({ db, accountId }, { utr }): Promise<string> {
    const mail = db.$client
      .prepare<[string, number], { message: Buffer | null }>(`
      SELECT s.message FROM transactional_mails t LEFT JOIN sent_transactional_mails s ON s.mail_id = t.id
      WHERE t.utr = ? AND t.user_id = ?`)
      .get(recordUtr(utr), accountId);
    if (mail === undefined) throw notFound('Record not found');
    if (mail.message === null) throw conflict(sentence('sent_mail_not_kept'));
    return (await decompress(mail.message)).toString('latin1');
  },
});

export const listMails = operation({
  name: 'List transactional e-mails, newest first (addition)',
  description:
    'With `state`, a page may have fewer e-mails than `limit`, even none; more pages follow as long as `next_before_id` is not null.',
  role: 'viewer',
  input: Type.Object({
    state: Type.Optional(DeliveryState),
    email: Type.Optional(line({ description: 'Only e-mails to this address.' })),
    limit: Type.Optional(
      integer({ minimum: 1, maximum: 200, description: `The maximum number of e-mails; ${DEFAULT_ROWS} if absent.` }),
    ),
    before_id: Type.Optional(
      integer({
        description: 'Only e-mails with a lower id. The next page begins at `next_before_id` of the page before.',
      }),
    ),
  }),
  output: Type.Object({
    mails: Type.Array(Mail, { description: 'The e-mails, the newest first.' }),
    next_before_id: nullable(integer(), 'The before_id of the next page; null at the end.'),
  }),
  run({ db, accountId: account }, { state, email, limit = DEFAULT_ROWS, before_id: before = Number.MAX_SAFE_INTEGER }) {
    const addressId = email ? (findAddressId(db.$client, account, parseAddress(email)) ?? 0) : undefined;
    const oldest = state === undefined ? 0 : oldestExamined(db.$client, account, addressId, before);
    const rows = db.$client.prepare<[Record<string, number>], MailRow>(listQueryText({ state, addressId })).all({
      account,
      before,
      after: oldest - 1,
      limit: limit + 1,
      ...(addressId !== undefined && { address: addressId }),
      ...(state !== undefined && { state: DELIVERY_STATE[state] }),
    });
    const page = rows.slice(0, limit);
    const lastExamined = rows.length > limit ? page.at(-1)?.id : oldest;
    return { mails: page.map(mailRecord), next_before_id: lastExamined || null };
  },
});

interface MailRow
  extends Omit<
    typeof transactionalMails.$inferSelect,
    | 'user_id'
    | 'address_id'
    | 'content'
    | 'attachments'
    | 'size'
    | 'idempotency_key'
    | 'request_hash'
    | 'first_tried_at'
    | 'reply'
  > {
  attachments: string;
  reply: string | null;
  is_kept: 0 | 1;
}

const COLUMNS = `id, utr, sender_id, email, name, subject, attachments, message_key, message_domain, state, attempt, due_at, reply, created_at, updated_at,
  complained_at, EXISTS (SELECT 1 FROM sent_transactional_mails k WHERE k.mail_id = transactional_mails.id) AS is_kept`;

/** The filter of a list: mails in one state, and mails to one address of the account. */
interface ListFilter {
  state: DeliveryStateName | undefined;
  addressId: number | undefined;
}

/** Returns the query of a list. Mails to one address are found by an index; mails in one state are searched among all mails of the account. */
function listQueryText({ state, addressId }: ListFilter): string {
  const index = addressId === undefined ? 'transactional_mails_user' : 'transactional_mails_address';
  return `SELECT ${COLUMNS} FROM transactional_mails INDEXED BY ${index}
    WHERE user_id = @account AND id < @before AND id > @after${addressId === undefined ? '' : ' AND address_id = @address'}
      ${state === undefined ? '' : 'AND state = @state'} ORDER BY id DESC LIMIT @limit`;
}

/**
 * The number of rows that a page of one state examines, which takes about 10 ms. A page may therefore have fewer mails than its limit.
 */
const MAX_EXAMINED = 5000;

/** Returns the id of the last mail that a page examines; 0 if it examines all. */
function oldestExamined(client: Database, account: number, addressId: number | undefined, before: number): number {
  const where = addressId === undefined ? 'user_id = @account' : 'user_id = @account AND address_id = @address';
  const index = addressId === undefined ? 'transactional_mails_user' : 'transactional_mails_address';
  const row = client
    .prepare<[Record<string, number>], { id: number }>(
      `SELECT id FROM transactional_mails INDEXED BY ${index} WHERE ${where} AND id < @before ORDER BY id DESC LIMIT 1 OFFSET ${MAX_EXAMINED}`,
    )
    .get({ account, before, ...(addressId !== undefined && { address: addressId }) });
  return row?.id ?? 0;
}

function mailRecord({ message_key, message_domain, ...row }: MailRow): Mail {
  const { attempt, due_at, state, attachments, created_at, updated_at, complained_at, ...rest } = row;
  const reply = readStored(row.reply);
  const moment = (at: number) => isoTimestamp(new Date(at));
  return {
    ...rest,
    attachments: JSON.parse(attachments),
    message_id: messageId({ id: row.id, message_key, message_domain }),
    state: DELIVERY_STATE_NAMES[state] ?? 'failed',
    attempts: attempt,
    reply,
    reason_code: codeOf(reply),
    next_try_at: state === DELIVERY_STATE.queued && due_at > 0 ? moment(due_at) : null,
    complained_at: complained_at === null ? null : moment(complained_at),
    created_at: moment(created_at),
    updated_at: moment(updated_at || created_at),
  };
}
