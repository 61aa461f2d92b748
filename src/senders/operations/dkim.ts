/**
 * Operations for the DKIM keys of sender domains (additions to the contract): owners create them, and operators change and
 * delete them, because accounts share a domain's keys.
 */
import Type from 'typebox';
import { asciiDomain } from '../../audience/contacts/addresses.ts';
import { recordId } from '../../database/ownership.ts';
import { inTransaction } from '../../database/transaction.ts';
import { createDkimKeyInThreadPool } from '../../delivery/mime/dkim.ts';
import { conflict, invalid, notFound } from '../../errors/failure.ts';
import { sentence } from '../../errors/sentences.ts';
import { inTurn } from '../../http/account-share.ts';
import { identifier, line } from '../../http/requests/schemas.ts';
import { isOperatorsSession } from '../../operations/callers.ts';
import { type Context, operation } from '../../operations/operation.ts';
import { auditBy } from '../../users/audit.ts';
import { type DkimKey, insertDkimKey, listDkimKeys, newSelector, deleteDkimKey as removeKey } from '../dkim-keys.ts';
import { hasVerifiedSender } from '../domains.ts';

const Domain = Type.Object({ domain: line({ description: 'The domain of a sender’s address.' }) });

export const makeDkimKey = operation({
  name: 'Make the first key that signs the e-mail of a domain (addition)',
  description:
    'Mail from the domain is signed from then on. GET /senders/checks has the record that publishes the key; the private key is never given out.',
  role: 'owner',
  input: Domain,
  async run(context, input) {
    const domain = requireDomain(input.domain);
    const maySign = isOperatorsSession(context) || hasVerifiedSender(context.db, context.accountId, domain);
    if (!maySign) throw invalid('domain', sentence('dkim_no_sender'));
    await makeKey(context, { domain, awaitsRecord: false }, (keys) => {
      if (keys.length > 0) throw conflict(sentence('dkim_present', { domain }));
    });
  },
});

export const rotateDkimKey = operation({
  name: 'Make the next key of a domain (addition)',
  description:
    'The present key signs until the record of the new one is found in the DNS, for example by POST /senders/checks/renew.',
  role: 'owner',
  isForOperators: true,
  input: Domain,
  async run(context, input) {
    const domain = requireDomain(input.domain);
    await makeKey(context, { domain, awaitsRecord: true }, (keys) => {
      if (keys.length === 0) throw conflict(sentence('dkim_none_to_change'));
      if (keys.some(({ state }) => state === 'waiting')) throw conflict(sentence('dkim_one_waits', { domain }));
    });
  },
});

export const deleteDkimKey = operation({
  name: 'Delete a key of a domain (addition)',
  description:
    'If the deleted key was the signing one, the key before it signs again, or the next key; without another key, mail of the domain is not signed.',
  role: 'owner',
  isForOperators: true,
  input: Type.Object({ id: identifier('The key.') }),
  run(context, input) {
    const { db } = context;
    inTransaction(db, () => {
      const key = listDkimKeys(db).find(({ id }) => id === recordId(input.id));
      if (key === undefined) throw notFound();
      removeKey(db, key);
      auditBy(context, 'dkim_key_removed', `${key.selector}._domainkey.${key.domain}`);
    });
  },
});

/**
 * Creates a key. With `awaitsRecord`, the key signs only once its record is found in the DNS. `check` throws if the domain may not get another
 * key; it is called before the key is generated and again when it is stored.
 */
async function makeKey(
  context: Context,
  { domain, awaitsRecord }: { domain: string; awaitsRecord: boolean },
  check: (keys: readonly DkimKey[]) => void,
): Promise<void> {
  const { db, clock } = context;
  // Generating a key keeps a CPU core busy for a moment. Each account generates one key at a time, so that concurrent requests
  // do not use more cores.
  await inTurn(context.accountId, async () => {
    check(listDkimKeys(db, domain));
    const privateKey = await createDkimKeyInThreadPool();
    inTransaction(db, () => {
      const keys = listDkimKeys(db, domain);
      check(keys);
      const now = clock.now();
      const selector = newSelector(keys, now);
      insertDkimKey(db, { domain, selector, privateKey, awaitsRecord }, now);
      auditBy(context, 'dkim_key_made', `${selector}._domainkey.${domain}`);
    });
  });
}

/** Returns a domain in ASCII form. Throws 422 if the text is not a domain. */
function requireDomain(text: string): string {
  const domain = asciiDomain(text);
  if (domain === null) throw invalid('domain', sentence('field_selected', { field: 'domain' }));
  return domain;
}
