/**
 * The protocol between the controller and its sender nodes: JSON with a protocol number, so that adjacent releases work together. In
 * subjects and fields the controller is called `brain`, for compatibility with earlier releases.
 */
import type { OpenMailing } from '../delivery/queue/mailing-state.ts';
import type { MailingSource } from '../delivery/queue/ready-mailing.ts';
import type { Outcome } from '../delivery/transport/courier.ts';
import type { Relay } from '../delivery/transport/smtp/relay-urls.ts';
import { Sentence, type SentenceCode } from '../errors/sentences.ts';
import { readStored, stored, withTexts } from '../errors/stored.ts';

/** Increased by a change that the previous release does not understand. The newer side then uses the older protocol. */
export const PROTOCOL = 1;

/** Whether the other side's protocol is at most one release apart. */
export function isUnderstood(protocol: number): boolean {
  return Math.abs(protocol - PROTOCOL) <= 1;
}

/** A node whose lease was not renewed within this time starts no mail. The node measures the time from before it sent the request. */
export const NODE_LEASE_MS = 7000;
/** How often a node renews its lease. */
export const BEAT_MS = 1000;

/** Subjects on which the controller replies to nodes. */
export const CONTROLLER_SUBJECT = {
  /** Followed by the node's name. */
  beat: 'sendlark.brain.beat',
  content: 'sendlark.brain.content',
  settings: 'sendlark.brain.settings',
} as const;

/** Whether a run belongs to the node with this name. */
export function isRunOf(run: string, name: string): boolean {
  return run.startsWith(`${name}.`);
}

/** The name of the node to which a run belongs; names contain no dot. */
export function nodeOf(run: string): string {
  return run.slice(0, run.indexOf('.'));
}

/** The subject on which a run of a node receives commands. */
export function commandSubject(run: string): string {
  return `sendlark.node.${run}`;
}

/** Mails that a node must no longer start, on pages up to a number: all of them, or only those of the given mailing, page or deliveries. */
export interface Withdrawal {
  number: number;
  upTo: number;
  mailing?: number;
  page?: number;
  deliveries?: number[];
}

/** A node's capacity for a stored SMTP relay. */
export interface RelayShare {
  id: number;
  capacity: number;
  refusal: string;
}

/** A node's heartbeat. */
export interface Beat {
  protocol: number;
  version: string;
  /** The node's name and a random part, so that a restarted node is a different run. */
  run: string;
  name: string;
  /** The run of the controller whose pages the node takes; empty at first. */
  brain: string;
  /** How many recipients it takes at a time for mail over any relay; 0: none now. */
  capacity: number;
  /** The number of mails per second that its relays recently accepted. */
  rate: number;
  /** Why its relays reject it; empty if they do not. */
  refusal: string;
  /** The capacity and the refusal for mail bound to each stored SMTP relay; absent if the node has its own relays. */
  relays?: RelayShare[] | undefined;
  /** Its WARM_UP: the number of mails on the first day; 0 or absent: no ceiling. */
  warmUp?: number;
  /** It is shutting down, and finishes mails in progress. */
  isEnding?: boolean;
  /** The withdrawals carried out since the previous heartbeat. */
  withdrawn: number[];
}

export interface BeatReply {
  protocol: number;
  brain: string;
  /** Whether the lease is renewed. */
  isRenewed: boolean;
  /** The node was silent for too long, and its recipients were given to others. It must continue as a new run. */
  isLost: boolean;
  withdraw: Withdrawal[];
  /** Changes with the settings that nodes take from the controller. */
  settings: string;
}

/** A recipient on a page: delivery id, address id, normalized e-mail address, and the values of the page's fields. */
export type PageRow = [id: number, addressId: number, email: string, ...values: (string | null)[]];

/** Whether two runs of the controller belong to the same installation. In another installation, the same ids refer to other contacts. */
export function isSameInstallation(brain: string, other: string): boolean {
  return brain.split('.')[0] === other.split('.')[0];
}

/** Some recipients of a mailing for one node. */
export interface Page {
  id: number;
  mailing: Pick<OpenMailing, 'id' | 'user_id' | 'unsubscribe_group_id' | 'owner_kind' | 'relay_id'>;
  /** The name of the content, with which a node requests it once. */
  content: string;
  fields: string[];
  rows: PageRow[];
  /** In the order of the rows: the proof that the node was given this delivery, which it returns with the outcome. */
  proofs?: string[];
  /** Whether the account keeps mails as sent, so that reports say what was sent. */
  isKept?: boolean;
}

/** A command of the controller to a node; the node replies once it is in effect. */
export interface Command {
  brain: string;
  page?: Page;
  /** For a page too large for a message: the name under which the node requests it, like content. */
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
  /** The secret that signs the recipients' links. */
  tokenSecret: string;
}

/** Settings that nodes take from the controller, unless they have their own. */
export interface NodeSettings {
  relays: Relay[];
  connections: number;
}

/** The outcome for a recipient. A delivery id alone means withdrawn. */
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
  /** Of an accepted mail that is kept as sent: when it was rendered, epoch milliseconds, and its SHA-256 in hexadecimal digits. */
  sent?: [renderedAt: number, digest: string],
];

/** When a sent mail was rendered, epoch milliseconds, and the SHA-256 of its message. */
export interface SentMessage {
  renderedAt: number;
  digest: Buffer;
}

/** The maximum number of outcomes in a report. */
export const MAX_ENDED = 1000;

/** A node's report on the stream of results. */
export interface Report {
  protocol: number;
  run: string;
  brain: string;
  ended: [page: number, Ended[]][];
  /** The recipients it still has, by page; sent after a restart of the controller. */
  has?: [page: number, number[]][];
  /** It is shutting down and has no recipients left. */
  isLast?: boolean;
}

/** Encodes an outcome for a report. */
export function endedAs(
  id: number,
  outcome: Outcome | 'withdrawn',
  proof?: string,
  sent: SentMessage | null = null,
): Ended {
  if (outcome === 'withdrawn') return [id];
  const { kind, stage, code, enhanced } = outcome;
  const reply = stored(outcome.reply).slice(0, MAX_REPLY);
  if (proof === undefined) return [id, kind, stage, code, enhanced, reply];
  return sent === null || kind !== 'accepted'
    ? [id, kind, stage, code, enhanced, reply, proof]
    : [id, kind, stage, code, enhanced, reply, proof, [sent.renderedAt, sent.digest.toString('hex')]];
}

/** Returns what a node reported of a sent message; null if it reported nothing. */
export function sentOf([, , , , , , , sent]: Ended): SentMessage | null {
  return sent === undefined ? null : { renderedAt: sent[0], digest: Buffer.from(sent[1], 'hex') };
}

/** Characters removed from an SMTP relay's reply, because it is shown and exported as one line. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;
const MAX_REPLY = 1000;
/**
 * Sentences with which a node itself may fail a mail. Any other sentence in a report counts as an SMTP relay's reply, for example one which
 * claims that the mail was kept in the outbox.
 */
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

/** Decodes a reported outcome; withdrawn if this release does not know it. */
export function outcomeOf([, kind, stage, code = 0, enhanced = null, reply = '']: Ended): Outcome | 'withdrawn' {
  if (kind === undefined || stage === undefined || !KINDS.includes(kind) || !STAGES.includes(stage)) return 'withdrawn';
  const text = reply.slice(0, MAX_REPLY);
  const message = readStored(text);
  const replyText = message instanceof Sentence && !SAID_BY_NODES.includes(message.code) ? text : message;
  return { kind, stage, code, enhanced, reply: withTexts(replyText, oneLine) };
}

function oneLine(text: string): string {
  return text.toWellFormed().replace(UNPRINTABLE, ' ');
}

/** The size of the parts in which content is sent; each is preceded by a byte that tells whether more follow. */
export const CONTENT_PART = 512 * 1024;
export const PART = { last: 0, more: 1, unknown: 2 } as const;
