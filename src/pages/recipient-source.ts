/** What the pages of recipients need to know and to keep: from the database of this process, or on a sender node over NATS. */
import type { Values } from '../delivery/content/merge.ts';
import type { Choice } from '../delivery/feedback/choice.ts';
import type { Hit } from '../delivery/feedback/opens-and-clicks.ts';
import type { Purpose, RecipientIds } from '../delivery/links/tokens.ts';
import type { Copying } from '../delivery/shown/shown-content.ts';
import type { Preferences } from './preferences.ts';

export type Maybe<T> = T | Promise<T>;

/** A picture; `part` gives its bytes, part after part, undefined where it has no such part any more. */
export interface StoredPicture {
  hash: string;
  kind: string;
  size: number;
  part(number: number): Buffer | undefined;
}

/** The frozen content of a mailing as JSON, and the number of a variant of it; 0: A. */
export type FrozenMail = Pick<Copying, 'frozen' | 'variant'>;

/** Each may throw `unavailable()` when what it needs cannot be reached now. */
export interface RecipientSource {
  /** Origin of links, without a trailing slash. */
  publicUrl(): string;
  /** The ids in a token, or null when the token is not ours or its person is no longer known. */
  readLink(purpose: Purpose, token: string): Maybe<RecipientIds | null>;
  /** The mailing of a link that is the same for all its recipients, or null when the token is not of one. */
  readShared(token: string): RecipientIds | null;
  /** What the recipient of a link may choose, and has chosen. */
  readPreferences(ids: RecipientIds, token: string): Maybe<Preferences>;
  /** Keeps a choice; resolves with what is chosen then, once it cannot be lost any more. */
  keepChoice(ids: RecipientIds, token: string, before: Preferences, choice: Choice): Promise<Preferences>;
  /** The mail that the recipient of a link got, or null when it is not known. */
  readMail(ids: RecipientIds, token: string): Maybe<FrozenMail | null>;
  /** The destination of a link of the mailing, with its placeholders, or null when it has no such link. */
  findLink(ids: RecipientIds, number: number): Maybe<string | null>;
  /** What the destination of a link or the copy of a mail may contain of its recipient and sender, as it is now. */
  readValues(ids: RecipientIds, purpose: 'click' | 'web', token: string): Maybe<Values>;
  /** Counts an open or a click; never throws. */
  addHit(hit: Hit, token: string): void;
  findPicture(publicId: string): Maybe<StoredPicture | null>;
}
