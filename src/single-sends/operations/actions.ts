/** What is done with a single send as a whole: duplicating, deleting, cancelling, pausing, resuming, and retrying what failed. */
import { randomUUID } from 'node:crypto';
import { and, eq } from 'drizzle-orm';
import Type from 'typebox';
import { inChunks } from '../../database/bulk.ts';
import type { Db } from '../../database/open.ts';
import { ownedBy, recordId, recordUtr } from '../../database/ownership.ts';
import { senders, singleSends } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { requeueFailed } from '../../delivery/queue/ledger/ended.ts';
import { commandMailing, reopenMailing, waitForAcknowledgement } from '../../delivery/queue/mailing-state.ts';
import { letAllGo, passLimits } from '../../delivery/watch/watched-mailings.ts';
import { conflict, notFound } from '../../errors/failure.ts';
import { sentence } from '../../errors/sentences.ts';
import { identifier, identifiers, integer } from '../../http/requests/schemas.ts';
import { type Context, operation } from '../../operations/operation.ts';
import { isoTimestamp, NO_TIME } from '../../time/clock.ts';
import { findSingleSendMailing, requireSingleSend, type SingleSend } from '../single-sends.ts';
import { cancelBeforeStart, insertCopy, runAgain } from '../status.ts';

const MAX_WAIT_MS = 5000;

const ByUtr = Type.Object({ utr: identifier('The single send.') });

export const duplicateSingleSend = operation({
  name: 'Duplicate a single send',
  description: 'The copy is saved and not queued. The header Location of the answer names its details.',
  role: 'editor',
  input: ByUtr,
  output: Type.Object({ utr: Type.String() }),
  run({ db, clock, accountId }, { utr: given }) {
    const now = isoTimestamp(clock.now());
    const { id: _id, ...send } = requireSingleSend(db, accountId, given);
    const utr = randomUUID();
    insertCopy(db, {
      ...send,
      single_send_name: [...`Copy of ${send.single_send_name}`].slice(0, 255).join(''),
      utr,
      sent_at: NO_TIME,
      created_at: now,
      updated_at: now,
    });
    return { utr };
  },
});

export const deleteSingleSend = operation({
  name: 'Delete a single send',
  description: 'One that is being sent is stopped first.',
  role: 'editor',
  input: ByUtr,
  run: (context, { utr }) => deleteAll(context, [requireSingleSend(context.db, context.accountId, utr)]),
});

export const deleteSingleSends = operation({
  name: 'Delete several single sends',
  role: 'editor',
  input: Type.Object({ strIds: identifiers('Ids or utrs of single sends.') }),
  run: (context, { strIds }) => deleteAll(context, requireSingleSends(context, strIds)),
});

/** Deletes single sends and cancels the mailings of running ones. When it resolves, no further delivery of them starts. */
async function deleteAll({ db, wake }: Context, sends: readonly SingleSend[]): Promise<void> {
  const stopped = inTransaction(db, (tx) => {
    const running: number[] = [];
    for (const send of sends) {
      const mailing = findSingleSendMailing(db, send);
      if (mailing !== null && commandMailing(db.$client, mailing.id, 'cancel')) running.push(mailing.id);
      tx.delete(singleSends).where(eq(singleSends.id, send.id)).run();
    }
    return running;
  });
  wake();
  for (const id of stopped) await waitForAcknowledgement(db.$client, id);
}

/** The single sends with these numeric ids or utrs. Throws 404 unless all of them belong to the account. */
function requireSingleSends({ db, accountId }: Context, given: readonly unknown[] = []): SingleSend[] {
  const found = new Map<number, SingleSend>();
  for (const id of given) {
    const utr = recordUtr(id);
    const matches = utr === '' ? eq(singleSends.id, recordId(id)) : eq(singleSends.utr, utr);
    const send = db
      .select()
      .from(singleSends)
      .where(and(ownedBy(singleSends, accountId), matches))
      .get();
    if (send === undefined) throw notFound('Record not found');
    found.set(send.id, send);
  }
  if (found.size === 0) throw notFound('Record not found');
  return [...found.values()];
}

export const cancelSingleSend = operation({
  name: 'Cancel a single send',
  description:
    'After the answer nothing more leaves. One that was not being sent yet is saved and can be queued again by a change.',
  role: 'editor',
  input: ByUtr,
  async run({ db, clock, wake, accountId }, { utr }) {
    const send = requireSingleSend(db, accountId, utr);
    if (cancelBeforeStart(db, send.id, isoTimestamp(clock.now()))) return;
    const mailing = findSingleSendMailing(db, send);
    if (mailing === null || !commandMailing(db.$client, mailing.id, 'cancel'))
      throw conflict(sentence('not_cancellable'));
    wake();
    await waitForAcknowledgement(db.$client, mailing.id);
  },
});

export const pauseSingleSend = operation({
  name: 'Pause a single send',
  description: 'After the answer nothing more leaves until it is resumed.',
  role: 'editor',
  input: ByUtr,
  async run({ db, wake, accountId }, { utr }) {
    const mailing = findSingleSendMailing(db, requireSingleSend(db, accountId, utr));
    if (mailing === null || !commandMailing(db.$client, mailing.id, 'pause')) throw conflict(sentence('not_pausable'));
    wake();
    await waitForAcknowledgement(db.$client, mailing.id);
  },
});

/** To resume one that was held because of its results, or that waits after its canary, lets all of it go. */
export const resumeSingleSend = operation({
  name: 'Resume a single send',
  role: 'editor',
  input: ByUtr,
  async run({ db, wake, accountId }, { utr }) {
    const send = requireSingleSend(db, accountId, utr);
    const mailing = findSingleSendMailing(db, send);
    if (mailing === null) throw conflict(sentence('not_resumable'));
    if (isDeletedSender(db, send.sender_id)) throw conflict(sentence('only_cancellable'));
    const resume = () => {
      const goesOn = letAllGo(db.$client, mailing.id);
      if (!commandMailing(db.$client, mailing.id, 'resume') && !goesOn) throw conflict(sentence('not_resumable'));
    };
    inTransaction(db, resume);
    wake();
    await waitForAcknowledgement(db.$client, mailing.id);
  },
});

function isDeletedSender(db: Db, id: number): boolean {
  const sender = db.select({ deleted_at: senders.deleted_at }).from(senders).where(eq(senders.id, id)).get();
  return sender === undefined || sender.deleted_at !== null;
}

/**
 * It is the same mail with the same Message-ID, so that a server which did take it the first time can recognise it. Bounced recipients
 * stay out: their address is suppressed. After a kill in the middle, the rest are still failed.
 */
export const retryFailed = operation({
  name: 'Send a completed single send again to those for whom it failed (addition)',
  description:
    'The failed recipients go back into the queue of the same mailing, with the same Message-ID. Who bounced, unsubscribed, was suppressed or deleted gets nothing.',
  role: 'editor',
  input: ByUtr,
  output: Type.Object({ queued: integer({ description: 'Recipients who were queued again.' }) }),
  async run({ db, clock, wake, accountId }, { utr }) {
    const client = db.$client;
    const send = requireSingleSend(db, accountId, utr);
    const mailing = findSingleSendMailing(db, send);
    const hasFailed = client.prepare("SELECT 1 FROM mailings WHERE id = ? AND state = 'done' AND failed > 0");
    if (mailing === null || hasFailed.get(mailing.id) === undefined) throw conflict(sentence('not_retriable'));
    let queued = 0;
    const part = (rows: number) => {
      // Who sends again has seen the results.
      if (queued === 0) passLimits(client, mailing.id);
      const changes = requeueFailed(client, mailing.id, rows);
      if (changes > 0) {
        // The part before may be sent already, and the mailing done again.
        reopenMailing(client, mailing.id);
        runAgain(db, send.id, isoTimestamp(clock.now()));
      }
      queued += changes;
      return changes === rows;
    };
    await inChunks(client, part, MAX_WAIT_MS);
    wake();
    await waitForAcknowledgement(client, mailing.id);
    return { queued };
  },
});
