/** What a recipient chose on the preference page, or by one click in a mail program, and what is kept of it outside this file. */
import type { Database } from 'better-sqlite3';
import { noteWrite } from '../../audience/unfinished-writes.ts';
import { findNamedValue } from '../../database/named-values.ts';
import { type LinkTokens, openTokens } from '../links/tokens.ts';

export interface Choice {
  /**
   * The form of the page that was sent; null for a one-click request. `leave` leaves groups and joins none; `track` and `untrack` are about
   * opens and clicks.
   */
  form: 'groups' | 'leave' | 'none' | 'back' | 'track' | 'untrack' | null;
  /** The groups that were shown, and those of them that were checked. */
  shown: readonly number[];
  checked: readonly number[];
  /** What the page said about opens and clicks. */
  text: string;
}

/** In place of a list: whether a person's opens and clicks are recorded. Who refuses it has left this list. */
export const TRACKING = -2;

/** What a choice changes: the lists that are left and joined again; 0 is all mail. */
export interface ChosenLists {
  /** Of a choice about opens and clicks, what the page said. */
  text: string;
  form: Choice['form'];
  left: readonly number[];
  joined: readonly number[];
}

/** What of a recipient's own choices is kept and carried out. */
export interface KeptLists {
  left: number[];
  /** Whether an unsubscribe by this mail has been counted. */
  isCounted: boolean;
}

/** Without the lists that the person left already, by their own choice. Choosing so again counts for another mail, except where the form names all lists. */
export function notKept({ left, ...chosen }: ChosenLists, kept: KeptLists): ChosenLists {
  const isSame = chosen.form === 'groups' || kept.isCounted;
  return { ...chosen, left: left.filter((list) => !(isSame && kept.left.includes(list))) };
}

/**
 * The name of the value that says how far choices kept in JetStream are applied; there is none without sender nodes. The triggers that
 * fill `unpublished_choices` look for it, too.
 */
const KEPT_CHOICES = 'applied_SENDLARK_CONSENTS';

/** An erased person as JetStream knows them. */
export interface ErasedPerson {
  account: number;
  address: number;
  /** `personKey` of the address. */
  person: string;
}

/** A keyed hash of an address, by which JetStream knows a person: the same in every backup of this installation, and nobody can read it. */
export function personKey(tokens: LinkTokens, account: number, email: string): string {
  const signed = tokens.sign('person', `${account} ${email}`);
  return signed.slice(signed.indexOf('.') + 1);
}

/** Whether JetStream knows this address under this name, made with whichever secret. */
export function isPerson(tokens: LinkTokens, account: number, email: string, person: string): boolean {
  const text = `${account} ${email}`;
  return tokens.read('person', `${Buffer.from(text).toString('base64url')}.${person}`) === text;
}

/** Notes that what an erased person chose is to be removed from JetStream too, if choices are kept there. Call it in the erasing transaction. */
export function noteChoicesToErase(client: Database, account: number, address: number, email: string): void {
  if (findNamedValue(client, KEPT_CHOICES) === null) return;
  client.prepare('DELETE FROM unpublished_choices WHERE address_id = ?').run(address);
  const erased: ErasedPerson = { account, address, person: personKey(openTokens(client), account, email) };
  noteWrite(client, 'erase-choices', erased);
}
