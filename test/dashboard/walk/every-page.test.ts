/** What holds for every page of the dashboard, as its HTML comes from the server. */
import t from 'tap';
import { addPerson, cookieOf } from '../../support/people.ts';
import { accountOf, SCREENS } from './screens.ts';
import { startWalked, type WalkedService } from './walked-service.ts';

/** The HTML of every screen that needs a session, by its name, as the owner of its account gets it. */
async function readPages({ app, addressOf, origin, cookies }: WalkedService): Promise<Map<string, string>> {
  const pages = new Map<string, string>();
  for (const screen of SCREENS) {
    const account = accountOf(screen);
    if (account === 'none' || screen.path.startsWith('/gallery')) continue;
    const path = addressOf(screen).slice(origin.length);
    const { status, text } = await app.page('GET', path, { headers: { cookie: cookies[account] } });
    if (status === 200) pages.set(screen.name, text);
  }
  return pages;
}

t.test(
  'in test mode every page says once that nobody receives this, with the way out for who may take it',
  async (t) => {
    const service = await startWalked(t, (name) => name, 'relay');
    const { app } = service;
    const says = 'Test mode: nobody receives this';
    const silent = await readPages(service);
    t.strictSame(
      [...silent].filter(([, text]) => text.includes(says)),
      [],
      'none says it while mail leaves',
    );
    app.db.prepare('DELETE FROM relays').run();
    const pages = await readPages(service);
    t.ok(pages.size > 100, `${pages.size} pages`);
    t.strictSame(
      [...pages].filter(([, text]) => text.split(says).length !== 2).map(([name]) => name),
      [],
    );
    t.match(pages.get('mailings'), /Test mode: nobody receives this<\/strong><a href="\/settings\/sending">/);
    t.match(pages.get('mailings-empty'), 'An owner of the first account can connect an SMTP server.');
    const viewer = cookieOf(app, addPerson(app, 'viewer'));
    const { text } = await app.page('GET', '/campaigns', { headers: { cookie: viewer } });
    t.match(text, /nobody receives this<\/strong><span>/);
  },
);
