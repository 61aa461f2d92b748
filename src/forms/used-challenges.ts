/** Challenges that were used, so that each counts once. */
import type { Database } from 'better-sqlite3';
import { prepared } from '../database/prepared.ts';

/** What came with a form: `none` is also a challenge that is forged, of another form, too old, or answered too fast. */
export type Proof = { kind: 'none' } | { kind: 'proven' | 'unproven'; nonce: string; expiresAt: number };

/** Marks a challenge as used; false when it was already. Call it in the transaction of what it is used for. */
export function useChallenge(client: Database, { nonce, expiresAt }: { nonce: string; expiresAt: number }): boolean {
  return (
    prepared(client, 'INSERT INTO form_challenges (nonce, expires_at) VALUES (?, ?) ON CONFLICT DO NOTHING').run(
      nonce,
      expiresAt,
    ).changes === 1
  );
}

/** Forgets used challenges that are too old to be used; gives how many. */
export function forgetChallenges(client: Database, now: number, limit: number): number {
  return prepared(
    client,
    'DELETE FROM form_challenges WHERE nonce IN (SELECT nonce FROM form_challenges WHERE expires_at < ? LIMIT ?)',
  ).run(now, limit).changes;
}
