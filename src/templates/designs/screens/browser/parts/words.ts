/** The texts of grapesjs and grapesjs-mjml in languages other than English. A page loads only those of its language. */
import type * as German from './words.de.ts';

const WORDS: Readonly<Record<string, () => Promise<typeof German>>> = { de: () => import('./words.de.ts') };

/** Returns the texts in the language of the page; null if it is English, which grapesjs has itself. */
export async function wordsOfPage() {
  const { lang } = document.documentElement;
  const words = await WORDS[lang]?.();
  return words === undefined ? null : { lang, ...words };
}
