/** Applies messages of the stream of choices to the database. */

import { addressId } from '../../audience/contacts/address-rows.ts';
import { fromNormalized } from '../../audience/contacts/addresses.ts';
import { findErasedId } from '../../audience/contacts/erased-addresses.ts';
import { storeTrackingChoice, type TrackingChoice } from '../../audience/store-tracking-choice.ts';
import { removeSuppression, suppressAddress } from '../../audience/suppressions.ts';
import { recordWrite } from '../../audience/unfinished-writes.ts';
import { addUnsubscribers, removeUnsubscribers } from '../../audience/unsubscribes.ts';
import type { Db } from '../../database/open.ts';
import { contactKey, type ErasedContact, isContactKey, TRACKING } from '../../delivery/feedback/preference-choice.ts';
import type { RecipientIds, Tokens } from '../../delivery/links/tokens.ts';
import { readStored } from '../../errors/stored.ts';
import { PreferenceStore } from '../../pages/preferences.ts';
import { type Clock, isoTimestamp } from '../../time/clock.ts';
import { isProven } from '../change-proof.ts';
import {
  type Change,
  type Consent,
  decodeConsent,
  readErased,
  SUPPRESSED,
  subjectParts,
} from '../feedback-messages.ts';

/** SQL for the time at which an address was last put on a suppression or unsubscribe list, or its contact refused tracking. */
const LEFT_AT = `SELECT max(created_at) AS at FROM (
  SELECT created_at FROM suppressions WHERE address_id = @address AND @list = ${SUPPRESSED}
  UNION ALL SELECT created_at FROM consent_log WHERE address_id = @address
    AND @list = CASE action WHEN 'tracking_refused' THEN ${TRACKING} WHEN 'unsubscribed' THEN ifnull(unsubscribe_groups_id, 0) END)`;

/** Prepares the database queries needed for each message. */
function prepareLookups({ $client }: Db) {
  const prepareQuery = <Value>(sql: string) => $client.prepare<(number | string)[], Value>(sql).pluck();
  return {
    address: prepareQuery<number>('SELECT id FROM addresses WHERE user_id = ? AND normalized_email = ?'),
    email: prepareQuery<string>('SELECT normalized_email FROM addresses WHERE user_id = ? AND id = ?'),
    group: prepareQuery<number>('SELECT id FROM unsubscribe_groups WHERE user_id = ? AND id = ?'),
    suppression: prepareQuery<number>('SELECT id FROM suppressions WHERE address_id = ?'),
    changedAt: prepareQuery<number>('SELECT changed_at FROM unpublished_choices WHERE address_id = ? AND list = ?'),
    leftAt: $client.prepare<[{ address: number; list: number }], { at: string | null }>(LEFT_AT),
    forget: $client.prepare<[number, number]>('DELETE FROM unpublished_choices WHERE address_id = ? AND list = ?'),
  };
}

/**
 * Returns a function that applies a message of the stream inside a transaction. `run` is this run of the controller. A contact that a
 * restored database lacks is added. Throws an Error that does not contain the address if the message is malformed or belongs to another
 * installation.
 */
export function consentApplier(
  db: Db,
  tokens: Tokens,
  clock: Clock,
  run: string,
): (text: string, subject: string, proof: string) => void {
  const preferences = new PreferenceStore(db);
  const lookups = prepareLookups(db);

  /** Records that an erased contact whom a restored database still has is erased again after this transaction. */
  const eraseAgain = (erased: ErasedContact) => {
    const email = lookups.email.get(erased.account, erased.address);
    if (email !== undefined && contactKey(tokens, erased.account, email) === erased.person)
      recordWrite(db.$client, 'erase-again', erased);
  };
  const store = (ids: RecipientIds, list: number, { isLeft, at, form, text = '', change }: Consent) => {
    const now = new Date(at);
    const left = isLeft ? [list] : [];
    const joined = isLeft ? [] : [list];
    if (change === undefined) preferences.applyChanges(ids, { form: form ?? null, text, left, joined }, now);
    else if (list === TRACKING) track(db, ids, change, { isAllowed: !isLeft, text, now: isoTimestamp(now) });
    else if (list === SUPPRESSED) suppress(db, ids, change, isoTimestamp(now), lookups.suppression.get(ids.address));
    else if (isLeft) unsubscribe(db, ids, list, change, isoTimestamp(now));
    else {
      const entry = preferences.read(ids).unsubscribed.get(list);
      if (entry !== undefined) removeUnsubscribers(db, [entry], loggedSource(change), isoTimestamp(now));
    }
  };

  return (text, subject, proof) => {
    const erased = readErased(subject, text);
    if (erased !== null) return eraseAgain(erased);
    const consent = decodeConsent(text);
    if (consent === null) throw new Error('the choice is malformed');
    const { token, email, form, isLeft, change } = consent;
    // Every node can resubscribe any recipient by a recipient's choice, but other resubscribes need the controller's proof. A backup from
    // before an upgrade cannot verify the proofs of the database it replaces, and must not mail these contacts again.
    if (change !== undefined && !isLeft && !isProven(tokens, subject, text, proof))
      throw new Error('the change was not published by this installation');
    // The clock of a node may be ahead. Without this limit, later changes would seem to be earlier than this one.
    const at = Math.min(consent.at, clock.now().getTime());
    // The change came from this database, in which the choice may have changed since.
    if (change?.run === run) return;
    const { account, person, list: listed } = subjectParts(subject);
    // Erasing a contact removes the messages whose subject has the contact's hash, so the hash must belong to the address.
    if (listed !== String(consent.list) || !isContactKey(tokens, account, email, person))
      throw new Error('the choice is of another contact or list than its subject');
    const erasedId = findErasedId(db.$client, account, email);
    // A choice made with an old link has brought the erased address into the stream again.
    if (erasedId !== undefined) {
      recordWrite(db.$client, 'erase-choices', { account, address: erasedId, person } satisfies ErasedContact);
      return;
    }
    const linkIds = tokens.readRecipient('unsubscribe', token, email);
    if (linkIds === null || linkIds.user !== account) throw new Error('the choice is of another installation');
    const isKnownList = consent.list <= 0 || lookups.group.get(account, consent.list) !== undefined;
    // A restored database may lack the group, which then gets no mail. A choice without a form (one click) counts as a wish for no more mail.
    if (!isKnownList && form !== null) return;
    const list = isKnownList ? consent.list : 0;
    // After a restore the contact may have been added again under another id.
    const ids = { ...linkIds, address: lookups.address.get(account, linkIds.email) ?? linkIds.address };
    const changedAt = lookups.changedAt.get(ids.address, list);
    // A later change in this database that is not published yet stays; it will follow in the stream.
    if (changedAt !== undefined && (change === undefined ? changedAt > at : changedAt >= at)) return;
    // Anyone who can read the stream can publish an earlier change again. That must not resubscribe a contact who unsubscribed later.
    const leftAt = change === undefined || isLeft ? null : lookups.leftAt.get({ address: ids.address, list })?.at;
    if (leftAt != null && Date.parse(leftAt) > at) return;
    store(ids, list, { ...consent, at });
    lookups.forget.run(lookups.address.get(account, linkIds.email) ?? ids.address, list);
  };
}

function unsubscribe(db: Db, ids: RecipientIds, list: number, { source }: Change, now: string): void {
  const change = { accountId: ids.user, groupId: list || null, source, mailingId: ids.mailing || null, now };
  addUnsubscribers(db, { ...change, keepsExisting: true }, [fromNormalized(ids.email)]);
}

/** Returns the source of a change in this database's consent log, where other sources count as `api`. */
function loggedSource({ source }: Change): 'api' | 'page' | 'form' {
  return source === 'page' || source === 'form' ? source : 'api';
}

function suppress(
  db: Db,
  ids: RecipientIds,
  { suppression }: Change,
  now: string,
  suppressionId: number | undefined,
): void {
  if (suppression !== undefined) {
    const address_id = addressId(db, ids.user, fromNormalized(ids.email));
    const diagnostic = readStored(suppression.diagnostic);
    suppressAddress(db.$client, { user_id: ids.user, address_id, ...suppression, diagnostic, created_at: now });
  } else if (suppressionId !== undefined) removeSuppression(db.$client, suppressionId);
}

function track(
  db: Db,
  ids: RecipientIds,
  change: Change,
  choice: Pick<TrackingChoice, 'isAllowed' | 'text' | 'now'>,
): void {
  storeTrackingChoice(db.$client, {
    accountId: ids.user,
    addressId: addressId(db, ids.user, fromNormalized(ids.email)),
    ...choice,
    source: loggedSource(change),
    mailingId: ids.mailing || null,
  });
}
