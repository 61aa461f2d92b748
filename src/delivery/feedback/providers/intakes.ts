/** The event URLs that accounts give to their mail providers, with their secrets and counts. */
import type { Database } from 'better-sqlite3';
import type { MailProvider, providerIntakes } from '../../../database/schema/index.ts';
import { isoTimestamp } from '../../../time/clock.ts';
import { openText, sealText } from '../../transport/relays/sealing.ts';
import type { RefusalCode } from './provider-event.ts';

type StoredIntake = typeof providerIntakes.$inferSelect;
export type Intake = Pick<StoredIntake, 'id' | 'user_id' | 'provider' | 'sealed_secret' | 'topic'>;

/** The number of events by effect. */
export type EventCounts = Pick<
  StoredIntake,
  'permanent' | 'returned' | 'temporary' | 'complaints' | 'unsubscribes' | 'others' | 'unmatched' | 'duplicates'
>;

/** Adds an intake and returns its id. `secret` is null if the URL itself is the secret. */
export function storeIntake(
  client: Database,
  { accountId, provider, secret }: { accountId: number; provider: MailProvider; secret: string | null },
  now: Date,
): number {
  const sealed = secret === null ? null : sealText(client, secret, purposeOf(accountId, provider));
  const { lastInsertRowid } = client
    .prepare('INSERT INTO provider_intakes (user_id, provider, sealed_secret, created_at) VALUES (?, ?, ?, ?)')
    .run(accountId, provider, sealed, isoTimestamp(now));
  return Number(lastInsertRowid);
}

/** Removes an intake, so that its URL no longer works. The caller must have checked that the intake belongs to the account. */
export function removeIntake(client: Database, id: number): void {
  client.prepare('DELETE FROM provider_intakes WHERE id = ?').run(id);
}

/** Returns the intake with this id; undefined if there is none. */
export function findIntake(client: Database, id: number): Intake | undefined {
  return client
    .prepare<[number], Intake>('SELECT id, user_id, provider, sealed_secret, topic FROM provider_intakes WHERE id = ?')
    .get(id);
}

/** Returns the key or password of an intake; null if the intake has none or if the secret cannot be decrypted. */
export function openIntakeSecret(client: Database, intake: Intake): string | null {
  const { sealed_secret: sealed, user_id, provider } = intake;
  return sealed === null ? null : openText(client, sealed, purposeOf(user_id, provider));
}

/** Stores the topic of a subscription. Returns false if a different topic was confirmed before. */
export function keepTopic(client: Database, id: number, topic: string): boolean {
  const { changes } = client
    .prepare('UPDATE provider_intakes SET topic = ? WHERE id = ? AND (topic IS NULL OR topic = ?)')
    .run(topic, id, topic);
  return changes > 0;
}

/** Adds to the counts of an intake. `remembered` is the change in the number of rows in provider_event_keys. */
export function countEvents(
  client: Database,
  id: number,
  counts: EventCounts,
  { name, remembered, now }: { name: string; remembered: number; now: Date },
): void {
  client
    .prepare(`UPDATE provider_intakes SET permanent = permanent + @permanent, returned = returned + @returned,
       temporary = temporary + @temporary, complaints = complaints + @complaints, unsubscribes = unsubscribes + @unsubscribes,
       others = others + @others, unmatched = unmatched + @unmatched, duplicates = duplicates + @duplicates,
       remembered = remembered + @remembered, last_event = @name, last_event_at = @at WHERE id = @id`)
    .run({ ...counts, id, name, remembered, at: isoTimestamp(now) });
}

/** Adds to an intake's number of refused requests. */
export function countRefusals(client: Database, id: number, code: RefusalCode, times: number, now: Date): void {
  client
    .prepare('UPDATE provider_intakes SET refused = refused + ?, last_refusal = ?, last_refused_at = ? WHERE id = ?')
    .run(times, code, isoTimestamp(now), id);
}

function purposeOf(accountId: number, provider: MailProvider): string {
  return `events/${provider}/${accountId}`;
}
