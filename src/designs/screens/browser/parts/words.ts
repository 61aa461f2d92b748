/** The words of grapesjs and grapesjs-mjml in the languages other than English, in which both are written. A page loads those of its language. */
import type * as German from './words.de.ts';

const WORDS: Readonly<Record<string, () => Promise<typeof German>>> = { de: () => import('./words.de.ts') };

/** The words in the language of the page; null where grapesjs has its own. */
export async function wordsOfPage() {
  const { lang } = document.documentElement;
  const words = await WORDS[lang]?.();
  return words === undefined ? null : { lang, ...words };
}
