/** The interface to the data of public pages: from the database of this process or, on a sender node, over NATS. */
import type { Values } from '../delivery/content/merge.ts';
import type { Hit } from '../delivery/feedback/opens-and-clicks.ts';
import type { Choice } from '../delivery/feedback/preference-choice.ts';
import type { Purpose, RecipientIds } from '../delivery/links/tokens.ts';
import type { CopyInput } from '../delivery/shown/shown-content.ts';
import type { Preferences } from './preferences.ts';

export type Maybe<T> = T | Promise<T>;

/** An image; `part` returns its bytes in consecutive parts, or undefined if a part no longer exists. */
export interface StoredPicture {
  hash: string;
  kind: string;
  size: number;
  part(number: number): Buffer | undefined;
}

/** The frozen content of a mailing as JSON, and the number of one of its variants; 0: A. */
export type FrozenMail = Pick<CopyInput, 'frozen' | 'variant'>;

/** The source of data for public pages. Each method may throw `unavailable()` if the data cannot be reached now. */
export interface RecipientSource {
  /** The origin of links, without a trailing slash. */
  publicUrl(): string;
  /** The ids in a token, or null if the token is not ours or its contact is no longer known. */
  readLink(purpose: Purpose, token: string): Maybe<RecipientIds | null>;
  /** The mailing of a link that all its recipients share, or null if the token does not belong to such a link. */
  readShared(token: string): RecipientIds | null;
  /** The choices that a link's recipient has, and has made. */
  readPreferences(ids: RecipientIds, token: string): Maybe<Preferences>;
  /** Stores a choice. Resolves with the resulting preferences once the choice cannot be lost any more. */
  keepChoice(ids: RecipientIds, token: string, before: Preferences, choice: Choice): Promise<Preferences>;
  /** The mail that a link's recipient got, or null if it is unknown. */
  readMail(ids: RecipientIds, token: string): Maybe<FrozenMail | null>;
  /** The destination of one of the mailing's links, with its placeholders, or null if it has no such link. */
  findLink(ids: RecipientIds, number: number): Maybe<string | null>;
  /** The current values of the recipient and the sender for the destination of a link or a web copy. */
  readValues(ids: RecipientIds, purpose: 'click' | 'web', token: string): Maybe<Values>;
  /** Counts an open or a click; never throws. */
  addHit(hit: Hit, token: string): void;
  findPicture(publicId: string): Maybe<StoredPicture | null>;
}
