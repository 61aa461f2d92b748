/** What the brain and its sender nodes tell each other: JSON with a protocol number, so that releases beside each other work together. */
import type { OpenMailing } from '../delivery/queue/mailing-state.ts';
import type { MailingSource } from '../delivery/queue/ready-mailing.ts';
import type { Outcome } from '../delivery/transport/courier.ts';
import type { Relay } from '../delivery/transport/smtp/relay-urls.ts';
import { Sentence, type SentenceCode } from '../errors/sentences.ts';
import { readStored, stored, withTexts } from '../errors/stored.ts';

/** Raised by a change that the release before does not speak. The newer side then speaks as that release does. */
export const PROTOCOL = 1;

/** Whether the other side is at most one release apart. */
export function isUnderstood(protocol: number): boolean {
  return Math.abs(protocol - PROTOCOL) <= 1;
}

/** Without a renewal that was asked for within this time, a node begins no mail. Measured by the node, from before it asked. */
export const NODE_LEASE_MS = 7000;
/** A node that the brain has not heard for this long has lost its pages. Longer than the above, so that nothing of them begins any more. */
export const LOST_AFTER_MS = 12_000;
/** How often a node renews its lease. */
export const BEAT_MS = 1000;

/** Subjects on which the brain answers nodes. */
export const BRAIN = {
  /** Followed by the node's name. */
  beat: 'sendlark.brain.beat',
  content: 'sendlark.brain.content',
  settings: 'sendlark.brain.settings',
} as const;

/** Whether a run is one of the node with this name. */
export function isRunOf(run: string, name: string): boolean {
  return run.startsWith(`${name}.`);
}

/** The name of the node that a run is of; a name has no dot. */
export function nodeOf(run: string): string {
  return run.slice(0, run.indexOf('.'));
}

/** The subject on which a run of a node takes pages and stops. */
export function commandSubject(run: string): string {
  return `sendlark.node.${run}`;
}

/** What a node may no longer begin: of the pages up to a number all, or what is named. */
export interface Withdrawal {
  number: number;
  upTo: number;
  mailing?: number;
  page?: number;
  deliveries?: number[];
}

/** What a node takes for a relay of the service's file. */
export interface RelayShare {
  id: number;
  capacity: number;
  refusal: string;
}

/** A node's sign of life. */
export interface Beat {
  protocol: number;
  version: string;
  /** A run of a node has the node's name and a random one, so that a node that is started again is another. */
  run: string;
  name: string;
  /** The run of the brain whose pages the node takes; empty at first. */
  brain: string;
  /** How many recipients it takes at a time for mail that may go over any relay; 0: none now. */
  capacity: number;
  /** Mails a second that its relays took lately. */
  rate: number;
  /** Why its relays take no mail from it; empty when they do. */
  refusal: string;
  /** The same for mail that must go over one relay of the service's file; absent when the node has its own relays. */
  relays?: RelayShare[] | undefined;
  /** Its WARM_UP: mails on the first day; 0 or absent: no ceiling. */
  warmUp?: number;
  /** It was told to end, and finishes what is in flight. */
  isEnding?: boolean;
  /** The withdrawals it has carried out since the beat before. */
  withdrawn: number[];
}

export interface BeatReply {
  protocol: number;
  brain: string;
  /** Whether the lease is renewed. */
  isRenewed: boolean;
  /** The node was silent for too long: what it has is with others. It must go on as a new run. */
  isLost: boolean;
  withdraw: Withdrawal[];
  /** Changes with the settings that nodes take from the brain. */
  settings: string;
}

/** A recipient on a page: delivery, address, normalized e-mail, and the values of the page's fields. */
export type PageRow = [id: number, addressId: number, email: string, ...values: (string | null)[]];

/** Whether two runs of the brain are of one installation. Another one's reports are about other people with the same numbers. */
export function isSameInstallation(brain: string, other: string): boolean {
  return brain.split('.')[0] === other.split('.')[0];
}

/** Some recipients of a mailing for one node. */
export interface Page {
  id: number;
  mailing: Pick<OpenMailing, 'id' | 'user_id' | 'unsubscribe_group_id' | 'owner_kind' | 'relay_id'>;
  /** The name of the content, by which a node asks for it once. */
  content: string;
  fields: string[];
  rows: PageRow[];
  /** By row: the proof that the node was given this delivery, which it gives back with what became of it. */
  proofs?: string[];
}

/** What the brain tells a node; the node answers once it is in effect. */
export interface Command {
  brain: string;
  page?: Page;
  /** A page that is too large for a message: the name under which the node asks for it, as for content. */
  pageIn?: string;
  withdraw?: Withdrawal[];
}

export interface CommandReply {
  isTaken: boolean;
}

/** The content of a mailing, with the key that signs its mails. */
export interface NodeContent {
  source: MailingSource;
  key: { domain: string; selector: string; privateKey: string } | null;
  /** What the links of its recipients are signed with. */
  tokenSecret: string;
}

/** What nodes take from the brain, unless they have their own. */
export interface NodeSettings {
  relays: Relay[];
  connections: number;
}

/** What became of a recipient: the delivery alone was withdrawn. */
export type Ended = [
  id: number,
  kind?: Outcome['kind'],
  stage?: Outcome['stage'],
  code?: number,
  enhanced?: string | null,
  /** In its stored form. */
  reply?: string,
  /** The proof that came with the page. */
  proof?: string,
];

/** What a report holds at most. */
export const MAX_ENDED = 1000;

/** What a node reports on the stream of results. */
export interface Report {
  protocol: number;
  run: string;
  brain: string;
  ended: [page: number, Ended[]][];
  /** The recipients it still has, by page: after the brain was started again. */
  has?: [page: number, number[]][];
  /** It ends, and has nothing any more. */
  isLast?: boolean;
}

/** An outcome as it is reported. */
export function endedAs(id: number, outcome: Outcome | 'withdrawn', proof?: string): Ended {
  if (outcome === 'withdrawn') return [id];
  const { kind, stage, code, enhanced } = outcome;
  const reply = stored(outcome.reply).slice(0, MAX_REPLY);
  return proof === undefined
    ? [id, kind, stage, code, enhanced, reply]
    : [id, kind, stage, code, enhanced, reply, proof];
}

/** What is not in a line: the reply of a relay is shown and exported as one. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;
const MAX_REPLY = 1000;
/** Why a node fails a mail. Whatever else a report seems to say is what a relay said, such as that the mail was kept in the outbox. */
const SAID_BY_NODES: readonly SentenceCode[] = ['not_built', 'merged_too_large', 'merged_subject_too_long'];

const KINDS: readonly string[] = ['accepted', 'deferred', 'refused', 'held'] satisfies Outcome['kind'][];
const STAGES: readonly string[] = [
  'connect',
  'tls',
  'auth',
  'mail',
  'rcpt',
  'data',
  'body',
] satisfies Outcome['stage'][];

/** The outcome that was reported; withdrawn when it is none that this release knows. */
export function outcomeOf([, kind, stage, code = 0, enhanced = null, reply = '']: Ended): Outcome | 'withdrawn' {
  if (kind === undefined || stage === undefined || !KINDS.includes(kind) || !STAGES.includes(stage)) return 'withdrawn';
  const text = reply.slice(0, MAX_REPLY);
  const given = readStored(text);
  const said = given instanceof Sentence && !SAID_BY_NODES.includes(given.code) ? text : given;
  return { kind, stage, code, enhanced, reply: withTexts(said, oneLine) };
}

function oneLine(text: string): string {
  return text.toWellFormed().replace(UNPRINTABLE, ' ');
}

/** The parts in which content is sent, each after a byte that says what follows. */
export const CONTENT_PART = 512 * 1024;
export const PART = { last: 0, more: 1, unknown: 2 } as const;
