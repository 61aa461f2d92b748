/** The messages about public pages between nodes and the controller. They are JSON, so that newer releases can add fields. */

import type { ListChange } from '../audience/unsubscribes.ts';
import { DEVICE_NAMES, type Device } from '../database/schema/index.ts';
import { sanitizeText } from '../delivery/feedback/bounces/sanitize.ts';
import type { Hit } from '../delivery/feedback/opens-and-clicks.ts';
import { type Choice, type ErasedContact, TRACKING } from '../delivery/feedback/preference-choice.ts';
import { READERS, type Reader } from '../delivery/feedback/readers.ts';
import type { FrozenContent } from '../delivery/queue/ready-mailing.ts';
import { readStored, stored, withTexts } from '../errors/stored.ts';
import { isObject, parseJson } from '../json.ts';
import type { Preferences } from '../pages/preferences.ts';
import { SUBJECT } from './streams.ts';

/** The id of the suppression list, in addition to group ids and 0 for all mail. */
export const SUPPRESSED = -1;

/**
 * Says that a contact has left a list, or is on the list again. The message describes the state rather than the change, so the newest message
 * for each contact and list suffices. The token proves that this installation issued the contact's link, even to a restored database that
 * lacks the address.
 */
export interface Consent {
  token: string;
  /** The normalized address. */
  email: string;
  /** A group id, 0 for all mail, `SUPPRESSED` or `TRACKING`. */
  list: number;
  isLeft: boolean;
  /** Epoch milliseconds. */
  at: number;
  /** The form that the contact submitted; absent if the controller publishes a change that was made in another way. */
  form?: Choice['form'];
  /** The page's text for a choice about opens and clicks. */
  text?: string;
  change?: Change;
}

/** Additional fields of changes that the controller publishes from its database. */
export interface Change {
  /** The run of the controller that made the change, whose database already has it. */
  run: string;
  /** As in the consent log. */
  source: ListChange['source'];
  /** Why the address is suppressed, with the diagnostic in its stored form; absent if the address is not suppressed. */
  suppression?: { kind: 'bounce' | 'complaint'; diagnostic: string };
}

/** Returns the subject for a contact, by the hash of `contactKey`, and a list. */
export function consentSubject(accountId: number, person: string, list: number): string {
  return `${SUBJECT.consents}.${accountId}.${person}.${list}`;
}

/** Returns the subject of the marker for an erased contact. The marker stays when the contact's choices are removed. */
export function erasedSubject({ account, person }: Pick<ErasedContact, 'account' | 'person'>): string {
  return `${SUBJECT.consents}.${account}.${person}.${ERASED}`;
}

/** Returns a wildcard for all subjects of a contact. */
export function personSubjects({ account, person }: Pick<ErasedContact, 'account' | 'person'>): string {
  return `${SUBJECT.consents}.${account}.${person}.*`;
}

const ERASED = 'erased';

/** Returns the account, the contact and the list (or `erased`) in the subject of a choice. */
export function subjectParts(subject: string): { account: number; person: string; list: string } {
  const [, , account, person = '', list = ''] = subject.split('.');
  return { account: Number(account), person, list };
}

/**
 * Returns the erased contact that a marker names; null if the message is not a marker. Throws if the marker is malformed.
 */
export function readErased(subject: string, text: string): ErasedContact | null {
  const { account, person, list } = subjectParts(subject);
  if (list !== ERASED) return null;
  const message = parseJson(text);
  if (!isObject(message) || !isId(message.address)) throw new Error('the marker of an erased contact is malformed');
  return { account, person, address: message.address };
}

/**
 * An open or a click as a row of a message: ids of delivery, mailing and address, link (null: an open), time, whether a controller of an
 * earlier release counts the hit as made by a machine, the reader, and the device.
 */
type HitRow = [...EarlierHit, reader: Reader, device: Device];
type EarlierHit = [
  delivery: number,
  mailing: number,
  address: number,
  link: number | null,
  at: number,
  isMachine: boolean,
];
/** A row as nodes of earlier and later releases send it. */
type ReceivedRow = [...EarlierHit, reader?: unknown, device?: unknown];
export const MAX_HITS_PER_MESSAGE = 200;
/** Link numbers have at most six digits. */
const MAX_LINK = 999_999;

/** Returns opens and clicks as the message that a node publishes. */
export function encodeHits(hits: readonly Hit[]): string {
  const rows = hits.map(
    ({ ids, link, at, reader, device = 'unknown' }): HitRow => [
      ids.delivery,
      ids.mailing,
      ids.address,
      link,
      at,
      reader !== 'person',
      reader,
      device,
    ],
  );
  return JSON.stringify(rows);
}

/** Returns the hits in a message; null if any part of the message is malformed. */
export function decodeHits(text: string): Hit[] | null {
  const rows = parseJson(text);
  if (!Array.isArray(rows) || rows.length > MAX_HITS_PER_MESSAGE || !rows.every(isHitRow)) return null;
  return rows.map(([delivery, mailing, address, link, at, isMachine, reader, device]) => {
    const ids = { delivery, mailing, address, group: 0, user: 0, email: '' };
    // A node of an earlier release sends no reader. It recognizes only machines, and takes some image proxies for machines.
    const machine = link === null ? 'proxied' : 'machine';
    return {
      ids,
      link,
      at,
      reader: READERS.find((known) => known === reader) ?? (isMachine ? machine : 'person'),
      device: DEVICE_NAMES.find((known) => known === device) ?? 'unknown',
    };
  });
}

function isHitRow(row: unknown): row is ReceivedRow {
  if (!Array.isArray(row)) return false;
  const [delivery, mailing, address, link, at, isMachine]: unknown[] = row;
  const isLink = link === null || (isId(link) && link <= MAX_LINK);
  return isId(delivery) && isId(mailing) && isId(address) && isLink && isMoment(at) && typeof isMachine === 'boolean';
}

/** Returns the consent in a message; null if the message is malformed. */
export function decodeConsent(json: string): Consent | null {
  const message = parseJson(json);
  if (!isObject(message)) return null;
  const { token, email, list, isLeft, at, form, change } = message;
  if (!isText(token, MAX_TOKEN) || !isText(email, MAX_EMAIL) || typeof isLeft !== 'boolean' || !isMoment(at))
    return null;
  if (!LIKE_ADDRESS.test(email)) return null;
  if (!isId(list) && list !== SUPPRESSED && list !== TRACKING) return null;
  const text = typeof message.text === 'string' ? message.text.slice(0, MAX_TEXT) : '';
  const consent = { token, email, list: Number(list), isLeft, at, text };
  if (change === undefined) {
    const knownForm = FORMS.find((known) => known === form);
    return knownForm === undefined || list === SUPPRESSED ? null : { ...consent, form: knownForm };
  }
  const validChange = readChange(change);
  const lacksSuppression = list === SUPPRESSED && isLeft && validChange?.suppression === undefined;
  return validChange === null || lacksSuppression ? null : { ...consent, change: validChange };
}

function readChange(message: unknown): Change | null {
  if (!isObject(message) || typeof message.run !== 'string') return null;
  // A source known only to a newer release must not prevent the change itself.
  const source = SOURCES.find((known) => known === message.source) ?? 'api';
  const { suppression } = message;
  if (suppression === undefined || suppression === null) return { run: message.run, source };
  if (!isObject(suppression)) return null;
  const kind = KINDS.find((known) => known === suppression.kind);
  const { diagnostic } = suppression;
  if (kind === undefined || typeof diagnostic !== 'string') return null;
  const diagnosticText = withTexts(readStored(diagnostic.slice(0, MAX_TEXT)), sanitizeText);
  return { run: message.run, source, suppression: { kind, diagnostic: stored(diagnosticText) } };
}

const FORMS = ['groups', 'leave', 'none', 'back', 'track', 'untrack', null] as const;
const MAX_TEXT = 5000;
const MAX_TOKEN = 1000;
const MAX_EMAIL = 1000;
/** Matches whatever any release may accept as an address. Addresses are checked because a node with the link secrets can sign any text. */
const LIKE_ADDRESS = /^[^\s\p{C}@]+@[^\s\p{C}@]+$/u;
/** The latest time that a date can have. */
const MAX_MOMENT = 8_640_000_000_000_000;
const SOURCES = ['api', 'one-click', 'page', 'complaint', 'provider', 'form'] as const;
const KINDS = ['bounce', 'complaint'] as const;

/** The questions that nodes ask the controller, and the answers. Null means that the database has no such record. */
export interface Questions {
  /** The ids in a token that the node cannot read itself, such as the token in a mail that was sent before the first node was set up. */
  link: { request: { purpose: string; token: string }; response: { ids: Record<string, number | string> } | null };
  preferences: { request: { token: string }; response: SentPreferences | null };
  /** The number of the variant that the recipient of a web copy got. */
  variant: { request: { token: string }; response: number | null };
  values: { request: { purpose: string; token: string }; response: Record<string, string> | null };
  /** Makes the controller publish a mailing's content, or an image, in its bucket. Returns true if it exists. */
  mailing: { request: { mailing: number }; response: boolean };
  picture: { request: { picture: string }; response: boolean };
}

export type SentPreferences = Omit<Preferences, 'unsubscribed'> & { unsubscribed: [number, number][] };

/** The published data of a mailing for its public pages. */
export interface MailingObject {
  user: number;
  groups: Preferences['groups'];
  frozen: FrozenContent;
}

/** The key under which the link secrets are published. */
export const LINKS_KEY = 'links';
/** The published link secrets, with the public URL that links begin with. */
export interface LinkSecrets {
  secrets: string[];
  publicUrl: string;
}

const MAILING_PREFIX = 'mailing-';

/** Returns the name of a mailing's content in the bucket. */
export function mailingObjectName(mailingId: number): string {
  return `${MAILING_PREFIX}${mailingId}`;
}

/** Returns the id of the mailing whose object has this name. */
export function mailingOfObject(name: string): number {
  return Number(name.slice(MAILING_PREFIX.length));
}

/** True for a time in epoch milliseconds. */
function isMoment(value: unknown): value is number {
  return isId(value) && value <= MAX_MOMENT;
}

function isText(value: unknown, maxLength: number): value is string {
  return typeof value === 'string' && value.length <= maxLength;
}

function isId(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
