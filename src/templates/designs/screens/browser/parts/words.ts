/** The texts of the editor grapesjs and its plugin grapesjs-mjml. A page loads only those of its language. */

interface EditorWords {
  editorWords: object;
  mjmlWords: object;
}

const WORDS: Readonly<Record<string, () => Promise<EditorWords>>> = {
  de: () => import('./words.de.ts'),
  en: () => import('./words.en.ts'),
};

/** Returns the texts in the language of the page; null if there are none in this language. */
export async function wordsOfPage() {
  const { lang } = document.documentElement;
  const words = await WORDS[lang]?.();
  return words === undefined ? null : { lang, ...words };
}
