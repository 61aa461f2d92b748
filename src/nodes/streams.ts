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
  /** Followed by the account, the person and the list, so that the newest choice can be told, and what a person chose be erased. */
  consents: `${ROOT}.consents`,
  hits: `${ROOT}.hits`,
  /** Followed by the node's name. */
  results: `${ROOT}.results`,
  /** Questions of nodes to the brain about one recipient or mailing, answered at once or not at all. */
  ask: `${ROOT}.ask`,
} as const;

/** Key-value buckets. */
export const BUCKET = {
  /** The secrets of links: only the brain and nodes may read it. */
  secrets: 'SENDLARK_SECRETS',
  /** Content of mailings. */
  content: 'SENDLARK_CONTENT',
  /** Pictures of mails. */
  pictures: 'SENDLARK_PICTURES',
} as const;

type Limits = Pick<StreamConfig, 'name' | 'subjects'> & Partial<StreamConfig>;

/** How many choices of a person about a list are kept. The newest says how it is; those before it are the proof of how it came to be. */
const MAX_CHOICES = 8;
/** Opens and clicks of many millions of mails. What is older makes room, so that whoever clicks without end cannot fill the disk. */
const MAX_HIT_BYTES = 512 * 1024 * 1024;
/** When older ones are removed. */
export const MAX_HIT_AGE_MS = 30 * DAY_MS;
/** Reports of some ten million mails, which only a restored backup reads again. */
const MAX_RESULT_BYTES = 512 * 1024 * 1024;
/** Longer than any choice with its text. */
const MAX_CHOICE_BYTES = 64 * 1024;

const STREAMS: readonly Limits[] = [
  {
    name: STREAM.consents,
    subjects: [`${SUBJECT.consents}.>`],
    max_msgs_per_subject: MAX_CHOICES,
    max_msg_size: MAX_CHOICE_BYTES,
    allow_direct: true,
    duplicate_window: nanos(120_000),
  },
  {
    name: STREAM.hits,
    subjects: [SUBJECT.hits],
    max_age: nanos(MAX_HIT_AGE_MS),
    max_bytes: MAX_HIT_BYTES,
    duplicate_window: nanos(120_000),
  },
  {
    name: STREAM.results,
    subjects: [`${SUBJECT.results}.>`],
    max_age: nanos(30 * DAY_MS),
    max_bytes: MAX_RESULT_BYTES,
    duplicate_window: nanos(120_000),
  },
];
/** The copies of everything in a cluster: two servers keep it going when one is lost. */
const CLUSTER_REPLICAS = 3;

/**
 * Makes the streams and buckets that are missing and brings limits up to date: three copies of each in a cluster, one on a
 * single server. Throws while NATS cannot do it, such as a cluster that has lost its majority; then to be tried again.
 */
export async function makeStreams(connection: NatsConnection): Promise<void> {
  const manager = await jetstreamManager(connection);
  const client = jetstream(connection);
  const values = new Kvm(client);
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
}

/** When each stream and bucket that is there now was made, by its name in JetStream. Throws while NATS does not answer. */
export async function streamsMade(connection: NatsConnection): Promise<Map<string, string>> {
  const manager = await jetstreamManager(connection, { checkAPI: false });
  const made = new Map<string, string>();
  for await (const { config, created } of manager.streams.list()) made.set(config.name, String(created));
  return made;
}

/** The names of everything that the brain makes. */
export const EVERY_STREAM: readonly string[] = [
  ...Object.values(STREAM),
  ...Object.values(BUCKET).map((bucket) => `KV_${bucket}`),
];

async function findStream(manager: JetStreamManager, name: string) {
  try {
    return await manager.streams.info(name);
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound) return null;
    throw error;
  }
}
