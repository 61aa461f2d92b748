/** The one relay that a sender's mail may go over, which operators alone choose. */
import { eq } from 'drizzle-orm';
import type { Db } from '../database/open.ts';
import { relays } from '../database/schema/index.ts';
import { invalid } from '../failure.ts';
import { messages } from '../field-errors.ts';
import { SENTENCES } from '../sentences.ts';

/**
 * The column to store for the relay that was given; 0: any relay. Nothing where none was given, or where somebody who sees no relays
 * gives 0. Throws 422 for others who name one, and for a relay that does not exist.
 */
export function chosenRelay(db: Db, given: number | undefined, isOperator: boolean): { relay_id?: number | null } {
  if (given === undefined || (given === 0 && !isOperator)) return {};
  if (!isOperator) throw invalid('relay_id', SENTENCES.operators_only);
  if (given === 0) return { relay_id: null };
  const relay = db.select({ id: relays.id }).from(relays).where(eq(relays.id, given)).get();
  if (relay === undefined) throw invalid('relay_id', messages.selected('relay_id'));
  return { relay_id: relay.id };
}
