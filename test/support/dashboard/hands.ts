/** The two ways in which a person works a page: with a mouse, and with the keyboard alone. */
import type { Locator, Page } from 'playwright-core';

export interface UploadedFile {
  name: string;
  mimeType: string;
  buffer: Buffer;
}

/** What a person does with a page. Each waits until its target is there. */
export interface Hands {
  /** Follows a link or presses a button. */
  press(target: Locator): Promise<void>;
  /** Replaces what stands in a field. */
  type(target: Locator, text: string): Promise<void>;
  /** Chooses an option of a select by its label. */
  pick(target: Locator, option: string): Promise<void>;
  /** Ticks a checkbox. */
  tick(target: Locator): Promise<void>;
  /** Gives a file to a file field. */
  hand(target: Locator, file: UploadedFile): Promise<void>;
}

export function mouse(): Hands {
  return {
    press: (target) => target.click(),
    type: (target, text) => target.fill(text),
    pick: async (target, option) => {
      await target.selectOption({ label: option });
    },
    tick: (target) => target.check(),
    hand: (target, file) => target.setInputFiles(file),
  };
}

/** How long a person takes: two seconds to find and press something, and a minute for 200 characters. */
const PRESS_SECONDS = 2;
const SECONDS_PER_CHARACTER = 60 / 200;

/** The same hands, with the time that a person would have taken so far, in seconds; the page's own time does not count. */
export function timed(hands: Hands): { hands: Hands; seconds: () => number } {
  let seconds = 0;
  const pressed =
    <Given extends unknown[]>(act: (...given: Given) => Promise<void>) =>
    (...given: Given) => {
      seconds += PRESS_SECONDS;
      return act(...given);
    };
  return {
    seconds: () => seconds,
    hands: {
      press: pressed(hands.press),
      pick: pressed(hands.pick),
      tick: pressed(hands.tick),
      hand: pressed(hands.hand),
      type: (target, text) => {
        seconds += PRESS_SECONDS + text.length * SECONDS_PER_CHARACTER;
        return hands.type(target, text);
      },
    },
  };
}

/** More presses of Tab than any page has controls. */
const MAX_TABS = 400;
const MAX_PRESSES = 4;
const CHOOSER_MS = 10_000;
/** After this time, browsers take the next key as the beginning of the name of another option. */
const FORGOTTEN_MS = 1500;

/** Returns true if Enter on the focused element opens another page: a link, or a button that sends a form. */
const LEADS_AWAY = `document.activeElement.matches('a[href], button:not([type=button], [popovertarget])')`;

/** Only presses keys: Tab to come to a control, and what the control knows. */
export function keyboard(page: Page): Hands {
  // With a listener from the start, no dialog opens before the browser knows that we answer it.
  page.on('filechooser', () => undefined);
  const isFocused = (target: Locator) => target.evaluate((element) => element === document.activeElement);
  async function reach(target: Locator): Promise<void> {
    await target.waitFor({ state: 'attached' });
    // Asking the page after each press takes longer than the press, so most of the way is gone without.
    const between = await target.evaluate((element) => {
      const all: (Element | null)[] = [
        ...document.querySelectorAll<HTMLElement>('a[href], button, input, select, textarea, summary'),
      ].filter(
        (one) => one.checkVisibility() && one.tabIndex >= 0 && !one.matches(':disabled, [type=radio]:not(:checked)'),
      );
      return all.indexOf(element) - all.indexOf(document.activeElement) - 1;
    });
    for (let tabs = 0; tabs < MAX_TABS; tabs++) {
      if (tabs >= between && (await isFocused(target))) return;
      await page.keyboard.press('Tab');
    }
    throw new Error(`no number of tabs reaches ${target}`);
  }
  return {
    async press(target) {
      await reach(target);
      const leadsAway = Boolean(await page.evaluate(LEADS_AWAY));
      // What comes next is on the page that follows. A control of the same name may be on this one, too.
      const followed = leadsAway
        ? page.waitForEvent('framenavigated', { predicate: (frame) => frame === page.mainFrame() })
        : null;
      await page.keyboard.press('Enter');
      await followed;
    },
    async type(target, text) {
      await reach(target);
      await page.keyboard.press('Control+a');
      await page.keyboard.type(text);
    },
    async pick(target, option) {
      await reach(target);
      const chosen = () => target.evaluate((select: HTMLSelectElement) => select.selectedOptions[0]?.label);
      // A busy browser may take the keys for those of several options; a person types again.
      for (let tries = 0; tries < MAX_PRESSES; tries++) {
        await page.keyboard.type(option);
        if ((await chosen()) === option) return;
        await page.waitForTimeout(FORGOTTEN_MS);
      }
      throw new Error(`the keys choose ${await chosen()} instead of ${option}`);
    },
    async tick(target) {
      await reach(target);
      if (!(await target.isChecked())) await page.keyboard.press('Space');
    },
    async hand(target, file) {
      await reach(target);
      // A busy browser may lose the first key; a person presses it again.
      for (let presses = 0; presses < MAX_PRESSES; presses++) {
        const opened = page.waitForEvent('filechooser', { timeout: CHOOSER_MS }).catch(() => null);
        await page.keyboard.press('Enter');
        const chooser = await opened;
        if (chooser !== null) return chooser.setFiles(file);
      }
      throw new Error(`no dialog for files opens from ${target}`);
    },
  };
}
