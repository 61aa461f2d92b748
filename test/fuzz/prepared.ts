/** Records that the interface cannot make. */
import { randomUUID } from 'node:crypto';
import { NO_TIME } from '../../src/clock.ts';
import { DELIVERY_STATE, passkeys } from '../../src/database/schema/index.ts';
import type { User } from '../../src/users/users.ts';
import type { TestApp } from '../support/app.ts';

/** A passkey that nobody has; gives its id. */
export function addPasskey(app: TestApp, { id: user_id }: User): string {
  const credential = {
    user_id,
    credential_id: randomUUID(),
    public_key: Buffer.alloc(1),
    name: 'Laptop',
    created_at: NO_TIME,
  };
  return String(app.drizzle.insert(passkeys).values(credential).returning().get().id);
}

/** Makes the recipients of a completed single send look as if the relay had refused all of them. */
export function failAll(app: TestApp, utr: string): void {
  const mailing = app.db
    .prepare(
      "SELECT m.id FROM mailings m JOIN single_sends s ON m.owner_kind = 'single' AND m.owner_id = s.id WHERE s.utr = ?",
    )
    .pluck()
    .get(utr);
  app.db.prepare('UPDATE deliveries SET state = ? WHERE mailing_id = ?').run(DELIVERY_STATE.failed, mailing);
  app.db.prepare('UPDATE mailings SET failed = failed + delivered, delivered = 0 WHERE id = ?').run(mailing);
}
