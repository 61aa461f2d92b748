/** The texts of the pages that recipients open, in the language of their browser. */
import type { FastifyReply } from 'fastify';
import { acceptedLocales, type LanguageCode, preferredLanguage } from '../../../languages.ts';
import { de } from './de.tsx';
import { en } from './en.tsx';

export type PageWords = typeof en & { language: LanguageCode };

const WORDS: Readonly<Record<LanguageCode, PageWords>> = {
  en: { ...en, language: 'en' },
  de: { ...de, language: 'de' },
};

/** Gives the texts in the language of the person who gets the reply. Says in the reply that it depends on the language asked for (RFC 9110, 12.5.5). */
export function chooseWords(reply: FastifyReply): PageWords {
  reply.header('vary', 'Accept-Language');
  return WORDS[preferredLanguage(acceptedLocales(reply.request.headers['accept-language']))];
}

/** The texts in one language, for pages whose owner has decided on it. */
export function wordsIn(language: LanguageCode): PageWords {
  return WORDS[language];
}
