/** `sendlark keys`: manages the key pairs with which programs call the API. */
import { asc, eq } from 'drizzle-orm';
import { addKeyPair, markKeyPairRevoked } from '../database/accounts.ts';
import type { Db } from '../database/open.ts';
import { apiKeys, SCOPES, type Scope } from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import { MAX_LINE_CHARACTERS } from '../errors/field-errors.ts';
import { systemClock } from '../time/clock.ts';
import { type AuditAction, audit, COMMAND_LINE, keyLabel } from '../users/audit.ts';
import { type Call, type Command, choose, requireNumber, requireWords, UsageError } from './command.ts';
import { requireAccount, withDatabase } from './database.ts';

export const keys: Command = {
  forms: ['keys create [--account N] [--name NAME] [--scopes LIST]', 'keys list', 'keys revoke PUBLICKEY'],
  about: 'Make, list or revoke API keys.',
  help: `A pair belongs to one account (1 unless --account says otherwise). Its secret is shown once and stored as a hash.
A pair may do everything an owner may over the API, unless --scopes lists less, separated by commas: ${SCOPES.join(', ')}.
--name says which program has the pair.
Revoking works at once, also while the service runs. To rotate: create a pair, move your programs to it, revoke the old pair.`,
  options: { account: { type: 'string' }, name: { type: 'string' }, scopes: { type: 'string' } },
  run: (call) => choose(call, { create, list, revoke }),
};

async function create(call: Call): Promise<void> {
  requireWords(call);
  const accountId = requireNumber(call.option('account') ?? '1', '--account');
  const name = requireName(call.option('name') ?? '');
  const scopes = requireScopes(call.option('scopes') ?? 'everything');
  const pair = await withDatabase((db) => {
    requireAccount(db, accountId);
    return inTransaction(db, () => {
      const added = addKeyPair(db, systemClock, accountId, { name, scopes });
      auditKey(db, accountId, 'key_made', keyLabel(name, added.publicKey));
      return added;
    });
  });
  call.answer({ account: accountId, ...pair }, [`PublicKey: ${pair.publicKey}`, `SecretKey: ${pair.secretKey}`]);
}

function requireName(text: string): string {
  const name = text.trim();
  if (name.length > MAX_LINE_CHARACTERS || /\p{Cc}/u.test(name))
    throw new UsageError(`--name must be one line of at most ${MAX_LINE_CHARACTERS} characters`);
  return name;
}

function requireScopes(scopes: string): Scope[] {
  const words = scopes.split(',').map((word) => word.trim());
  const unknown = words.find((word) => !SCOPES.some((scope) => scope === word));
  if (unknown !== undefined) throw new UsageError(`--scopes: ${unknown || 'nothing'} is none of ${SCOPES.join(', ')}`);
  return SCOPES.filter((scope) => words.includes(scope));
}

async function list(call: Call): Promise<void> {
  requireWords(call);
  const rows = await withDatabase((db) =>
    db
      .select({
        account: apiKeys.user_id,
        publicKey: apiKeys.public_key,
        name: apiKeys.name,
        scopes: apiKeys.scopes,
        last_used_at: apiKeys.last_used_at,
        created_at: apiKeys.created_at,
        revoked_at: apiKeys.revoked_at,
      })
      .from(apiKeys)
      .orderBy(asc(apiKeys.id))
      .all(),
  );
  call.answer(
    rows,
    rows.map(({ account, publicKey, name, scopes, created_at, last_used_at, revoked_at }) =>
      [
        `${publicKey}  account ${account}  ${scopes.join(', ')}  made ${created_at.slice(0, 'YYYY-MM-DD'.length)}`,
        ...(last_used_at ? [`used ${last_used_at.slice(0, 'YYYY-MM-DD'.length)}`] : []),
        ...(revoked_at ? [`revoked ${revoked_at.slice(0, 'YYYY-MM-DD'.length)}`] : []),
        ...(name ? [name] : []),
      ].join('  '),
    ),
    'There are no keys; to make a pair: sendlark keys create',
  );
}

async function revoke(call: Call): Promise<void> {
  const [publicKey = ''] = requireWords(call, 'PUBLICKEY');
  const isRevoked = await withDatabase((db) =>
    inTransaction(db, () => {
      const row = db.select().from(apiKeys).where(eq(apiKeys.public_key, publicKey)).get();
      const wasValid = markKeyPairRevoked(db, systemClock, publicKey);
      if (wasValid && row !== undefined) auditKey(db, row.user_id, 'key_revoked', keyLabel(row.name, publicKey));
      return wasValid;
    }),
  );
  if (!isRevoked) throw new Error('No valid key pair has this public key; see: sendlark keys list');
  call.answer({ revoked: publicKey }, [`Revoked: ${publicKey}`]);
}

function auditKey(db: Db, accountId: number, action: AuditAction, subject: string): void {
  audit(db, { accountId, actor: COMMAND_LINE, action, subject }, systemClock.now());
}
