/** Signs in for benches that use the dashboard. */
import { parseAddress } from '../../src/audience/contacts/addresses.ts';
import { connect } from '../../src/database/open.ts';
import { systemClock } from '../../src/time/clock.ts';
import { COMMAND_LINE } from '../../src/users/audit.ts';
import { createSession } from '../../src/users/sessions.ts';
import { addUser } from '../../src/users/users.ts';

/** Adds an owner of account 1 and a session of the owner to a database file. Returns the Cookie header of the session. */
export function signIn(file: string): string {
  const db = connect(file);
  const address = parseAddress('owner@example.com');
  if (address === null) throw new Error('the address cannot be parsed');
  const owner = { accountId: 1, address, name: 'Owner', role: 'owner', passwordHash: '' } as const;
  const user = addUser(db, owner, COMMAND_LINE, systemClock.now());
  const secret = createSession(db, user.id, { address: '127.0.0.1', userAgent: 'Bench' }, systemClock.now());
  db.$client.close();
  return `sendlark=${secret}`;
}
