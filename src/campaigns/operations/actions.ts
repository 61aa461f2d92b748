/** Operations on single sends as a whole: duplicating, hiding, deleting, cancelling, pausing, resuming, and retrying failed deliveries. */
import { randomUUID } from 'node:crypto';
import { eq, inArray } from 'drizzle-orm';
import Type from 'typebox';
import { inChunks } from '../../database/bulk.ts';
import type { Db } from '../../database/open.ts';
import { recordId, recordUtr } from '../../database/ownership.ts';
import { senders, singleSends } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { requeueFailed } from '../../delivery/queue/ledger/ended-deliveries.ts';
import { commandMailing, reopenMailing, waitForAcknowledgement } from '../../delivery/queue/mailing-state.ts';
import { passLimits, releaseAll } from '../../delivery/watch/watched-mailings.ts';
import { conflict, notFound } from '../../errors/failure.ts';
import { MAX_LINE_CHARACTERS } from '../../errors/field-errors.ts';
import { sentence } from '../../errors/sentences.ts';
import { flag, identifier, identifiersOrUtrs, integer } from '../../http/requests/schemas.ts';
import { type Context, operation } from '../../operations/operation.ts';
import { isoTimestamp, NO_TIME } from '../../time/clock.ts';
import { copyAttachments } from '../attachments.ts';
import { deleteSends } from '../large-writes.ts';
import { findSingleSendMailing, requireSingleSend } from '../single-sends.ts';
import { cancelBeforeStart, draftsAmong, hideSends, insertCopy, runAgain } from '../status.ts';

/** How long a request waits for the write lock, in milliseconds. */
const LOCK_WAIT_MS = 5000;
/**
 * The time in milliseconds after which a transaction writes no further single send. It is short, because one single send with its 2 MiB of
 * content can take as long again.
 */
const STEPS_MS = 4;

const ByUtr = Type.Object({ utr: identifier('The single send.') });
const ByIds = { strIds: identifiersOrUtrs('Ids or utrs of single sends.') };

export const duplicateSingleSend = operation({
  name: 'Duplicate a single send',
  description: 'The copy is saved and not queued. The Location header of the answer has the URL of the copy.',
  role: 'editor',
  input: ByUtr,
  output: Type.Object({ utr: Type.String() }),
  run({ db, clock, accountId }, { utr: originalUtr }) {
    const now = isoTimestamp(clock.now());
    const utr = randomUUID();
    inTransaction(db, () => {
      const { id, ...send } = requireSingleSend(db, accountId, originalUtr);
      const copy = insertCopy(db, {
        ...send,
        single_send_name: [...`Copy of ${send.single_send_name}`].slice(0, MAX_LINE_CHARACTERS).join(''),
        utr,
        sent_at: NO_TIME,
        created_at: now,
        updated_at: now,
      });
      copyAttachments(db, accountId, id, copy);
    });
    return { utr };
  },
});

export const deleteSingleSend = operation({
  name: 'Delete a single send',
  description: 'If the single send is being sent, sending is stopped first.',
  role: 'editor',
  input: ByUtr,
  run: (context, { utr }) => deleteAll(context, [requireSingleSend(context.db, context.accountId, utr).id]),
});

export const deleteSingleSends = operation({
  name: 'Delete several single sends',
  role: 'editor',
  input: Type.Object(ByIds),
  run: (context, { strIds }) => deleteAll(context, requireIds(context.db, context.accountId, strIds)),
});

/** Deletes single sends and cancels their mailings. When the promise resolves, no further delivery of these mailings starts. */
async function deleteAll({ db, wake }: Context, ids: readonly number[]): Promise<void> {
  const cancelled = await deleteSends(db, ids);
  wake();
  for (const id of cancelled) await waitForAcknowledgement(db.$client, id);
}

export const hideSingleSends = operation({
  name: 'Hide single sends in the list of the dashboard, or show them again (addition)',
  description:
    'All other lists of the API still have hidden single sends. Single sends that are scheduled or being sent stay visible, and a hidden single send becomes visible when it is scheduled.',
  role: 'editor',
  input: Type.Object({
    ...ByIds,
    is_hidden: flag('1: the single sends are hidden. 0: they are shown again.'),
  }),
  output: Type.Object({
    changed: integer({ description: 'The number of single sends that were hidden or shown again.' }),
    kept: integer({
      description: 'The number of single sends that stay visible, because they are scheduled or being sent.',
    }),
  }),
  async run({ db, clock, accountId }, { strIds, is_hidden }) {
    const ids = requireIds(db, accountId, strIds);
    const hidden_at = is_hidden === 1 ? isoTimestamp(clock.now()) : null;
    const changed = await writeInSteps(db, ids, (id) => hideSends(db, [id], hidden_at));
    return { changed, kept: ids.length - changed };
  },
});

/** Used by the page that first shows how many drafts would be deleted. */
export const deleteDrafts = operation({
  name: 'Delete the drafts among several single sends',
  role: 'editor',
  input: Type.Object({ ...ByIds, dry_run: Type.Optional(flag('1: the drafts are only counted.')) }),
  async run({ db, accountId }, { strIds, dry_run }) {
    const ids = requireIds(db, accountId, strIds);
    const drafts = draftsAmong(db, ids);
    // A draft can be scheduled between two transactions, so the transaction that deletes a draft looks at its state again.
    const remove = (id: number) =>
      db
        .delete(singleSends)
        .where(inArray(singleSends.id, draftsAmong(db, [id])))
        .run().changes;
    const deleted = dry_run === 1 ? drafts.length : await writeInSteps(db, drafts, remove);
    return { deleted, kept: ids.length - deleted };
  },
});

/**
 * Writes to single sends one by one, in short transactions. Returns the sum of the numbers that `write` returns. After a kill, the
 * remaining single sends are not written.
 */
async function writeInSteps(db: Db, ids: readonly number[], write: (id: number) => number): Promise<number> {
  let changed = 0;
  let written = 0;
  const step = () => {
    const until = performance.now() + STEPS_MS;
    for (const id of ids.slice(written)) {
      if (performance.now() >= until) return true;
      changed += write(id);
      written += 1;
    }
    return false;
  };
  await inChunks(db.$client, step, LOCK_WAIT_MS);
  return changed;
}

/** Returns the ids of the single sends with these ids or utrs. Throws 404 if one of them does not belong to the account. */
function requireIds(db: Db, accountId: number, ids: readonly unknown[] = []): number[] {
  const utrs = ids.map(recordUtr).filter(Boolean);
  const rows = db.$client
    .prepare<Record<string, number | string>, { id: number; utr: string }>(`
      SELECT id, utr FROM single_sends WHERE user_id = @account
        AND (utr IN (SELECT value FROM json_each(@utrs)) OR id IN (SELECT value FROM json_each(@ids)))`)
    .all({ account: accountId, utrs: JSON.stringify(utrs), ids: JSON.stringify(ids.map(recordId)) });
  const known = new Set<unknown>(rows.flatMap(({ id, utr }) => [id, utr]));
  if (rows.length === 0 || !ids.every((idOrUtr) => known.has(recordUtr(idOrUtr) || recordId(idOrUtr))))
    throw notFound('Record not found');
  return rows.map(({ id }) => id);
}

export const cancelSingleSend = operation({
  name: 'Cancel a single send',
  description:
    'After the answer no further e-mail is sent. A single send that was only queued becomes a draft, and changing it queues it again.',
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
  description: 'After the answer no e-mail is sent until the single send is resumed.',
  role: 'editor',
  input: ByUtr,
  async run({ db, wake, accountId }, { utr }) {
    const mailing = findSingleSendMailing(db, requireSingleSend(db, accountId, utr));
    if (mailing === null || !commandMailing(db.$client, mailing.id, 'pause')) throw conflict(sentence('not_pausable'));
    wake();
    await waitForAcknowledgement(db.$client, mailing.id);
  },
});

/** Resumes a paused or held single send. If it was held because of its results, or waits after its canary, releases all its recipients. */
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
      const isReleased = releaseAll(db.$client, mailing.id);
      const isResumed = commandMailing(db.$client, mailing.id, 'resume');
      if (!isReleased && !isResumed) throw conflict(sentence('not_resumable'));
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
 * Retries failed deliveries. The mail has the same Message-ID, so a server that did accept it the first time can recognize it. Bounced
 * recipients get nothing, because their addresses are suppressed. After a kill, the remaining failed deliveries can be retried again.
 */
export const retryFailed = operation({
  name: 'Send a completed single send again to the recipients for whom it failed (addition)',
  description:
    'The e-mails are queued again in the same single send, with the same Message-ID. Contacts who bounced, unsubscribed, were suppressed or deleted get nothing.',
  role: 'editor',
  input: ByUtr,
  output: Type.Object({ queued: integer({ description: 'The number of recipients who were queued again.' }) }),
  async run({ db, clock, wake, accountId }, { utr }) {
    const client = db.$client;
    const send = requireSingleSend(db, accountId, utr);
    const mailing = findSingleSendMailing(db, send);
    const hasFailed = client.prepare("SELECT 1 FROM mailings WHERE id = ? AND state = 'done' AND failed > 0");
    if (mailing === null || hasFailed.get(mailing.id) === undefined) throw conflict(sentence('not_retriable'));
    let queued = 0;
    const part = (rows: number) => {
      // Do not hold the mailing again because of its bad results, because a user who retries has seen them.
      if (queued === 0) passLimits(client, mailing.id);
      const changes = requeueFailed(client, mailing.id, rows);
      if (changes > 0) {
        // The previous part may have been sent meanwhile, so the mailing may already be done again.
        reopenMailing(client, mailing.id);
        runAgain(db, send.id, isoTimestamp(clock.now()));
      }
      queued += changes;
      return changes === rows;
    };
    await inChunks(client, part, LOCK_WAIT_MS);
    wake();
    await waitForAcknowledgement(client, mailing.id);
    return { queued };
  },
});
