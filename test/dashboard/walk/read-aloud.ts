/** What a screen reader gets of the main screens: the accessibility tree that Chromium makes of them. */
import type { Page } from 'playwright-core';
import type { Test } from 'tap';

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

/** Tests that a screen has landmarks, headings in order, and a name for every control. */
export async function readAloud(t: Test, page: Page): Promise<void> {
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
}
