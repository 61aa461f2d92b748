/** Turns single sends whose time has come into mailings: checks, freezes content and audience, or holds them with a reason. */
import { and, asc, eq, lte } from 'drizzle-orm';
import { recomputeSegment } from '../audience/recompute.ts';
import type { Clock } from '../clock.ts';
import { plainTime, wireTime } from '../clock.ts';
import { type Config, verificationRequired } from '../config.ts';
import type { Db } from '../database/open.ts';
import { links, mailings, senders, singleSends } from '../database/schema.ts';
import { releasedAt } from '../delivery/hold.ts';
import { hasAudience, type Layout } from '../delivery/layout.ts';
import { type Frozen, freezeContent } from './freeze.ts';

const MINUTE = 60_000;

type SingleSend = typeof singleSends.$inferSelect;

export interface LaunchDeps {
  db: Db;
  clock: Clock;
  config: Config;
}

/** Launches or holds every single send that is due, one after the other; gives how many there were. */
export async function launchDue(deps: LaunchDeps): Promise<number> {
  const due = deps.db
    .select()
    .from(singleSends)
    .where(and(eq(singleSends.status, 1), lte(singleSends.starts_at, deps.clock.now().getTime())))
    .orderBy(asc(singleSends.starts_at))
    .all();
  for (const send of due) {
    const reason = await launch(deps, send);
    if (reason !== null) hold(deps, send, reason);
  }
  return due.length;
}

/** Gives why it can't go, or null when it went or is no longer what it was. */
async function launch({ db, clock, config }: LaunchDeps, send: SingleSend): Promise<string | null> {
  const lateMinutes = (clock.now().getTime() - send.starts_at) / MINUTE;
  if (send.schedule_type === 1 && lateMinutes > config.SCHEDULE_GRACE_MINUTES) {
    const cause = send.starts_at <= releasedAt(db.$client) ? 'sending was held' : 'the service was not running';
    return `Missed its time by ${Math.floor(lateMinutes)} minutes: ${cause}`;
  }
  const sender = db.select().from(senders).where(eq(senders.id, send.sender_id)).get();
  if (sender === undefined || sender.deleted_at !== null) return 'The sender was deleted';
  if (sender.is_verified === 0 && verificationRequired(config)) return WAITING_FOR_SENDER;
  const layout: Layout = {
    targets: send.recipient_id,
    excluded: send.exclude_specific_recipient_id,
    target: 0,
    after: 0,
  };
  for (const { table, id } of [...layout.targets, ...layout.excluded]) {
    if (table === 'segments') await recomputeSegment(db, Number(id), clock);
  }
  if (!hasAudience(db.$client, send.user_id, send.unsubscribe_group_id, layout)) {
    return 'Nobody to send to: the audience is empty, or everyone in it has unsubscribed, bounced or is excluded';
  }
  const frozen = await freezeContent(db, config, send, sender);
  if ('problem' in frozen) return frozen.problem;
  start(db, send, frozen, layout, clock.now());
  return null;
}

/** The reason that a verification of the sender lifts. */
export const WAITING_FOR_SENDER = 'The sender is not verified yet';

/** The move 1 → 2, unless the send was changed or cancelled while it was prepared. */
function start(db: Db, send: SingleSend, { frozen, links: urls }: Frozen, layout: Layout, now: Date): void {
  db.transaction(
    (tx) => {
      const { changes } = tx
        .update(singleSends)
        .set({
          status: 2,
          sent_at: plainTime(now),
          updated_at: wireTime(now),
          held_reason: null,
          from_sender: frozen.from_email,
          reply_to: frozen.reply_to,
          sender_name: frozen.sender_name,
          sender_address: frozen.sender_address,
        })
        .where(and(eq(singleSends.id, send.id), eq(singleSends.status, 1), eq(singleSends.updated_at, send.updated_at)))
        .run();
      if (changes === 0) return;
      const { id } = tx
        .insert(mailings)
        .values({
          user_id: send.user_id,
          owner_kind: 'single',
          owner_id: send.id,
          unsubscribe_group_id: send.unsubscribe_group_id,
          content: JSON.stringify(frozen),
          state: 'layout',
          layout: JSON.stringify(layout),
          created_at: wireTime(now),
        })
        .returning({ id: mailings.id })
        .get();
      urls.forEach((url, number) => {
        tx.insert(links).values({ mailing_id: id, number, url }).run();
      });
    },
    { behavior: 'immediate' },
  );
}

/** The move 1 → 0 with a reason. */
function hold({ db, clock }: LaunchDeps, send: SingleSend, reason: string): void {
  db.update(singleSends)
    .set({ status: 0, held_reason: reason, updated_at: wireTime(clock.now()) })
    .where(and(eq(singleSends.id, send.id), eq(singleSends.status, 1), eq(singleSends.updated_at, send.updated_at)))
    .run();
}

/** Moves single sends whose mailing is done to status 3. */
export function completeDone({ db, clock }: LaunchDeps): void {
  db.$client
    .prepare(`
      UPDATE single_sends SET status = 3, updated_at = ?
      WHERE status = 2 AND EXISTS (SELECT 1 FROM mailings
        WHERE owner_kind = 'single' AND owner_id = single_sends.id AND finished_at IS NOT NULL)`)
    .run(wireTime(clock.now()));
}
