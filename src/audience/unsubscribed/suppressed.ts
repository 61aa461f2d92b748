/** The suppression list: addresses that bounced or complained, and how other systems report one. */
import { and, sql } from 'drizzle-orm';
import Type from 'typebox';
import { ownedBy, requireOwnedIds } from '../../database/ownership.ts';
import { recordObject } from '../../database/record-json.ts';
import { addresses, suppressions } from '../../database/schema/index.ts';
import { lastAccepted, recordBounce } from '../../delivery/feedback/bounces/record.ts';
import { sanitizeText } from '../../delivery/feedback/bounces/sanitize.ts';
import { notFound } from '../../errors/failure.ts';
import {
  addressListQuery,
  choice,
  email,
  identifier,
  integer,
  isoTimestampSchema,
  text,
} from '../../http/requests/schemas.ts';
import { listOperation, operation } from '../../operations/operation.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { addressId, isAddress } from '../contacts/address-rows.ts';
import { parseAddress } from '../contacts/addresses.ts';
import { isErased } from '../contacts/erased.ts';
import { removeSuppression, suppressAddress } from '../suppressions.ts';

const Suppression = Type.Object({
  id: integer(),
  email_address: Type.String(),
  kind: choice('bounce', 'complaint'),
  diagnostic: Type.String(),
  created_at: isoTimestampSchema(),
});
const record = recordObject(Suppression, suppressions, { email_address: sql`${addresses.normalized_email}` });

export const listSuppressed = listOperation({
  name: 'List the suppressed addresses',
  role: 'viewer',
  input: addressListQuery,
  as: 'suppressions',
  record: Suppression,
  select: ({ accountId }, { email: address, ...part }) => ({
    record,
    from: sql`${suppressions} CROSS JOIN ${addresses} ON ${addresses.id} = ${suppressions.address_id}`,
    where: and(ownedBy(suppressions, accountId), isAddress(suppressions.address_id, accountId, address)),
    id: suppressions.id,
    part,
  }),
});

export const reportBounce = operation({
  name: 'Record a bounce or a complaint',
  description: 'For what other systems learn about an address. It is suppressed: no more mail goes there.',
  role: 'editor',
  input: Type.Object({
    address: email(),
    kind: choice('bounce', 'complaint'),
    diagnostic: Type.Optional(text({ description: 'What the provider said.' })),
  }),
  run({ db, clock, accountId }, { address: given, kind, ...more }) {
    const diagnostic = sanitizeText(more.diagnostic ?? '');
    const address = parseAddress(given);
    if (address === null) throw new Error('an invalid address passed the schema');
    // No mail goes to an erased person anyway, and the report would name them again.
    if (isErased(db.$client, accountId, given)) return;
    const now = clock.now();
    const created_at = isoTimestamp(now);
    db.transaction(
      () => {
        const address_id = addressId(db, accountId, address);
        const deliveryId = lastAccepted(db.$client, accountId, address_id);
        if (deliveryId !== null)
          recordBounce(db.$client, { deliveryId, kind, suppress: true, diagnostic }, now, created_at);
        suppressAddress(db.$client, { user_id: accountId, address_id, kind, diagnostic, created_at });
      },
      { behavior: 'immediate' },
    );
  },
});

export const removeFromSuppressionList = operation({
  name: 'Remove an address from the suppression list',
  role: 'editor',
  input: Type.Object({ id: identifier('The suppression.') }),
  async run({ db, accountId }, { id: given }) {
    const ids = await requireOwnedIds(db, suppressions, [given], ownedBy(suppressions, accountId), notFound());
    for (const id of ids) removeSuppression(db.$client, id);
  },
});
