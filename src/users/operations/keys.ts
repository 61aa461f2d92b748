/**
 * Operations for the key pairs with which programs call the API (additions to the contract). A secret is shown once,
 * when it is created. The scopes of a pair say what it may do; `src/operations/callers.ts` checks them.
 */
import { sql } from 'drizzle-orm';
import Type from 'typebox';
import { addKeyPair, markKeyPairRevoked } from '../../database/accounts.ts';
import { ownedRecord } from '../../database/ownership.ts';
import { ownedList, recordObject } from '../../database/record-json.ts';
import { apiKeys, SCOPES } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { notFound } from '../../errors/failure.ts';
import { sentence } from '../../errors/sentences.ts';
import {
  choice,
  identifier,
  integer,
  isoTimestampSchema,
  line,
  listQuery,
  nullable,
} from '../../http/requests/schemas.ts';
import { listOperation, operation } from '../../operations/operation.ts';
import { auditBy, keyLabel } from '../audit.ts';

const public_key = Type.String({ description: 'The public half of the pair.' });
const scopes = Type.Array(choice(...SCOPES), {
  maxItems: 100,
  description:
    'What the pair may do. transactional: send transactional e-mail and read its results. read: read everything but secrets. contacts, campaigns: read and change these. everything: what an owner may do over the API.',
});
const Key = Type.Object({
  id: integer(),
  public_key,
  name: Type.String({ description: 'The program that uses the pair.' }),
  scopes,
  last_used_at: nullable(
    isoTimestampSchema(),
    'When the pair was last used, UTC, accurate to the minute; null: it was never used.',
  ),
  created_at: isoTimestampSchema(),
  revoked_at: nullable(isoTimestampSchema(), 'When the pair was revoked, UTC; null: the pair is valid.'),
});
const secret_key = Type.String({
  description: 'The secret half of the pair. Only its hash is stored, so the secret cannot be shown again.',
});
const NewKey = Type.Object({ public_key, secret_key });
const record = recordObject(Key, apiKeys, { scopes: sql`json(${apiKeys.scopes})` });

export const listKeys = listOperation({
  name: 'List the key pairs (addition)',
  role: 'owner',
  input: listQuery,
  as: 'keys',
  record: Key,
  select: ({ accountId }, part) => ({ ...ownedList(record, apiKeys, accountId), part }),
});

export const readOwnScopes = operation({
  name: 'Read the scopes of the calling key pair (addition)',
  description: 'With this a program can offer only what its pair may do. A signed-in user gets 404.',
  role: 'viewer',
  isForAnyScope: true,
  input: Type.Object({}),
  output: Type.Object({ scopes }),
  run({ scopes: own }) {
    if (own === null) throw notFound();
    return { scopes: [...own] };
  },
});

export const createKeyPair = operation({
  name: 'Make a key pair (addition)',
  description: 'No later answer contains the secret.',
  role: 'owner',
  isForUsers: true,
  input: Type.Object({ name: line({ description: 'The program that will use the pair.' }), scopes }),
  output: Type.Object({ key: NewKey }),
  check(_context, { scopes: chosen }, errors) {
    if (chosen?.length === 0) errors.add('scopes', sentence('key_no_scopes'));
  },
  run(context, fields) {
    const { db, clock, accountId } = context;
    return inTransaction(db, () => {
      const { publicKey, secretKey } = addKeyPair(db, clock, accountId, fields);
      auditBy(context, 'key_made', keyLabel(fields.name, publicKey));
      return { key: { public_key: publicKey, secret_key: secretKey } };
    });
  },
});

export const revokeKeyPair = operation({
  name: 'Revoke a key pair (addition)',
  description: 'The pair stops working within a second.',
  role: 'owner',
  isForUsers: true,
  input: Type.Object({ id: identifier('The key pair.') }),
  run(context, { id }) {
    const { db, clock, accountId } = context;
    inTransaction(db, (tx) => {
      const key = tx
        .select()
        .from(apiKeys)
        .where(ownedRecord(apiKeys, id, accountId))
        .get();
      if (key === undefined) throw notFound();
      const { name, public_key } = key;
      if (markKeyPairRevoked(db, clock, public_key)) auditBy(context, 'key_revoked', keyLabel(name, public_key));
    });
  },
});
