/**
 * Objects that the controller publishes in NATS buckets for nodes. Nodes read single keys by name, because NATS can permit that for each
 * bucket. Other ways of reading need consumers, and a node that may create consumers could read any subject.
 */
import { jetstreamManager } from '@nats-io/jetstream';
import type { KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { unavailable } from '../errors/failure.ts';

/** The size of a part, which is below the maximum size of a NATS message. */
const PART_BYTES = 512 * 1024;

/** A large object with metadata. */
export interface StoredObject {
  bytes: Uint8Array;
  facts: Record<string, string>;
}

/** Returns the newest message on a subject; null if there is no message. Throws if NATS does not reply. */
export async function findNewest(
  connection: NatsConnection,
  stream: string,
  subject: string,
): Promise<Uint8Array | null> {
  const { direct } = await jetstreamManager(connection, { checkAPI: false });
  const message = await direct.getMessage(stream, { last_by_subj: subject });
  return message?.data ?? null;
}

/** Returns the value of a key; null if the key has no value. Throws if NATS does not reply. */
export function findValue(connection: NatsConnection, bucket: string, key: string): Promise<Uint8Array | null> {
  return findNewest(connection, `KV_${bucket}`, `$KV.${bucket}.${key}`);
}

/** Stores a large object in parts. Readers find the object once all parts are stored. */
export async function putObject(bucket: KV, name: string, { bytes, facts }: StoredObject): Promise<void> {
  const parts = Math.ceil(bytes.length / PART_BYTES);
  for (let part = 0; part < parts; part++)
    await bucket.put(`${name}.${part}`, bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES));
  await bucket.put(name, JSON.stringify({ parts, facts }));
}

/** Returns the object stored under this name; null if a part is missing. Throws if NATS does not reply. */
export async function findObject(
  connection: NatsConnection,
  bucket: string,
  name: string,
): Promise<StoredObject | null> {
  const head = await findValue(connection, bucket, name);
  if (head === null) return null;
  const { parts, facts }: { parts: number; facts: Record<string, string> } = JSON.parse(new TextDecoder().decode(head));
  const values = await Promise.all(
    Array.from({ length: parts }, (_, part) => findValue(connection, bucket, `${name}.${part}`)),
  );
  const present = values.filter((value) => value !== null);
  return present.length < parts ? null : { bytes: Buffer.concat(present), facts };
}

/** Returns the promise's result. Throws 503 if the promise fails or takes longer than `ms` milliseconds. */
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
