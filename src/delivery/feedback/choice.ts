/** What a recipient chose on the preference page, or by one click in a mail program. */
import type { Database } from 'better-sqlite3';
import { noteWrite } from '../../audience/unfinished-writes.ts';
import { findNamedValue } from '../../database/named-values.ts';

export interface Choice {
  /** The form of the page that was sent; null for a one-click request. `leave` leaves groups and joins none. */
  form: 'groups' | 'leave' | 'none' | 'back' | null;
  /** The groups that were shown, and those of them that were checked. */
  shown: readonly number[];
  checked: readonly number[];
}

/** The name of the value that says how far choices kept in JetStream are applied; there is none without sender nodes. */
const KEPT_CHOICES = 'applied_SENDLARK_CONSENTS';

/** Notes that what an erased person chose is to be removed from JetStream too, if choices are kept there. Call it in the erasing transaction. */
export function noteChoicesToErase(client: Database, account: number, address: number): void {
  if (findNamedValue(client, KEPT_CHOICES) !== null) noteWrite(client, 'erase-choices', { account, address });
}
