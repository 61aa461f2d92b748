/**
 * A recipient's choice on the preference page, or by one click in a mail client, and the record of the choices that are kept in JetStream
 * for sender nodes.
 */
import type { Database } from 'better-sqlite3';
import { recordWrite } from '../../audience/unfinished-writes.ts';
import { findNamedValue } from '../../database/named-values.ts';
import { type LinkTokens, openTokens } from '../links/tokens.ts';

export interface Choice {
  /**
   * The form that was submitted; null for a one-click request. `groups` sets the checked groups, `leave` only unsubscribes from groups that
   * are not checked, `none` unsubscribes from all mail, `back` undoes `none`, and `track` and `untrack` are about opens and clicks.
   */
  form: 'groups' | 'leave' | 'none' | 'back' | 'track' | 'untrack' | null;
  /** The ids of the groups that were shown. */
  shown: readonly number[];
  /** The ids of the groups that were checked. */
  checked: readonly number[];
  /** The page's text about opens and clicks, to which the recipient agreed or objected. */
  text: string;
}

/** The list id that stands for tracking in choices: a contact who refuses tracking has left this list. */
export const TRACKING = -2;

/** The changes that a choice makes. */
export interface ChosenLists {
  /** The page's text, if the choice is about opens and clicks. */
  text: string;
  form: Choice['form'];
  /** The ids of the lists that the recipient unsubscribed from; 0 is all mail. */
  left: readonly number[];
  /** The ids of the lists that the recipient joined again; 0 is all mail. */
  joined: readonly number[];
}

/** The recipient's earlier choices that are already recorded. */
export interface KeptLists {
  left: number[];
  /** True if an unsubscribe through this mail has been counted. */
  isCounted: boolean;
}

/**
 * Returns a choice without the lists that the contact has already left by their own choice. If nothing was counted for this mail yet,
 * leaving again counts, unless the form shows all lists.
 */
export function withoutKept({ left, ...chosen }: ChosenLists, kept: KeptLists): ChosenLists {
  const isSame = chosen.form === 'groups' || kept.isCounted;
  return { ...chosen, left: left.filter((list) => !(isSame && kept.left.includes(list))) };
}

/**
 * The name of the stored value that says how far the choices kept in JetStream have been applied. The value is absent without sender nodes.
 * The triggers that fill `unpublished_choices` check for this name, too.
 */
const KEPT_CHOICES = 'applied_SENDLARK_CONSENTS';

/** An erased contact as identified in JetStream. */
export interface ErasedContact {
  account: number;
  address: number;
  /** The hash of the address, see `contactKey`. */
  person: string;
}

/**
 * Returns the keyed hash of an address, which identifies a contact in JetStream. It is the same in every backup of this installation, and the address
 * cannot be read from it.
 */
export function contactKey(tokens: LinkTokens, account: number, email: string): string {
  const signed = tokens.sign('person', `${account} ${email}`);
  return signed.slice(signed.indexOf('.') + 1);
}

/** Returns true if `person` is the hash of this address, made with any of the known secrets. */
export function isContactKey(tokens: LinkTokens, account: number, email: string, person: string): boolean {
  const text = `${account} ${email}`;
  return tokens.read('person', `${Buffer.from(text).toString('base64url')}.${person}`) === text;
}

/**
 * Records that the choices of an erased contact must be removed from JetStream too, if choices are kept there. Call it in the transaction
 * that erases.
 */
export function noteChoicesToErase(client: Database, account: number, address: number, email: string): void {
  if (findNamedValue(client, KEPT_CHOICES) === null) return;
  client.prepare('DELETE FROM unpublished_choices WHERE address_id = ?').run(address);
  const erased: ErasedContact = { account, address, person: contactKey(openTokens(client), account, email) };
  recordWrite(client, 'erase-choices', erased);
}
