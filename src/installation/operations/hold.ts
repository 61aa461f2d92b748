/** The hold of all sending (additions): why nothing leaves, what waits, and its release by an operator. */
import type { Database } from 'better-sqlite3';
import Type, { type Static } from 'typebox';
import { prepared } from '../../database/prepared.ts';
import { DELIVERY_STATE, SINGLE_SEND_STATUS } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { isReleasable, mailWaitsReason, releaseSending, sendingHeldReason } from '../../delivery/queue/sending-hold.ts';
import { conflict } from '../../errors/failure.ts';
import { sentence } from '../../errors/sentences.ts';
import { integer, nullable, zeroOrOne } from '../../http/requests/schemas.ts';
import type { Deps } from '../../operations/deps.ts';
import { operation } from '../../operations/operation.ts';
import { auditBy } from '../../users/audit.ts';

const Hold = Type.Object(
  {
    held_reason: nullable(Type.String()),
    releasable: zeroOrOne('1: an operator can end it; 0: it ends with its cause, or there is none.'),
    waits_reason: nullable(
      Type.String(),
      'Why mail waits although nothing is held, such as that there is no sender node; null when it leaves.',
    ),
    has_nodes: zeroOrOne('1: campaign mail leaves from sender nodes.'),
    mails: integer({ description: 'Mails of all accounts that leave when it ends.' }),
    due_single_sends: integer({
      description: 'Single sends of all accounts that begin when it ends, since their time has come.',
    }),
  },
  { description: 'The hold of all sending.' },
);

export type Hold = Static<typeof Hold>;

export const readHold = operation({
  name: 'Read whether all sending is held, and what waits (addition)',
  role: 'viewer',
  input: Type.Object({}),
  output: Type.Object({ hold: Hold }),
  run: (context) => ({ hold: currentHold(context) }),
});

export const releaseHold = operation({
  name: 'Let sending go on after a restore or a leap of the clock (addition)',
  description:
    'Everything that is due goes at once. A hold by settings stays. 409 where nothing is held that can be released.',
  role: 'owner',
  isForOperators: true,
  input: Type.Object({}),
  run(context) {
    const { db, clock, wake } = context;
    const release = () => {
      if (!isReleasable(db.$client)) throw conflict(sentence('sending_on'));
      releaseSending(db.$client, clock.now().getTime());
      auditBy(context, 'sending_released');
    };
    inTransaction(db, release);
    wake();
  },
});

/** Whether all sending is held at this moment, and what waits. */
export function currentHold({ db: { $client: client }, config, clock }: Pick<Deps, 'db' | 'config' | 'clock'>): Hold {
  const reason = sendingHeldReason(client);
  return {
    held_reason: reason,
    releasable: isReleasable(client) ? 1 : 0,
    waits_reason: mailWaitsReason(client),
    has_nodes: config.NATS_URL.length > 0 ? 1 : 0,
    ...(reason === null ? { mails: 0, due_single_sends: 0 } : countWaiting(client, clock.now().getTime())),
  };
}

/** What leaves when the hold ends at `now`, epoch milliseconds. */
function countWaiting(client: Database, now: number): Pick<Hold, 'mails' | 'due_single_sends'> {
  const counted = prepared<[number], Pick<Hold, 'mails' | 'due_single_sends'>>(
    client,
    `SELECT ifnull(sum((SELECT count(*) FROM deliveries d WHERE d.mailing_id = m.id AND d.state = ${DELIVERY_STATE.queued})), 0) AS mails,
       (SELECT count(*) FROM single_sends WHERE status = ${SINGLE_SEND_STATUS.queued} AND starts_at <= ?) AS due_single_sends
     FROM mailings m WHERE m.finished_at IS NULL`,
  ).get(now);
  return counted ?? { mails: 0, due_single_sends: 0 };
}
