/** What nodes and the brain tell each other about recipients' pages. JSON, so that releases next to each other can add fields. */
import type { ListChange } from '../audience/unsubscribes.ts';
import { type Choice, type ErasedPerson, TRACKING } from '../delivery/feedback/choice.ts';
import type { Hit } from '../delivery/feedback/opens-and-clicks.ts';
import { READERS, type Reader } from '../delivery/feedback/readers.ts';
import type { FrozenContent } from '../delivery/queue/ready-mailing.ts';
import type { Preferences } from '../pages/preferences.ts';
import { SUBJECT } from './streams.ts';

/** The list of suppressed addresses, beside groups by their ids and 0 for all mail. */
export const SUPPRESSED = -1;

/**
 * That a person left a list, or is on it again. It says how it is, not what changed, so the newest for each person and list is enough.
 * The token proves that this installation says so, also to a restored database that does not know the address.
 */
export interface Consent {
  token: string;
  /** The normalized address. */
  email: string;
  /** A group, 0 for all mail, `SUPPRESSED` or `TRACKING`. */
  list: number;
  isLeft: boolean;
  /** Epoch milliseconds. */
  at: number;
  /** The form of the page on which the person said so; missing where the brain publishes what was done in another way. */
  form?: Choice['form'];
  /** What somebody read who chose whether their opens and clicks are recorded. */
  text?: string;
  change?: Change;
}

/** What the brain adds to what it publishes from its file. */
export interface Change {
  /** The run of the brain, whose own file has the change already. */
  run: string;
  /** As in the consent log. */
  source: ListChange['source'];
  /** Why the address is suppressed, where it is. */
  suppression?: { kind: 'bounce' | 'complaint'; diagnostic: string };
}

/** The subject of a person and a list. */
export function consentSubject(account: number, person: string, list: number): string {
  return `${SUBJECT.consents}.${account}.${person}.${list}`;
}

/** The subject of the mark of a person who was erased, which stays when what they chose is removed. */
export function erasedSubject({ account, person }: Pick<ErasedPerson, 'account' | 'person'>): string {
  return `${SUBJECT.consents}.${account}.${person}.${ERASED}`;
}

/** All subjects of a person. */
export function personSubjects({ account, person }: Pick<ErasedPerson, 'account' | 'person'>): string {
  return `${SUBJECT.consents}.${account}.${person}.*`;
}

const ERASED = 'erased';

/** The erased person that a message names, or null when its subject is not that of such a mark. Throws when it is malformed. */
export function readErased(subject: string, text: string): ErasedPerson | null {
  if (!subject.endsWith(`.${ERASED}`)) return null;
  const given = parsed(text);
  const [, , account, person = ''] = subject.split('.');
  if (!isRecord(given) || !isId(given.address)) throw new Error('the mark of an erased person is malformed');
  return { account: Number(account), person, address: given.address };
}

/**
 * Opens and clicks in the order in which they came: ids of delivery, mailing and address, link (null: an open), time, whether a brain
 * of an earlier release is to count it as a machine's, and the reader.
 */
type HitRow = [
  ...ids: [delivery: number, mailing: number, address: number],
  ...hit: [link: number | null, at: number, isMachine: boolean, reader: Reader],
];
export const MAX_HITS_PER_MESSAGE = 200;

export function encodeHits(hits: readonly Hit[]): string {
  const rows = hits.map(
    ({ ids, link, at, reader }): HitRow => [
      ...([ids.delivery, ids.mailing, ids.address] as const),
      ...([link, at, reader !== 'person', reader] as const),
    ],
  );
  return JSON.stringify(rows);
}

/** The hits of a message; those that are malformed are left out. */
export function decodeHits(text: string): Hit[] {
  const rows: unknown = parsed(text);
  return (Array.isArray(rows) ? rows : []).flatMap((row: unknown) => {
    if (!Array.isArray(row)) return [];
    const [delivery, mailing, address, link, at, isMachine, given]: unknown[] = row;
    if (!isId(delivery) || !isId(mailing) || !isId(address) || !isId(at) || !(link === null || isId(link))) return [];
    const ids = { delivery, mailing, address, group: 0, user: 0, email: '' };
    // A node of an earlier release knows machines alone, and takes image proxies for some.
    const earlier = isMachine === true ? (link === null ? 'proxied' : 'machine') : 'person';
    return [{ ids, link, at, reader: READERS.find((one) => one === given) ?? earlier }];
  });
}

/** The consent in a message, or null when it is malformed. */
export function decodeConsent(text: string): Consent | null {
  const given = parsed(text);
  if (!isRecord(given)) return null;
  const { token, email, list, isLeft, at, form, change } = given;
  if (typeof token !== 'string' || typeof email !== 'string' || typeof isLeft !== 'boolean' || !isId(at)) return null;
  if (!isId(list) && list !== SUPPRESSED && list !== TRACKING) return null;
  const said = typeof given.text === 'string' ? given.text.slice(0, MAX_TEXT) : '';
  const consent = { token, email, list: Number(list), isLeft, at, text: said };
  if (change === undefined) {
    const known = FORMS.find((one) => one === form);
    return known === undefined || list === SUPPRESSED ? null : { ...consent, form: known };
  }
  const read = readChange(change);
  const isWhole = list !== SUPPRESSED || !isLeft || read?.suppression !== undefined;
  return read === null || !isWhole ? null : { ...consent, change: read };
}

function readChange(given: unknown): Change | null {
  if (!isRecord(given) || typeof given.run !== 'string') return null;
  // One that only a newer release knows must not keep the change itself from being carried out.
  const source = SOURCES.find((one) => one === given.source) ?? 'api';
  const { suppression } = given;
  if (!isRecord(suppression)) return { run: given.run, source };
  const kind = KINDS.find((one) => one === suppression.kind);
  if (kind === undefined) return null;
  return { run: given.run, source, suppression: { kind, diagnostic: String(suppression.diagnostic) } };
}

const FORMS = ['groups', 'leave', 'none', 'back', 'track', 'untrack', null] as const;
const MAX_TEXT = 5000;
const SOURCES = ['api', 'one-click', 'page', 'complaint', 'provider', 'form'] as const;
const KINDS = ['bounce', 'complaint'] as const;

/** What a node asks the brain, and what it gets; null: there is nothing of the kind. */
export interface Questions {
  /** The ids in a token that the node cannot read by itself, such as those of mails from before there were nodes. */
  link: { asks: { purpose: string; token: string }; gets: { ids: Record<string, number | string> } | null };
  preferences: { asks: { token: string }; gets: SentPreferences | null };
  /** The number of the variant that the recipient of a web copy got. */
  variant: { asks: { token: string }; gets: number | null };
  values: { asks: { purpose: string; token: string }; gets: Record<string, string> | null };
  /** Has the brain put a mailing's content, or a picture, where nodes find it; gets whether there is one. */
  mailing: { asks: { mailing: number }; gets: boolean };
  picture: { asks: { picture: string }; gets: boolean };
}

export type SentPreferences = Omit<Preferences, 'unsubscribed'> & { unsubscribed: [number, number][] };

/** What nodes find of a mailing for its pages. */
export interface MailingObject {
  user: number;
  groups: Preferences['groups'];
  frozen: FrozenContent;
}

/** The key of the secrets with which links are signed, and what the object is. */
export const LINKS_KEY = 'links';
export interface LinkSecrets {
  secrets: string[];
  publicUrl: string;
}

export function mailingObjectName(mailing: number): string {
  return `mailing-${mailing}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function isId(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
