/** Duplicating, deleting, cancelling, pausing and resuming single sends. */
import { randomUUID } from 'node:crypto';
import { and, eq } from 'drizzle-orm';
import { isoTimestamp, NO_TIME } from '../clock.ts';
import type { Db } from '../database/open.ts';
import { ownedBy, recordId, recordUtr } from '../database/ownership.ts';
import { mailings, senders, singleSends } from '../database/schema/index.ts';
import { commandMailing, waitForAcknowledgement } from '../delivery/queue/mailing-state.ts';
import { letAllGo } from '../delivery/watch/watched-mailings.ts';
import { conflict, notFound } from '../failure.ts';
import { SENTENCES } from '../sentences.ts';
import type { SingleSendDeps } from './single-sends.ts';
import { cancelBeforeStart, insertCopy } from './status.ts';

type SingleSend = typeof singleSends.$inferSelect;

export interface SingleSendActionDeps extends SingleSendDeps {
  wake(): void;
}

/** The account's single send with this utr; throws 404. */
export function requireSingleSend(db: Db, accountId: number, utr: unknown): SingleSend {
  const where = and(ownedBy(singleSends, accountId), eq(singleSends.utr, recordUtr(utr)));
  const send = db.select().from(singleSends).where(where).get();
  if (send === undefined) throw notFound('Record not found');
  return send;
}

/** The mailing of a single send, or null before it is launched. */
export function findSingleSendMailing(
  db: Db,
  send: SingleSend,
): Pick<typeof mailings.$inferSelect, 'id' | 'sender_id' | 'state' | 'held_code' | 'held_reason'> | null {
  const where = and(eq(mailings.owner_kind, 'single'), eq(mailings.owner_id, send.id));
  const columns = {
    id: mailings.id,
    sender_id: mailings.sender_id,
    state: mailings.state,
    held_code: mailings.held_code,
    held_reason: mailings.held_reason,
  };
  return db.select(columns).from(mailings).where(where).get() ?? null;
}

/** Copies a single send as a draft: `Copy of <name>`, without a mailing. Gives the new utr. */
export function duplicateSingleSend({ db, clock }: SingleSendActionDeps, accountId: number, given: unknown): string {
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
  return utr;
}

/** Deletes single sends and cancels the mailings of running ones. When it resolves, no further delivery of them starts. */
export async function deleteSingleSends(deps: SingleSendActionDeps, sends: readonly SingleSend[]): Promise<void> {
  const { db, wake } = deps;
  const stopped = db.transaction(
    (tx) => {
      const running: number[] = [];
      for (const send of sends) {
        const mailing = findSingleSendMailing(db, send);
        if (mailing !== null && commandMailing(db.$client, mailing.id, 'cancel')) running.push(mailing.id);
        tx.delete(singleSends).where(eq(singleSends.id, send.id)).run();
      }
      return running;
    },
    { behavior: 'immediate' },
  );
  wake();
  for (const id of stopped) await waitForAcknowledgement(db.$client, id);
}

/** The single sends with these numeric ids or utrs, as in `strIds`. Throws 404 unless all of them belong to the account. */
export function requireSingleSends(db: Db, accountId: number, given: readonly unknown[] = []): SingleSend[] {
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

/** Cancels a single send: one that is queued becomes a draft, one that is running cancels the deliveries not yet made. */
export async function cancelSingleSend(deps: SingleSendActionDeps, accountId: number, utr: unknown): Promise<void> {
  const { db, clock, wake } = deps;
  const send = requireSingleSend(db, accountId, utr);
  if (cancelBeforeStart(db, send.id, isoTimestamp(clock.now()))) return;
  const mailing = findSingleSendMailing(db, send);
  if (mailing === null || !commandMailing(db.$client, mailing.id, 'cancel')) throw conflict(SENTENCES.not_cancellable);
  wake();
  await waitForAcknowledgement(db.$client, mailing.id);
}

/**
 * Pauses or resumes a running send; throws 409 when there is nothing to pause or resume. To resume one that was held because of its results, or
 * that waits after its canary, lets all of it go.
 */
export async function pauseOrResume(
  deps: SingleSendActionDeps,
  accountId: number,
  utr: unknown,
  what: 'pause' | 'resume',
): Promise<void> {
  const { db, wake } = deps;
  const send = requireSingleSend(db, accountId, utr);
  const mailing = findSingleSendMailing(db, send);
  if (what === 'resume' && mailing !== null && isDeletedSender(db, send.sender_id))
    throw conflict(SENTENCES.only_cancellable);
  if (mailing === null) throw conflict(SENTENCES[what === 'pause' ? 'not_pausable' : 'not_resumable']);
  db.transaction(
    () => {
      const goesOn = what === 'resume' && letAllGo(db.$client, mailing.id);
      if (!commandMailing(db.$client, mailing.id, what) && !goesOn)
        throw conflict(SENTENCES[what === 'pause' ? 'not_pausable' : 'not_resumable']);
    },
    { behavior: 'immediate' },
  );
  wake();
  await waitForAcknowledgement(db.$client, mailing.id);
}

function isDeletedSender(db: Db, id: number): boolean {
  const sender = db.select({ deleted_at: senders.deleted_at }).from(senders).where(eq(senders.id, id)).get();
  return sender === undefined || sender.deleted_at !== null;
}
