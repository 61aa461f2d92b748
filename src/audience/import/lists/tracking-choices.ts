/** What an import says about the recording of opens and clicks: kept for the addresses of its people, unless they said otherwise themselves. */
import type { Db } from '../../../database/open.ts';
import { prepared } from '../../../database/prepared.ts';
import { TRACKING_CHOICE } from '../../../database/schema/index.ts';
import { sentence } from '../../../errors/sentences.ts';
import { chooseTrackingOfMany } from '../../tracking-choice.ts';
import type { ImportJob } from '../import-options.ts';
import type { Chunk, UndoRecorder } from '../undo/recorder.ts';

/**
 * Does so for the people of a chunk, whose addresses have been written in the same transaction. It never allows what somebody refused,
 * because a file may be older than their choice.
 */
export function keepChoices(db: Db, job: ImportJob, chunk: Chunk, recorder: UndoRecorder, now: string): void {
  const client = db.$client;
  // Not a prepared statement that is kept: the temporary table is made anew for each import.
  const people = client
    .prepare<[Chunk], { address: number; choice: number; before: number }>(
      `SELECT a.id AS address, p.tracking AS choice, a.tracking_choice AS before
      FROM sorted p CROSS JOIN addresses a ON a.user_id = @user AND a.normalized_email = p.normalized
      WHERE p.rowid > @after AND p.rowid <= @until AND p.tracking <> a.tracking_choice AND a.tracking_choice <> ${TRACKING_CHOICE.refused}`,
    )
    .all(chunk);
  if (people.length === 0) return;
  const text = String(sentence('tracking_imported', { name: job.fileName }));
  const logged = chooseTrackingOfMany(client, { accountId: job.accountId, text, now }, people);
  recorder.choicesMade(logged, people);
}

/** Takes the choices of an undone import back, of those people who have made none since. */
export function undoChoices(
  db: Db,
  { accountId, records, now }: { accountId: number; records: string; now: string },
  given: object,
): void {
  const people = prepared<[object], { address: number; choice: number }>(
    db.$client,
    `SELECT u.address_id AS address, CAST(u.before AS INTEGER) AS choice FROM ${records} WHERE u.row_id = (
      SELECT max(l.id) FROM consent_log l
      WHERE l.address_id = u.address_id AND l.action IN ('tracking_allowed', 'tracking_refused', 'tracking_undone'))`,
  ).all(given);
  if (people.length === 0) return;
  chooseTrackingOfMany(db.$client, { accountId, text: String(sentence('tracking_import_undone')), now }, people);
}
