/**
 * Validates messages of sender nodes completely before using any part of them. A node may run another release, have a bug, or be controlled
 * by an attacker.
 */
import { isObject, parseJson } from '../../json.ts';
import { MEBIBYTE } from '../../units.ts';
import { type Beat, type Ended, isRunOf, MAX_ENDED, type RelayShare, type Report } from '../protocol.ts';

/** The default limit of NATS for the size of a message. */
const MAX_BYTES = MEBIBYTE;
/** Limits for the texts of messages, in characters. */
const MAX_NAME = 200;
const MAX_WORD = 20;
const SHA256_DIGITS = 64;
const MAX_VERSION = 100;
/** More characters than are stored of an SMTP relay's reply. */
const MAX_REPLY = 4000;
const MAX_RELAYS = 1000;
/** The maximum number of withdrawals or pages that a node has at a time. */
const MAX_LISTED = 100_000;

/** Returns the node's name in a subject. NATS permissions allow each node only the subjects with its own name. */
export function nodeInSubject(subject: string): string {
  return subject.slice(subject.lastIndexOf('.') + 1);
}

/** Returns the report in a message; null if any part of the message is malformed. */
export function readReport(bytes: Uint8Array): Report | null {
  const message = parse(bytes);
  if (!isObject(message)) return null;
  const { protocol, run, brain, ended, has, isLast } = message;
  if (!isCount(protocol) || !isText(run, MAX_NAME) || !isText(brain, MAX_NAME)) return null;
  if (!isEndedPages(ended) || !(has === undefined || isHeldPages(has))) return null;
  if (!(isLast === undefined || typeof isLast === 'boolean')) return null;
  return { protocol, run, brain, ended, ...(has && { has }), ...(isLast !== undefined && { isLast }) };
}

/** Returns the heartbeat in a message of the node with this name; null if any part is malformed, or if the message names another node. */
export function readBeat(bytes: Uint8Array, node: string): Beat | null {
  const message = parse(bytes);
  if (!isObject(message)) return null;
  const { protocol, version, run, name, brain, capacity, rate, refusal, relays, warmUp, isEnding, withdrawn } = message;
  if (!isCount(protocol) || !isText(version, MAX_VERSION) || !isText(brain, MAX_NAME)) return null;
  if (!isText(run, MAX_NAME) || !isRunOf(run, node) || name !== node) return null;
  if (!isAmount(capacity) || !isAmount(rate) || !isText(refusal, MAX_REPLY)) return null;
  if (!(relays === undefined || isRelays(relays)) || !(warmUp === undefined || isCount(warmUp))) return null;
  if (!(isEnding === undefined || typeof isEnding === 'boolean') || !isIds(withdrawn)) return null;
  return {
    protocol,
    version,
    run,
    name: node,
    brain,
    capacity,
    rate,
    refusal,
    withdrawn,
    ...(relays && { relays }),
    ...(warmUp !== undefined && { warmUp }),
    ...(isEnding !== undefined && { isEnding }),
  };
}

/** Returns the name of the content that a node requests, and the offset in bytes; null if the request is malformed. */
export function readContentRequest(bytes: Uint8Array): { name: string; from: number } | null {
  const message = parse(bytes);
  if (!isObject(message)) return null;
  const { name, from } = message;
  return isText(name, MAX_NAME) && isCount(from) ? { name, from } : null;
}

function isEndedPages(message: unknown): message is Report['ended'] {
  if (!Array.isArray(message)) return false;
  let results = 0;
  return message.every((pair: unknown) => {
    if (!isPair(pair) || !isId(pair[0]) || !Array.isArray(pair[1])) return false;
    results += pair[1].length;
    return results <= MAX_ENDED && pair[1].every(isEnded);
  });
}

/** Checks only the length of kinds and stages, because a newer release may send unknown ones, which count as withdrawn. */
function isEnded(message: unknown): message is Ended {
  if (!Array.isArray(message)) return false;
  const [id, kind, stage, code, enhanced, reply, proof, sent]: unknown[] = message;
  if (!isId(id)) return false;
  if (message.length === 1) return true;
  return (
    isText(kind, MAX_WORD) &&
    isText(stage, MAX_WORD) &&
    isCount(code) &&
    code <= 999 &&
    (enhanced === null || (isText(enhanced, MAX_WORD) && /^[245]\.\d{1,3}\.\d{1,3}$/.test(enhanced))) &&
    isText(reply, MAX_REPLY) &&
    (proof === undefined || isText(proof, MAX_WORD)) &&
    (sent === undefined || isSent(sent))
  );
}

/** Returns true if a value is a time, in epoch milliseconds, and a SHA-256 in hexadecimal digits. */
function isSent(message: unknown): boolean {
  return (
    isPair(message) && isCount(message[0]) && isText(message[1], SHA256_DIGITS) && /^[0-9a-f]{64}$/.test(message[1])
  );
}

function isHeldPages(message: unknown): message is NonNullable<Report['has']> {
  return (
    Array.isArray(message) &&
    message.length <= MAX_LISTED &&
    message.every((pair: unknown) => isPair(pair) && isId(pair[0]) && isIds(pair[1]))
  );
}

function isRelays(message: unknown): message is RelayShare[] {
  return (
    Array.isArray(message) &&
    message.length <= MAX_RELAYS &&
    message.every(
      (relay: unknown) =>
        isObject(relay) && isId(relay.id) && isAmount(relay.capacity) && isText(relay.refusal, MAX_REPLY),
    )
  );
}

function isIds(message: unknown): message is number[] {
  return Array.isArray(message) && message.length <= MAX_LISTED && message.every(isId);
}

function isPair(message: unknown): message is [unknown, unknown] {
  return Array.isArray(message) && message.length === 2;
}

function isId(value: unknown): value is number {
  return isCount(value) && value > 0;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

function isText(value: unknown, max: number): value is string {
  return typeof value === 'string' && value.length <= max;
}

/** Parses the JSON of a message; undefined if it is too large or not JSON. */
function parse(bytes: Uint8Array): unknown {
  return bytes.length > MAX_BYTES ? undefined : parseJson(new TextDecoder().decode(bytes));
}
