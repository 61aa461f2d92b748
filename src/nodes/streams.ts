/**
 * The names and limits of streams and buckets in JetStream, and how the controller creates them. Nodes use streams and buckets, but may not
 * create any.
 */
import { isDeepStrictEqual } from 'node:util';
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
import { type NatsConnection, nanos } from '@nats-io/transport-node';
import { DAY_MS, MEBIBYTE } from '../units.ts';

/** The prefix of all subjects. */
const ROOT = 'sendlark';

export const STREAM = {
  /** Recipients' choices on their pages. Kept forever, because a restored backup may be of any age. */
  consents: 'SENDLARK_CONSENTS',
  /** Opens and clicks, in order, until the controller has counted them. */
  hits: 'SENDLARK_HITS',
  /** Results of the recipients given to nodes. */
  results: 'SENDLARK_RESULTS',
} as const;

export const SUBJECT = {
  /**
   * Followed by the account, the contact's hash and the list, so that the newest choice can be found and a contact's choices can be erased.
   */
  consents: `${ROOT}.consents`,
  hits: `${ROOT}.hits`,
  /** Followed by the node's name. */
  results: `${ROOT}.results`,
  /** Questions of nodes to the controller about one recipient or mailing, answered at once or not at all. */
  ask: `${ROOT}.ask`,
} as const;

/** Key-value buckets. */
export const BUCKET = {
  /** The link secrets: only the controller and nodes may read them. */
  secrets: 'SENDLARK_SECRETS',
  /** Content of mailings. */
  content: 'SENDLARK_CONTENT',
  /** Images in mails. */
  pictures: 'SENDLARK_PICTURES',
} as const;

type Limits = Pick<StreamConfig, 'name' | 'subjects'> & Partial<StreamConfig>;

/** The number of choices kept per contact and list. The newest choice is the current state; earlier ones are its history. */
const MAX_CHOICES = 8;
/** Room for the opens and clicks of many millions of mails. If there are more, the oldest are deleted, so that they cannot fill the disk. */
const MAX_HIT_BYTES = 512 * MEBIBYTE;
/** The age at which opens and clicks are deleted. */
export const MAX_HIT_AGE_MS = 30 * DAY_MS;
/** Room for reports on about ten million mails, which are read again only by a restored backup. */
const MAX_RESULT_BYTES = 512 * MEBIBYTE;
/** The maximum size of a message with a choice. It is more than any choice with its text needs. */
const MAX_CHOICE_BYTES = 64 * 1024;

/** The time within which JetStream drops a message with the id of an earlier one. */
const DUPLICATE_WINDOW_MS = 120_000;

const STREAMS: readonly Limits[] = [
  {
    name: STREAM.consents,
    subjects: [`${SUBJECT.consents}.>`],
    max_msgs_per_subject: MAX_CHOICES,
    max_msg_size: MAX_CHOICE_BYTES,
    allow_direct: true,
    duplicate_window: nanos(DUPLICATE_WINDOW_MS),
  },
  {
    name: STREAM.hits,
    subjects: [SUBJECT.hits],
    max_age: nanos(MAX_HIT_AGE_MS),
    max_bytes: MAX_HIT_BYTES,
    duplicate_window: nanos(DUPLICATE_WINDOW_MS),
  },
  {
    name: STREAM.results,
    subjects: [`${SUBJECT.results}.>`],
    max_age: nanos(30 * DAY_MS),
    max_bytes: MAX_RESULT_BYTES,
    duplicate_window: nanos(DUPLICATE_WINDOW_MS),
  },
];
/** The number of copies in a cluster: with three, two servers continue if one is lost. */
const CLUSTER_REPLICAS = 3;

/**
 * Creates missing streams and buckets, and updates limits that differ: three copies of each in a cluster, one on a single server. Throws if
 * NATS fails, for example because a cluster has lost its majority; the caller then tries again.
 *
 * Only one thread may create streams: if two create the same stream at once, a cluster may reply to neither.
 */
export async function makeStreams(connection: NatsConnection): Promise<void> {
  const manager = await jetstreamManager(connection);
  const client = jetstream(connection);
  const values = new Kvm(client);
  // When a stream is changed, a server outside a cluster accepts a request for three copies but keeps one.
  const num_replicas = connection.info?.cluster === undefined ? 1 : CLUSTER_REPLICAS;
  const make = async (name: string, ownLimits: Partial<StreamConfig>, add: () => Promise<unknown>) => {
    const limits = { ...ownLimits, num_replicas };
    const stream = await findStream(manager, name);
    if (stream === null) await add();
    else if (!hasLimits(stream.config, limits)) await manager.streams.update(name, limits);
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
}

/** Returns true if the stream exists. Throws if NATS does not reply. */
export async function hasStream(connection: NatsConnection, name: string): Promise<boolean> {
  return (await findStream(await jetstreamManager(connection, { checkAPI: false }), name)) !== null;
}

/** Returns the creation times of the existing streams and buckets, by their names in JetStream. Throws if NATS does not reply. */
export async function streamCreationTimes(connection: NatsConnection): Promise<Map<string, string>> {
  const manager = await jetstreamManager(connection, { checkAPI: false });
  const times = new Map<string, string>();
  for await (const { config, created } of manager.streams.list()) times.set(config.name, String(created));
  return times;
}

/** The names of all streams that the controller creates, including those of its buckets. */
export const ALL_STREAMS: readonly string[] = [
  ...Object.values(STREAM),
  ...Object.values(BUCKET).map((bucket) => `KV_${bucket}`),
];

/** Returns true if a stream has all of these limits. */
function hasLimits(config: StreamConfig, limits: Partial<StreamConfig>): boolean {
  return isDeepStrictEqual({ ...config, ...limits }, config);
}

async function findStream(manager: JetStreamManager, name: string) {
  try {
    return await manager.streams.info(name);
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound) return null;
    throw error;
  }
}
