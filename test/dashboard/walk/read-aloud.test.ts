/** What a screen reader gets of the main screens: the accessibility tree that Chromium makes of them. */
import type { Page } from 'playwright-core';
import t from 'tap';
import { launch } from '../../support/dashboard/browser.ts';
import { HOSTILE_NAMES } from '../../support/dashboard/filled-account.ts';
import { skipWithout } from '../../support/tools.ts';
import { DESK } from '../../support/walked-pages.ts';
import { SCREENS } from './screens.ts';
import { visitsOf } from './visits.ts';
import { startWalked } from './walked-service.ts';

const READ = [
  'home',
  'mailings',
  'mailing-opened',
  'people',
  'person',
  'people-map',
  'automation',
  'left',
  'settings-users',
];
/** Roles of what a person operates. */
const CONTROLS = new Set(
  'button checkbox combobox DisclosureTriangle link listbox menuitem radio searchbox slider spinbutton switch textbox'.split(
    ' ',
  ),
);

interface Node {
  role: string;
  name: string;
  level: number;
}

/** Everything in the tree that is read, in its order. */
async function readTree(page: Page): Promise<Node[]> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send('Accessibility.getFullAXTree');
  return nodes
    .filter(({ ignored }) => !ignored)
    .map(({ role, name, properties = [] }) => ({
      role: String(role?.value ?? ''),
      name: String(name?.value ?? '').trim(),
      level: Number(properties.find((property) => property.name === 'level')?.value.value ?? 0),
    }));
}

t.test('read aloud', { skip: skipWithout('chromium') }, async (t) => {
  const browser = await launch(t);
  const visit = visitsOf(t, browser, await startWalked(t, HOSTILE_NAMES), { viewport: DESK });
  for (const name of READ) {
    t.test(`${name} has landmarks, headings in order, and a name for every control`, async (t) => {
      const screen = SCREENS.find((screen) => screen.name === name);
      if (screen === undefined) throw new Error(`no screen is called ${name}`);
      const { page } = await visit(screen);
      const nodes = await readTree(page);
      const count = (role: string) => nodes.filter((node) => node.role === role).length;
      t.equal(count('main'), 1);
      t.ok(count('navigation') >= 1);
      const levels = nodes.filter(({ role }) => role === 'heading').map(({ level }) => level);
      t.equal(levels[0], 1, 'the title comes first');
      t.equal(levels.filter((level) => level === 1).length, 1);
      t.ok(
        levels.every((level, at) => level - (levels[at - 1] ?? level) <= 1),
        `no level is left out: ${levels}`,
      );
      t.strictSame(
        nodes.filter((node) => CONTROLS.has(node.role) && node.name === ''),
        [],
      );
      t.strictSame(
        nodes.filter((node) => ['navigation', 'region', 'dialog'].includes(node.role) && node.name === ''),
        [],
      );
    });
  }
});
