/** `sendlark design-links`: revokes links to design pages, which anybody with the link can open. */

import { revokeDesignLinks } from '../templates/designs/designs.ts';
import { systemClock } from '../time/clock.ts';
import { type Call, type Command, choose, requireNumber, UsageError } from './command.ts';
import { withDatabase } from './database.ts';

export const designLinks: Command = {
  forms: ['design-links revoke UTR', 'design-links revoke --account N'],
  about: 'Take back links to design pages.',
  help: `Whoever has a link to a design page can change that mail for a day. revoke ends all links made so far to the mail of the single
send or schedule with this utr, or to all mails of an account. It works at once, also while the service runs; new links open again.`,
  options: { account: { type: 'string' } },
  run: (call) => choose(call, { revoke }),
};

async function revoke(call: Call): Promise<void> {
  const [utr, extra] = call.words;
  const account = call.option('account');
  if (extra !== undefined) throw new UsageError(`Too much: ${extra}`);
  if ((utr === undefined) === (account === undefined)) throw new UsageError('Give either a UTR or --account N');
  const accountId = account === undefined ? null : requireNumber(account, '--account');
  const mails = await withDatabase((db) => revokeDesignLinks(db, { accountId, utr: utr ?? null }, systemClock.now()));
  if (mails === 0) throw new Error('There is no such mail');
  call.answer({ mails }, [`Revoked: the links to ${mails === 1 ? 'one mail' : `${mails} mails`}`]);
}
