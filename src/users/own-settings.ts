/** What a person sets for themselves: name, language, colours and shortcuts of the dashboard. */
import { eq } from 'drizzle-orm';
import { isoTimestamp } from '../clock.ts';
import type { Db } from '../database/open.ts';
import { type ColourScheme, users } from '../database/schema/index.ts';
import { type Actor, audit } from './audit.ts';
import type { User } from './users.ts';

export interface OwnSettings {
  name?: string;
  /** The code of a language of the dashboard, or browser: the first of them that the browser asks for. */
  language?: string;
  shortcuts?: 0 | 1;
  colour_scheme?: ColourScheme;
}

/** Stores what is given and differs from what was set. To be called within a transaction. */
export function changeOwnSettings(db: Db, user: User, given: OwnSettings, actor: Actor, now: Date): void {
  const wanted = { ...given, ...(given.language && { language: given.language === 'browser' ? '' : given.language }) };
  const changes = Object.entries(wanted).filter(([name, value]) => Reflect.get(user, name) !== value);
  if (changes.length === 0) return;
  db.update(users)
    .set({ ...wanted, updated_at: isoTimestamp(now) })
    .where(eq(users.id, user.id))
    .run();
  // A name is personal and can be long; that it changed is enough.
  const subject = changes
    .map(([name, value]) => (name === 'name' ? name : `${name}: ${value === '' ? 'browser' : value}`))
    .join(', ');
  audit(db, { accountId: user.account_id, actor, action: 'settings_changed', subject }, now);
}
