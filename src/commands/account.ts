/** `sendlark account`: lists and creates accounts, each with contacts and campaigns of its own. */
import { asc } from 'drizzle-orm';
import { createAccount } from '../database/accounts.ts';
import { accounts } from '../database/schema/index.ts';
import { systemClock } from '../time/clock.ts';
import { type Call, type Command, choose, requireWords, UsageError } from './command.ts';
import { withDatabase } from './database.ts';

export const account: Command = {
  forms: ['account create --name NAME', 'account list'],
  about: 'Make an account, or list all accounts.',
  help: `Accounts see nothing of each other. The first start makes account 1; most installations need no other.
A new account needs keys: sendlark keys create --account N`,
  options: { name: { type: 'string' } },
  run: (call) => choose(call, { create, list }),
};

async function create(call: Call): Promise<void> {
  requireWords(call);
  const name = call.option('name')?.trim();
  if (!name) throw new UsageError('--name NAME is missing');
  const id = await withDatabase((db) => createAccount(db, systemClock, name));
  call.answer({ id, name }, [`Account ${id}: ${name}`, `Its keys: sendlark keys create --account ${id}`]);
}

async function list(call: Call): Promise<void> {
  requireWords(call);
  const rows = await withDatabase((db) => db.select().from(accounts).orderBy(asc(accounts.id)).all());
  call.answer(
    rows,
    rows.map(({ id, name, created_at }) => `${id}  ${created_at.slice(0, 'YYYY-MM-DD'.length)}  ${name}`),
    'There are no accounts; the first start of the service makes one',
  );
}
