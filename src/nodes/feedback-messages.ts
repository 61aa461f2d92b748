/** What nodes and the brain tell each other about recipients' pages. JSON, so that releases next to each other can add fields. */
import type { Choice } from '../delivery/feedback/choice.ts';
import type { Hit } from '../delivery/feedback/opens-and-clicks.ts';
import type { FrozenContent } from '../delivery/queue/ready-mailing.ts';
import type { Preferences } from '../pages/preferences.ts';
import { SUBJECT } from './streams.ts';

/** What a recipient chose. The token proves that it was theirs to choose, also to a restored database that does not know the address. */
export interface Consent {
  token: string;
  account: number;
  address: number;
  /** The normalized address. */
  email: string;
  choice: Choice;
  /** Epoch milliseconds. */
  at: number;
}

/** The subject of what a person chose, who can so be erased. */
export function consentSubject(account: number, address: number): string {
  return `${SUBJECT.consents}.${account}.${address}`;
}

/** Opens and clicks in the order in which they came: ids of delivery, mailing and address, link (null: an open), time, machine. */
type HitRow = [delivery: number, mailing: number, address: number, link: number | null, at: number, isMachine: boolean];
export const MAX_HITS_PER_MESSAGE = 200;

export function encodeHits(hits: readonly Hit[]): string {
  const rows = hits.map(
    ({ ids, link, at, isMachine }): HitRow => [
      ...([ids.delivery, ids.mailing, ids.address] as const),
      ...([link, at, isMachine] as const),
    ],
  );
  return JSON.stringify(rows);
}

/** The hits of a message; those that are malformed are left out. */
export function decodeHits(text: string): Hit[] {
  const rows: unknown = parsed(text);
  return (Array.isArray(rows) ? rows : []).flatMap((row: unknown) => {
    if (!Array.isArray(row)) return [];
    const [delivery, mailing, address, link, at, isMachine]: unknown[] = row;
    if (!isId(delivery) || !isId(mailing) || !isId(address) || !isId(at) || !(link === null || isId(link))) return [];
    const ids = { delivery, mailing, address, group: 0, user: 0, email: '' };
    return [{ ids, link, at, isMachine: isMachine === true }];
  });
}

/** The consent in a message, or null when it is malformed. */
export function decodeConsent(text: string): Consent | null {
  const given = parsed(text);
  if (!isRecord(given) || !isRecord(given.choice)) return null;
  const { token, account, address, email, at, choice } = given;
  const { form, shown, checked } = choice;
  const isKnown = form === null || FORMS.some((known) => known === form);
  if (typeof token !== 'string' || typeof email !== 'string' || !isId(account) || !isId(address) || !isId(at))
    return null;
  if (!isKnown || !isIds(shown) || !isIds(checked)) return null;
  return {
    token,
    account,
    address,
    email,
    at,
    choice: { form: FORMS.find((known) => known === form) ?? null, shown, checked },
  };
}

const FORMS = ['groups', 'leave', 'none', 'back'] as const;

/** What a node asks the brain, and what it gets; null: there is nothing of the kind. */
export interface Questions {
  /** The ids in a token that the node cannot read by itself, such as those of mails from before there were nodes. */
  link: { asks: { purpose: string; token: string }; gets: { ids: Record<string, number | string> } | null };
  preferences: { asks: { token: string }; gets: SentPreferences | null };
  values: { asks: { purpose: string; token: string }; gets: Record<string, string> | null };
  /** Has the brain put a mailing's content, or a picture, where nodes find it; gets whether there is one. */
  mailing: { asks: { mailing: number }; gets: boolean };
  picture: { asks: { picture: string }; gets: boolean };
}

export type SentPreferences = Omit<Preferences, 'unsubscribed'> & { unsubscribed: [number, number][] };

/** What the object store has of a mailing for its pages. */
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

function isIds(value: unknown): value is number[] {
  return Array.isArray(value) && value.every(isId);
}
