/** Names of what is kept in JetStream, with its limits, and how the brain makes it. Nodes only use it: they have no right to make any. */
import {
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { Objm } from '@nats-io/obj';
import { type NatsConnection, nanos } from '@nats-io/transport-node';

/** Prefix of all subjects. */
const ROOT = 'sendlark';
const DAY_MS = 24 * 60 * 60 * 1000;

export const STREAM = {
  /** What recipients choose on their pages: kept for ever, since a restored backup may be of any age. */
  consents: 'SENDLARK_CONSENTS',
  /** Opens and clicks, until the brain has counted them; in order. */
  hits: 'SENDLARK_HITS',
  /** What became of recipients that nodes had. */
  results: 'SENDLARK_RESULTS',
} as const;

export const SUBJECT = {
  /** Followed by the ids of account and address, so that what a person chose can be erased. */
  consents: `${ROOT}.consents`,
  hits: `${ROOT}.hits`,
  /** Followed by the node's name. */
  results: `${ROOT}.results`,
  /** Questions of nodes to the brain about one recipient or mailing, answered at once or not at all. */
  ask: `${ROOT}.ask`,
} as const;

/** Key-value buckets. */
export const BUCKET = {
  /** Keys of signatures, secrets of links, and relays: only the brain and nodes may read it. */
  secrets: 'SENDLARK_SECRETS',
} as const;

/** Object stores. */
export const STORE = {
  /** Content of mailings. */
  content: 'SENDLARK_CONTENT',
  /** Pictures of mails. */
  pictures: 'SENDLARK_PICTURES',
} as const;

type Limits = Pick<StreamConfig, 'name' | 'subjects'> & Partial<StreamConfig>;

const STREAMS: readonly Limits[] = [
  { name: STREAM.consents, subjects: [`${SUBJECT.consents}.>`], duplicate_window: nanos(120_000) },
  { name: STREAM.hits, subjects: [SUBJECT.hits], max_age: nanos(30 * DAY_MS), duplicate_window: nanos(120_000) },
  {
    name: STREAM.results,
    subjects: [`${SUBJECT.results}.>`],
    max_age: nanos(30 * DAY_MS),
    duplicate_window: nanos(120_000),
  },
];
/** The copies of everything in a cluster: two servers keep it going when one is lost. */
const CLUSTER_REPLICAS = 3;

/**
 * Makes the streams, buckets and stores that are missing and brings limits up to date: three copies of each in a cluster, one on a
 * single server. Throws while NATS cannot do it, such as a cluster that has lost its majority; then to be tried again.
 */
export async function makeStreams(connection: NatsConnection): Promise<void> {
  const manager = await jetstreamManager(connection);
  const client = jetstream(connection);
  const values = new Kvm(client);
  const objects = new Objm(client);
  // A server outside a cluster takes a wish for three copies when a stream is changed, and keeps one.
  const num_replicas = connection.info?.cluster === undefined ? 1 : CLUSTER_REPLICAS;
  const make = async (name: string, limits: Partial<StreamConfig>, add: () => Promise<unknown>) => {
    const isMissing = (await findStream(manager, name)) === null;
    await (isMissing ? add() : manager.streams.update(name, { ...limits, num_replicas }));
  };
  for (const { name, ...limits } of STREAMS) {
    const add = () =>
      manager.streams.add({
        name,
        storage: StorageType.File,
        retention: RetentionPolicy.Limits,
        discard: DiscardPolicy.Old,
        ...limits,
        num_replicas,
      });
    await make(name, limits, add);
  }
  for (const bucket of Object.values(BUCKET)) {
    await make(`KV_${bucket}`, {}, () => values.create(bucket, { replicas: num_replicas }));
  }
  for (const store of Object.values(STORE)) {
    await make(`OBJ_${store}`, {}, () => objects.create(store, { replicas: num_replicas, storage: StorageType.File }));
  }
}

async function findStream(manager: JetStreamManager, name: string) {
  try {
    return await manager.streams.info(name);
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound) return null;
    throw error;
  }
}
