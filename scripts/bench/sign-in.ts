/** A session for benches that use the dashboard. */
import { parseAddress } from '../../src/audience/contacts/addresses.ts';
import { connect } from '../../src/database/open.ts';
import { systemClock } from '../../src/time/clock.ts';
import { COMMAND_LINE } from '../../src/users/audit.ts';
import { createSession } from '../../src/users/sessions.ts';
import { addUser } from '../../src/users/users.ts';

/** Makes the owner of account 1 and a session of theirs in the file; gives the Cookie header. */
export function signIn(file: string): string {
  const db = connect(file);
  const address = parseAddress('owner@example.com');
  if (address === null) throw new Error('no address');
  const owner = { accountId: 1, address, name: 'Owner', role: 'owner', passwordHash: '' } as const;
  const user = addUser(db, owner, COMMAND_LINE, systemClock.now());
  const secret = createSession(db, user.id, { address: '127.0.0.1', userAgent: 'Bench' }, systemClock.now());
  db.$client.close();
  return `sendlark=${secret}`;
}
