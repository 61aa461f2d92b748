/** The texts of grapesjs and grapesjs-mjml. A page loads only those of its language. */

/** Words of the editor as grapesjs takes them, and of its plugin for MJML; null if it has them itself. */
interface EditorWords {
  editorWords: object;
  mjmlWords: object | null;
}

const WORDS: Readonly<Record<string, () => Promise<EditorWords>>> = {
  de: () => import('./words.de.ts'),
  en: () => import('./words.en.ts'),
};

/** Returns the texts in the language of the page; null if there are none. */
export async function wordsOfPage() {
  const { lang } = document.documentElement;
  const words = await WORDS[lang]?.();
  return words === undefined ? null : { lang, ...words };
}
