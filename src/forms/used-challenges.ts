/** Remembers used challenges, so that each is valid only once. */
import type { Database } from 'better-sqlite3';

/**
 * The proof of work that was submitted with a form. `proven`: the challenge was solved. `unproven`: the challenge is ours but was not
 * solved. `none`: no challenge was submitted, or the challenge is forged, from another form, expired or answered too fast.
 */
export type Proof = { kind: 'none' } | { kind: 'proven' | 'unproven'; nonce: string; expiresAt: number };

/** Marks a challenge as used. Returns false if it was used before. Call this in the transaction that stores the request. */
export function useChallenge(client: Database, { nonce, expiresAt }: { nonce: string; expiresAt: number }): boolean {
  return (
    client
      .prepare('INSERT INTO form_challenges (nonce, expires_at) VALUES (?, ?) ON CONFLICT DO NOTHING')
      .run(nonce, expiresAt).changes === 1
  );
}

/** Removes up to `limit` used challenges that have expired. Returns how many were removed. */
export function forgetChallenges(client: Database, now: number, limit: number): number {
  return client
    .prepare(
      'DELETE FROM form_challenges WHERE nonce IN (SELECT nonce FROM form_challenges WHERE expires_at < ? LIMIT ?)',
    )
    .run(now, limit).changes;
}
