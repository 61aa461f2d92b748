/** A signed-in user who opens pages of the dashboard and sends their forms. */
import type { Role } from '../../src/database/schema/index.ts';
import type { CallOptions, TestApp } from './app.ts';
import { addPerson, cookieOf, FROM_PAGE } from './people.ts';

/**
 * Adds a user with this role. `open` gets a page, `send` posts a form to it, and `post` posts JSON or files. A response's flash message is
 * in a cookie of the next request. The user signs in again on each new day, because a session ends when its user does nothing for long.
 */
export function visitor(app: TestApp, role: Role = 'owner', { accountId = 1, language = 'en', name = '' } = {}) {
  const ownName = name || `${role}${accountId}`;
  const user = addPerson(app, role, { accountId, name: ownName, email: `${ownName}.${language}@example.org` });
  const today = () => app.clock.now().toISOString().slice(0, 10);
  let session = { day: today(), cookie: cookieOf(app, user) };
  let flash = '';
  const request = async (method: 'GET' | 'POST', path: string, options: CallOptions = {}) => {
    if (session.day !== today()) session = { day: today(), cookie: cookieOf(app, user) };
    const cookie = `${session.cookie}; ${flash}`;
    const headers = { ...FROM_PAGE, cookie, 'accept-language': language, ...options.headers };
    const answer = await app.page(method, path, { ...options, headers });
    flash = /sendlark_flash=[^;]*/.exec(String(answer.headers['set-cookie']))?.[0] ?? flash;
    return answer;
  };
  return {
    open: (path: string) => request('GET', path),
    send: (path: string, form: CallOptions['form'] = {}) => request('POST', path, { form }),
    post: (path: string, options: CallOptions) => request('POST', path, options),
  };
}
