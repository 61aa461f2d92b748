/** What pages offer to people of each role. */
import t from 'tap';
import { addPerson, cookieOf, FROM_PAGE } from '../../support/people.ts';
import { accountOf, SCREENS } from './screens.ts';
import { startWalked } from './walked-service.ts';

t.test('no page offers a form that its reader may not send', async (t) => {
  const { app, addressOf, origin } = await startWalked(t, (name) => name);
  const paths = SCREENS.filter((screen) => accountOf(screen) === 'filled' && !screen.path.startsWith('/gallery'));
  for (const role of ['viewer', 'editor'] as const) {
    const person = addPerson(app, role);
    const cookie = cookieOf(app, person);
    const offered = new Set<string>();
    for (const screen of paths) {
      const path = addressOf(screen).slice(origin.length);
      const { status, text } = await app.page('GET', path, { headers: { cookie } });
      if (status !== 200) continue;
      for (const [, attributes = '', content = ''] of text.matchAll(
        /<form ([^>]*method="post"[^>]*)>(.*?)<\/form>/gs,
      )) {
        const action = /action="([^"]*)"/.exec(attributes)?.[1] ?? path;
        if (/<button(?![^>]* disabled)/.test(content)) offered.add(action.replaceAll('&amp;', '&'));
      }
    }
    t.ok(offered.size > 5, `${offered.size} forms for a person with the role ${role}`);
    for (const action of offered) {
      // A session of its own, because some of the forms end sessions.
      const headers = { ...FROM_PAGE, cookie: cookieOf(app, person) };
      t.not((await app.page('POST', action, { form: {}, headers })).status, 403, `${role} sends ${action}`);
    }
  }
});
