/** The texts of public pages, in the language of the visitor's browser. */
import type { FastifyReply } from 'fastify';
import { acceptedLocales, type LanguageCode, preferredLanguage } from '../../../languages.ts';
import { de } from './de.tsx';
import { en } from './en.tsx';

export type PageWords = typeof en & { language: LanguageCode };

const WORDS: Readonly<Record<LanguageCode, PageWords>> = {
  en: { ...en, language: 'en' },
  de: { ...de, language: 'de' },
};

/** The texts in the visitor's language. Adds a Vary header, because the reply depends on the requested language (RFC 9110, 12.5.5). */
export function chooseWords(reply: FastifyReply): PageWords {
  reply.header('vary', 'Accept-Language');
  return WORDS[preferredLanguage(acceptedLocales(reply.request.headers['accept-language']))];
}

/** The texts in one language, for pages whose owner has chosen it. */
export function wordsIn(language: LanguageCode): PageWords {
  return WORDS[language];
}
