/** Operations that send a completed single send to the contacts who joined its audience after it was sent (additions). */
import { eq } from 'drizzle-orm';
import Type from 'typebox';
import { targetProblem } from '../../audience/segments/broken-rules.ts';
import { recomputeAndWait } from '../../audience/segments/recompute.ts';
import { missingTarget } from '../../audience/segments/segments.ts';
import type { Db } from '../../database/open.ts';
import { senders } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { countNewRecipients } from '../../delivery/queue/audience-counts.ts';
import type { EnqueueProgress } from '../../delivery/queue/enqueue-recipients.ts';
import { enqueueAgain, waitForAcknowledgement } from '../../delivery/queue/mailing-state.ts';
import { conflict } from '../../errors/failure.ts';
import { sentence } from '../../errors/sentences.ts';
import { withinShare } from '../../http/account-share.ts';
import { identifier, integer } from '../../http/requests/schemas.ts';
import { operation } from '../../operations/operation.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { findSingleSendMailing, requireSingleSend, type SingleSend } from '../single-sends.ts';
import { runAgain } from '../status.ts';

const ByUtr = Type.Object({ utr: identifier('The single send.') });

export const countJoined = operation({
  name: 'Count the contacts who joined the audience of a completed single send after it was sent (addition)',
  description:
    'Counts only contacts who may get mail of its topic (unsubscribe group) now and are not among its recipients yet.',
  role: 'viewer',
  input: ByUtr,
  output: Type.Object({ count: integer({ description: 'The number of contacts who would get the e-mail now.' }) }),
  async run({ db, accountId }, { utr }) {
    const { send, mailingId } = requireExtendable(db, accountId, utr);
    const count = () => countNewRecipients(db.$client, mailingId, send.unsubscribe_group_id, startOfEnqueueing(send));
    return { count: await withinShare(accountId, count) };
  },
});

export const sendToJoined = operation({
  name: 'Send a completed single send to the contacts who joined its audience after it was sent (addition)',
  description:
    'These contacts get the e-mail as it was sent, at once, and count in the same report. Earlier recipients get nothing.',
  role: 'editor',
  input: ByUtr,
  async run({ db, clock, wake, accountId }, { utr }) {
    const { send } = requireExtendable(db, accountId, utr);
    const segments = [...send.recipient_id, ...send.exclude_specific_recipient_id]
      .filter(({ table }) => table === 'segments')
      .map(({ id }) => Number(id));
    await recomputeAndWait(db, segments, clock);
    const mailingId = inTransaction(db, () => {
      const extended = requireExtendable(db, accountId, utr);
      enqueueAgain(db.$client, extended.mailingId, JSON.stringify(startOfEnqueueing(extended.send)));
      runAgain(db, extended.send.id, isoTimestamp(clock.now()));
      return extended.mailingId;
    });
    wake();
    await waitForAcknowledgement(db.$client, mailingId);
  },
});

/** Returns the progress with which enqueueing begins at the first target. */
const startOfEnqueueing = (send: SingleSend): EnqueueProgress => ({
  targets: send.recipient_id,
  excluded: send.exclude_specific_recipient_id,
  target: 0,
  after: 0,
});

/**
 * Returns a single send that can get more recipients, and the id of its mailing. Throws 404 if there is no such single send, and 409 if it
 * is not completed, has an A/B test, its sender or one of its targets was deleted, or the rules of a target cannot be evaluated.
 */
function requireExtendable(db: Db, accountId: number, utr: unknown): { send: SingleSend; mailingId: number } {
  const send = requireSingleSend(db, accountId, utr);
  const mailing = findSingleSendMailing(db, send);
  if (mailing?.state !== 'done') throw conflict(sentence('joined_unfinished'));
  // The recipients of an A/B test are divided among its variants at the launch, so later recipients would have no variant.
  if (send.ab_test !== null) throw conflict(sentence('joined_tested'));
  const sender = db
    .select({ deleted_at: senders.deleted_at })
    .from(senders)
    .where(eq(senders.id, send.sender_id))
    .get();
  if (sender === undefined || sender.deleted_at !== null) throw conflict(sentence('held_sender_deleted'));
  const targets = [...send.recipient_id, ...send.exclude_specific_recipient_id];
  const problem = missingTarget(db, targets) ?? targetProblem(db, targets);
  if (problem !== null) throw conflict(problem);
  return { send, mailingId: mailing.id };
}
