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

/** The number grows by 1 with a change that the previous release does not understand. The newer side then uses the older protocol. */
export const PROTOCOL = 1;

/** Returns true if the other side's protocol is at most one number apart. */
export function isUnderstood(protocol: number): boolean {
  return Math.abs(protocol - PROTOCOL) <= 1;
}

/** A node whose lease was not renewed within this time starts no mail. The node measures this time from before it sent the heartbeat. */
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

/** Returns true if a run belongs to the node with this name. */
export function isRunOf(run: string, name: string): boolean {
  return run.startsWith(`${name}.`);
}

/** Returns the name of the node to which a run belongs. Names contain no dot. */
export function nodeOf(run: string): string {
  return run.slice(0, run.indexOf('.'));
}

/** Returns the subject on which a run of a node receives commands. */
export function commandSubject(run: string): string {
  return `sendlark.node.${run}`;
}

/** Mails that a node must no longer start. They are on pages up to `upTo`: all mails, or only those of a mailing, a page or some deliveries. */
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
  /** How many recipients the node takes at a time for mail over any relay; 0: none now. */
  capacity: number;
  /** The number of mails per second that the node's relays recently accepted. */
  rate: number;
  /** Why the relays reject the node; empty if they do not reject it. */
  refusal: string;
  /** The capacity and the refusal for mail bound to each stored SMTP relay; absent if the node has its own relays. */
  relays?: RelayShare[] | undefined;
  /** The setting WARM_UP: the number of mails on the first day; 0 or absent: no ceiling. */
  warmUp?: number;
  /** True while the node shuts down and finishes mails in progress. */
  isEnding?: boolean;
  /** The withdrawals carried out since the previous heartbeat. */
  withdrawn: number[];
}

/** The controller's reply to a heartbeat. */
export interface BeatReply {
  protocol: number;
  brain: string;
  /** True if the lease is renewed. */
  isRenewed: boolean;
  /** True if the node was silent for too long and its recipients were given to others. It must continue as a new run. */
  isLost: boolean;
  withdraw: Withdrawal[];
  /** A text that changes with the settings that nodes take from the controller. */
  settings: string;
}

/** A recipient on a page: delivery id, address id, normalized e-mail address, and the values of the page's fields. */
export type PageRow = [id: number, addressId: number, email: string, ...values: (string | null)[]];

/** Returns true if two runs of the controller belong to the same installation. Another installation has other contacts under the same ids. */
export function isSameInstallation(run: string, other: string): boolean {
  return run.split('.')[0] === other.split('.')[0];
}

/** Some recipients of a mailing for one node. */
export interface Page {
  id: number;
  mailing: Pick<OpenMailing, 'id' | 'user_id' | 'unsubscribe_group_id' | 'owner_kind' | 'relay_id'>;
  /** The name under which a node requests the content of the mailing, once. */
  content: string;
  fields: string[];
  rows: PageRow[];
  /** The proofs that the node was given the deliveries, in the order of the rows. The node returns each proof with its outcome. */
  proofs?: string[];
  /** True if the account keeps mails as sent, so that reports say what was sent. */
  isKept?: boolean;
}

/** A command of the controller to a node. The node replies once the command is in effect. */
export interface Command {
  brain: string;
  page?: Page;
  /** The name under which the node requests a page that is too large for a message, as it requests content. */
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
  /** The reply in its stored form. */
  reply?: string,
  /** The proof that came with the page. */
  proof?: string,
  /** For an accepted mail that is kept as sent: when it was rendered, epoch milliseconds, and its SHA-256 in hexadecimal digits. */
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
  /** The recipients that the node still has, by page; sent after a restart of the controller. */
  has?: [page: number, number[]][];
  /** True if the node shuts down and has no recipients any more. */
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

/** Returns what a node reported about the sent message; null if it reported nothing about the message. */
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

/** Decodes a reported outcome. Returns `withdrawn` for an outcome that this release does not know. */
export function outcomeOf([, kind, stage, code = 0, enhanced = null, reply = '']: Ended): Outcome | 'withdrawn' {
  if (kind === undefined || stage === undefined || !KINDS.includes(kind) || !STAGES.includes(stage)) return 'withdrawn';
  const text = reply.slice(0, MAX_REPLY);
  const message = readStored(text);
  const replyText = message instanceof Sentence && !SAID_BY_NODES.includes(message.code) ? text : message;
  return { kind, stage, code, enhanced, reply: withTexts(replyText, oneLine) };
}

/** Returns the proof that a node sent with a result; empty if it sent none. */
export function proofOf([, , , , , , proof = '']: Ended): string {
  return proof;
}

function oneLine(text: string): string {
  return text.toWellFormed().replace(UNPRINTABLE, ' ');
}

/** The size in bytes of the parts in which content is sent. */
export const CONTENT_PART = 512 * 1024;
/** The byte before each part: it is the last part, more parts follow, or the content is unknown. */
export const PART = { last: 0, more: 1, unknown: 2 } as const;
