/** Carries out a consent on the database. */
import type { Db } from '../../database/open.ts';
import type { Tokens } from '../../delivery/links/tokens.ts';
import { PreferenceStore } from '../../pages/preferences.ts';
import { decodeConsent } from '../feedback-messages.ts';

/**
 * Gives what applies the text of a consent, within a transaction. A person whom a restored database does not know is added as unsubscribed. What is
 * malformed, belongs to another installation or to a person who was erased throws an Error without the address.
 */
export function consentApplier(db: Db, tokens: Tokens): (text: string) => null {
  const store = new PreferenceStore(db);
  const addressOf = db.$client
    .prepare<[number, string], number>('SELECT id FROM addresses WHERE user_id = ? AND normalized_email = ?')
    .pluck();
  return (text) => {
    const consent = decodeConsent(text);
    if (consent === null) throw new Error('the consent is malformed');
    const ids = tokens.readRecipient('unsubscribe', consent.token, consent.email);
    if (ids === null) throw new Error('the consent is not of this installation, or its person was erased');
    // After a restore the person may have been added anew, under another id.
    const address = addressOf.get(ids.user, ids.email) ?? ids.address;
    store.apply({ ...ids, address }, consent.choice, new Date(consent.at));
    return null;
  };
}
