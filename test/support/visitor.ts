/** A signed-in user who opens pages of the dashboard and sends their forms. */
import type { Role } from '../../src/database/schema/index.ts';
import type { TestApp } from './app.ts';
import { addPerson, cookieOf, FROM_PAGE } from './people.ts';

/**
 * Adds a user with this role. `open` gets a page, with the flash message in a cookie of this value if one is given, and `send` posts a form
 * to it. The user signs in again on each new day, because a session
 * ends when its user does nothing for long.
 */
export function visitor(
  app: TestApp,
  role: Role = 'owner',
  { accountId = 1, language = 'en' }: { accountId?: number; language?: string } = {},
) {
  const name = `${role}${accountId}`;
  const user = addPerson(app, role, { accountId, name, email: `${name}.${language}@example.org` });
  const today = () => app.clock.now().toISOString().slice(0, 10);
  let session = { day: today(), cookie: cookieOf(app, user) };
  const headers = () => {
    if (session.day !== today()) session = { day: today(), cookie: cookieOf(app, user) };
    return { ...FROM_PAGE, cookie: session.cookie, 'accept-language': language };
  };
  return {
    open: (path: string, flash = '') => {
      const { cookie, ...rest } = headers();
      return app.page('GET', path, {
        headers: { ...rest, cookie: flash ? `${cookie}; sendlark_flash=${flash}` : cookie },
      });
    },
    send: (path: string, form: Record<string, unknown> = {}) => app.page('POST', path, { headers: headers(), form }),
  };
}
