/** The interface to the data of public pages. The data come from the database of this process or, on a sender node, over NATS. */
import type { Values } from '../delivery/content/merge.ts';
import type { Hit } from '../delivery/feedback/opens-and-clicks.ts';
import type { Choice } from '../delivery/feedback/preference-choice.ts';
import type { Purpose, RecipientIds } from '../delivery/links/tokens.ts';
import type { CopyInput } from '../delivery/shown/shown-content.ts';
import type { Preferences } from './preferences.ts';

/** A value, or a promise of it if the value comes from another process. */
export type ValueOrPromise<T> = T | Promise<T>;

/** An image of the library. */
export interface StoredPicture {
  /** A hash of the bytes, which serves as the entity tag. */
  hash: string;
  /** The subtype of the image's content type, such as `png`. */
  kind: string;
  /** The number of bytes. */
  size: number;
  /** Returns the part with this number, from 0; undefined if the image was deleted. */
  part(number: number): Buffer | undefined;
}

/** The frozen content of a mailing as JSON, and the number of the variant that a recipient got: 0 for A. */
export type FrozenMail = Pick<CopyInput, 'frozen' | 'variant'>;

/** The source of data for public pages. Each method except `addHit` may throw `unavailable()` if the data cannot be reached now. */
export interface RecipientSource {
  /** Returns the beginning of all links, without a trailing slash. */
  publicUrl(): string;
  /** Returns the ids in a token; null if the token is not ours or its contact is no longer known. */
  readLink(purpose: Purpose, token: string): ValueOrPromise<RecipientIds | null>;
  /** Returns the ids in a token that all recipients of a mailing share; null if this is no such token. */
  readShared(token: string): RecipientIds | null;
  /** Returns the preferences of a link's recipient, and the choices that the page can offer. */
  readPreferences(ids: RecipientIds, token: string): ValueOrPromise<Preferences>;
  /**
   * Stores a choice. Resolves with the resulting preferences once the choice cannot be lost any more. `before` is the preferences when the
   * choice arrived; a sender node sends only the differences from them.
   */
  keepChoice(ids: RecipientIds, token: string, before: Preferences, choice: Choice): Promise<Preferences>;
  /** Returns the mail that a link's recipient got; null if the mail is unknown. */
  readMail(ids: RecipientIds, token: string): ValueOrPromise<FrozenMail | null>;
  /** Returns the destination, with its placeholders, of a link of the mailing; null if the mailing has no link of this number. */
  findLink(ids: RecipientIds, number: number): ValueOrPromise<string | null>;
  /** Returns the present values of the recipient and the sender, for the destination of a link or for a web copy. */
  readValues(ids: RecipientIds, purpose: 'click' | 'web', token: string): ValueOrPromise<Values>;
  /** Counts an open or a click. Never throws. */
  addHit(hit: Hit, token: string): void;
  /** Returns the image with this public id; null if there is none. */
  findPicture(publicId: string): ValueOrPromise<StoredPicture | null>;
}
