/**
 * Objects that the controller publishes in NATS buckets for nodes. Nodes read single keys by name, because NATS can permit that per bucket;
 * the consumers that other ways of reading need could be pointed at any subject.
 */
import { jetstreamManager } from '@nats-io/jetstream';
import type { KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { unavailable } from '../errors/failure.ts';

/** Below the maximum size of a NATS message. */
const PART_BYTES = 512 * 1024;

/** A large object with metadata. */
export interface Stored {
  bytes: Uint8Array;
  facts: Record<string, string>;
}

/** The newest message on a subject, or null if there is none. Throws if NATS does not reply. */
export async function findNewest(
  connection: NatsConnection,
  stream: string,
  subject: string,
): Promise<Uint8Array | null> {
  const { direct } = await jetstreamManager(connection, { checkAPI: false });
  const message = await direct.getMessage(stream, { last_by_subj: subject });
  return message?.data ?? null;
}

/** The value of a key, or null if there is none. Throws if NATS does not reply. */
export function findValue(connection: NatsConnection, bucket: string, key: string): Promise<Uint8Array | null> {
  return findNewest(connection, `KV_${bucket}`, `$KV.${bucket}.${key}`);
}

/** Stores a large object in parts. Readers find it once all parts are there. */
export async function putWhole(bucket: KV, name: string, { bytes, facts }: Stored): Promise<void> {
  const parts = Math.ceil(bytes.length / PART_BYTES);
  for (let part = 0; part < parts; part++)
    await bucket.put(`${name}.${part}`, bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES));
  await bucket.put(name, JSON.stringify({ parts, facts }));
}

/** The object stored under this name, or null. Throws if NATS does not reply. */
export async function findWhole(connection: NatsConnection, bucket: string, name: string): Promise<Stored | null> {
  const head = await findValue(connection, bucket, name);
  if (head === null) return null;
  const { parts, facts }: { parts: number; facts: Record<string, string> } = JSON.parse(new TextDecoder().decode(head));
  const values = await Promise.all(
    Array.from({ length: parts }, (_, part) => findValue(connection, bucket, `${name}.${part}`)),
  );
  const whole = values.filter((value) => value !== null);
  return whole.length < parts ? null : { bytes: Buffer.concat(whole), facts };
}

/** The promise's result, or 503 if it fails or takes longer than `ms` milliseconds. */
export async function withTimeout<T>(promise: Promise<T>, ms: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(unavailable()), ms);
  try {
    return await Promise.race([promise, late]);
  } catch {
    throw unavailable();
  } finally {
    clearTimeout(timer);
  }
}
