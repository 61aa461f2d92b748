/** What holds for every page of the dashboard, as its HTML comes from the server. */
import { Parser } from 'htmlparser2';
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

/** What the primary buttons of a page say that are seen before anything is opened. */
function primaryButtons(html: string): string[] {
  const found: string[] = [];
  const inside: boolean[] = [];
  let text: string | null = null;
  const parser = new Parser({
    onopentag(name, { class: classes = '', popover }) {
      inside.push(name === 'dialog' || popover !== undefined);
      const isButton = name === 'a' || name === 'button';
      if (isButton && classes.split(' ').includes('primary') && !inside.includes(true)) text = '';
    },
    ontext(part) {
      if (text !== null) text += part;
    },
    onclosetag(name) {
      inside.pop();
      if (text === null || (name !== 'a' && name !== 'button')) return;
      found.push(text);
      text = null;
    },
  });
  parser.end(html);
  return found;
}

t.test('every page of a service with a relay', async (t) => {
  const service = await startWalked(t, (name) => name, 'relay');
  const { app } = service;
  const withRelay = await readPages(service);

  await t.test('a page has one primary button at most', async (t) => {
    const several = [...withRelay].map(([name, html]) => [name, primaryButtons(html)] as const);
    t.strictSame(
      several.filter(([, buttons]) => buttons.length > 1),
      [],
    );
    t.ok(several.filter(([, buttons]) => buttons.length === 1).length > 50, 'and most have one');
  });

  await t.test(
    'in test mode every page says once that nobody receives your e-mail, with the way out for who may take it',
    async (t) => {
      const says = 'Test mode: nobody receives your e-mail';
      t.strictSame(
        [...withRelay].filter(([, text]) => text.includes(says)),
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
      t.match(pages.get('mailings'), /Test mode: nobody receives your e-mail<\/strong><a href="\/settings\/sending">/);
      t.match(
        pages.get('mailings-empty'),
        'Whoever runs Sendlark here (an owner of its first account) can connect an SMTP server.',
      );
      const viewer = cookieOf(app, addPerson(app, 'viewer'));
      const { text } = await app.page('GET', '/campaigns', { headers: { cookie: viewer } });
      t.match(text, /nobody receives your e-mail<\/strong><span>/);
    },
  );
});
