/** Goes through screens in German on a phone by keyboard alone: everything is reached, seen and legible, and nothing is left in English. */
import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { SENTENCES } from '../../../src/errors/sentences.ts';
import { de } from '../../../src/ui/words/de/index.ts';
import { en } from '../../../src/ui/words/en/index.ts';
import { excessWidth } from '../../support/dashboard/browser.ts';
import { DESK } from '../../support/walked-pages.ts';
import type { Screen } from './screens.ts';
import type { Visit } from './visits.ts';

/** The sentences of the service in English, with anything for their values. Two values around one word may be a country or a mail, too. */
const SAID = Object.values(SENTENCES)
  .filter((text) => !/^\{\w+\} \w+ \{\w+\}$/.test(text))
  .filter((text) => /[a-z]{2}.* /.test(text.replaceAll(/\{\w+\}/g, '')))
  .map((text) => new RegExp(`^${text.replaceAll(/[.*+?^$()|[\]\\/]/g, '\\$&').replaceAll(/\{\w+\}/g, '.+')}$`, 's'));

/** What the mail or the form on a screen says in English itself. */
const OF_MAILS: Readonly<Record<string, readonly string[]>> = {
  'outbox-headers': ['From', 'To', 'Subject', 'Date'],
  'mailing-links': ['Have a look'],
  'mailing-edit-check': ['Have a look'],
  'mailing-edit-dark': ['Have a look'],
  'mailing-edit-check-variant': ['Choose your colour'],
  'outbox-links': ['Unsubscribe or change preferences'],
  'people-form': ['E-mail address', 'First name'],
};

/**
 * Tests that a screen which was opened on a phone is German for Germans and works by keyboard alone, there and on a desk. A screen whose
 * controls are all shown on a phone is not worked again on a desk. The navigation is worked once: `navigations` keeps those that were, so
 * that a screen with the same one begins with what is after it.
 */
export async function walkInGerman(t: Test, screen: Screen, visit: Visit, navigations: Set<string>): Promise<void> {
  const { name } = screen;
  const { page, outside, complaints } = visit;
  const texts = (await textsOf(page)).filter((text) => !OF_MAILS[name]?.includes(text));
  t.strictSame(englishIn(texts), [], `${name}: nothing is in English`);
  t.ok((await excessWidth(page)) <= 0, `${name}: nothing sticks out`);
  const navigation: string = await page.evaluate(NAVIGATION);
  const isNew = !navigations.has(navigation);
  navigations.add(navigation);
  t.strictSame(
    await tabThrough(page, isNew),
    [],
    `${name} on a phone: the keyboard reaches everything, and it is seen`,
  );
  t.strictSame(await openAndEscape(page, isNew), [], `${name} on a phone: Escape closes what opens`);
  await page.evaluate(`window.onPhone = new Set(${CONTROLS})`);
  await page.setViewportSize(DESK);
  const isOnlyOnDesk = `(e) => !window.onPhone.has(e) && (${isNew} || !${isBeforeMain('e')})`;
  if (await page.evaluate(`${CONTROLS}.some(${isOnlyOnDesk})`))
    t.strictSame(
      await tabThrough(page, isNew),
      [],
      `${name} on a desk: the keyboard reaches everything, and it is seen`,
    );
  t.strictSame([outside, complaints], [[], []], `${name}: nothing from elsewhere, nothing on the console`);
}

/** The texts of the page as they are written there: of elements, and of attributes that are shown or read aloud. */
function textsOf(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const texts: string[] = [document.title];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      if (walker.currentNode.parentElement?.closest('pre, code, kbd, script, textarea') === null) {
        texts.push(walker.currentNode.textContent ?? '');
      }
    }
    for (const element of document.querySelectorAll('*')) {
      for (const name of ['aria-label', 'title', 'placeholder', 'alt', 'data-label', 'aria-roledescription']) {
        texts.push(element.getAttribute(name) ?? '');
      }
    }
    return [...new Set(texts.map((text) => text.trim()).filter((text) => text !== ''))];
  });
}

const formsOf = (entry: string | { one: string; other: string }) =>
  typeof entry === 'string' ? [entry] : [entry.one, entry.other];
const GERMAN = new Set(Object.values(de).flatMap(formsOf));
/** The texts that a text of the catalogue becomes with its values; counts are digits. */
function patternOf(text: string): RegExp {
  const source = text
    .replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&')
    .replaceAll(/\{(?:count|finished|done)\}/g, '[\\d.,]+')
    .replaceAll(/\{\w+\}/g, '.+');
  return new RegExp(`^${source}$`, 's');
}

/** The English texts that are not German too: those that stand as they are, and those with values. */
const ENGLISH = Object.values(en)
  .flatMap(formsOf)
  .filter((text) => !GERMAN.has(text) && /[a-z]{2}/i.test(text.replaceAll(/\{\w+\}/g, '')));
const ENGLISH_AS_IT_IS = new Set(ENGLISH.filter((text) => !text.includes('{')));
const ENGLISH_PATTERNS = ENGLISH.filter((text) => text.includes('{')).map(patternOf);
const GERMAN_PATTERNS = [...GERMAN].filter((text) => text.includes('{')).map(patternOf);
/** What was found of each text, since many are on every screen. */
const judged = new Map<string, boolean>();

/** Those of the texts that stand in the English catalogue, or are a sentence of the service. */
function englishIn(texts: readonly string[]): string[] {
  return texts.filter((text) => {
    const found = judged.get(text) ?? isEnglish(text);
    judged.set(text, found);
    return found;
  });
}

function isEnglish(text: string): boolean {
  if (SAID.some((pattern) => pattern.test(text))) return true;
  const isInCatalogue = ENGLISH_AS_IT_IS.has(text) || ENGLISH_PATTERNS.some((pattern) => pattern.test(text));
  return isInCatalogue && !GERMAN_PATTERNS.some((pattern) => pattern.test(text));
}

/** What Tab has to reach: each control that is seen, and of the radio buttons of a group one. */
const CONTROLS = `[...document.querySelectorAll('a[href], button, input, select, textarea, summary, iframe, [tabindex="0"]')]
  .filter((e) => e.checkVisibility({ visibilityProperty: true }) && !e.disabled && e.type !== 'hidden' && e.tabIndex >= 0 && !e.closest('[inert]'))
  .filter((e) => e.type !== 'radio' || e.checked)`;

/** The controls before the main part, whichever of them leads to the page that is shown. */
const NAVIGATION = `[...document.querySelectorAll('a[href], button, summary')].filter((e) => ${isBeforeMain('e')})
  .map((e) => e.tagName + ' ' + e.getAttribute('href') + ' ' + e.textContent).join('\\n')`;

/** Marks what has to be reached, and gives how many there are. */
const mark = (isWhole: boolean) =>
  `(() => { const all = ${CONTROLS}.filter((e) => ${isWhole} || !${isBeforeMain('e')}); all.forEach((e, at) => { e.dataset.stop = at; }); return all.length; })()`;

/** Code that says whether an element is before the main part. */
function isBeforeMain(element: string): string {
  return `Boolean(${element}.compareDocumentPosition(document.querySelector('main')) & Node.DOCUMENT_POSITION_FOLLOWING)`;
}

/** What has the focus: its mark, and what is wrong with how it looks. */
const FOCUSED = `(() => {
  const e = document.activeElement;
  if (e === null || e === document.body || e === document.documentElement) return null;
  const style = getComputedStyle(e);
  const isOutlined = e.tagName === 'IFRAME' || (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1);
  // What of a tall element is in sight.
  const boxes = [...e.getClientRects()]
    .map(({ left, top, right, bottom }) => new DOMRect(Math.max(left, 0), Math.max(top, 0), Math.min(right, innerWidth) - Math.max(left, 0), Math.min(bottom, innerHeight) - Math.max(top, 0)))
    .filter(({ width, height }) => width > 0 && height > 0);
  const isUncovered = boxes.some(({ left, top, width, height }) =>
    [[0.5, 0.5], [0.1, 0.2], [0.9, 0.2], [0.1, 0.8], [0.9, 0.8]].some(([x, y]) => {
      const found = document.elementFromPoint(left + width * x, top + height * y);
      return found !== null && (found === e || e.contains(found));
    }));
  const problem = !isOutlined ? 'shows no focus' : !isUncovered ? 'is hidden' : '';
  return { stop: e.dataset.stop ?? null, problem, what: e.outerHTML.slice(0, 120) };
})()`;

interface Focused {
  stop: string | null;
  problem: string;
  what: string;
}

/**
 * Presses Tab and gives what has the focus then; null where the page has not. A frame takes it, is scrolled to and
 * leaves it a moment later.
 */
async function pressTab(page: Page, before: Focused | null): Promise<Focused | null> {
  await page.keyboard.press('Tab');
  const focused: Focused | null = await page.evaluate(FOCUSED);
  const isAtFrame =
    [before, focused].some((one) => one?.what.startsWith('<iframe')) ||
    (focused === null && Boolean(await page.evaluate("document.querySelector('iframe') !== null")));
  if (!isAtFrame) return focused;
  await page.waitForTimeout(250);
  return page.evaluate(FOCUSED);
}

/**
 * Presses Tab until the focus leaves the page; gives what it did not reach, what hides or does not show the focus, and a trap. It begins
 * with the navigation, or else with the main part.
 */
async function tabThrough(page: Page, withNavigation: boolean): Promise<string[]> {
  await page.evaluate('document.activeElement?.blur?.(); scrollTo(0, 0); getSelection()?.removeAllRanges()');
  // The point from which Tab goes on is the beginning of the document or of the main part.
  await page.evaluate(
    `{ const from = document.querySelector('${withNavigation ? 'body' : 'main'}'); const before = from.getAttribute('tabindex');
      from.tabIndex = -1; from.focus({ preventScroll: true }); if (before === null) from.removeAttribute('tabindex'); }`,
  );
  const count = Number(await page.evaluate(mark(withNavigation)));
  const seen = new Set<string>();
  const problems: string[] = [];
  let focused: Focused | null = null;
  for (let presses = 0; presses <= 2 * count + 20; presses++) {
    const before: string | null = focused?.stop ?? null;
    focused = await pressTab(page, focused);
    if (focused === null) break;
    if (focused.problem !== '') problems.push(`${focused.problem}: ${focused.what}`);
    // A field for a date or a time has several parts, each with a press of its own.
    const isBack = focused.stop !== null && focused.stop !== before && seen.has(focused.stop);
    if (isBack && seen.size > 1 && !focused.what.startsWith('<iframe')) break;
    if (focused.stop !== null) seen.add(focused.stop);
  }
  const missed = await page.evaluate(
    (reached) =>
      [...document.querySelectorAll<HTMLElement>('[data-stop]')]
        .filter(({ dataset }) => !reached.includes(dataset.stop ?? ''))
        .map(({ outerHTML }) => `not reached: ${outerHTML.slice(0, 120)}`),
    [...seen],
  );
  await page.evaluate("document.querySelectorAll('[data-stop]').forEach((e) => e.removeAttribute('data-stop'))");
  return [...new Set([...problems, ...missed])];
}

/**
 * Opens each menu and dialog with Enter, those of the navigation only if asked; gives those that Escape does not close, or after which the
 * focus is lost.
 */
async function openAndEscape(page: Page, withNavigation: boolean): Promise<string[]> {
  const problems: string[] = [];
  const count = Number(await page.evaluate(markOpeners(withNavigation)));
  for (let at = 0; at < count; at++) {
    const focusAndDescribe = `{ const e = ${openerAt(at)}; e.focus(); e.outerHTML.slice(0, 120); }`;
    const what: string = await page.evaluate(focusAndDescribe);
    await page.keyboard.press('Enter');
    if (!(await page.evaluate(isOpen(at)))) problems.push(`does not open: ${what}`);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Escape');
    if (await page.evaluate(isOpen(at))) problems.push(`stays open: ${what}`);
    if (!(await page.evaluate(`${openerAt(at)} === document.activeElement`))) problems.push(`loses the focus: ${what}`);
  }
  return problems;
}

/**
 * Marks the visible buttons that open a menu or dialog, and gives how many there are. Playwright's locators would send
 * their code to each page.
 */
const markOpeners = (withNavigation: boolean) =>
  `(() => { const all = [...document.querySelectorAll('button[popovertarget]:not([popovertargetaction="hide"]), nav summary')]
    .filter((e) => e.checkVisibility({ visibilityProperty: true }) && (${withNavigation} || !${isBeforeMain('e')}));
  all.forEach((e, at) => { e.dataset.opener = at; }); return all.length; })()`;

const openerAt = (at: number) => `document.querySelector('[data-opener="${at}"]')`;

const isOpen = (at: number) =>
  `document.getElementById(${openerAt(at)}.getAttribute('popovertarget') ?? '')?.matches(':popover-open') ?? ${openerAt(at)}.closest('details')?.open ?? false`;
