/** The texts of public pages, in the language of the visitor's browser. */
import type { FastifyReply } from 'fastify';
import { acceptedLocales, PAGE_LANGUAGES, type PageLanguage, preferredLanguage } from '../../../languages.ts';
import { de } from './de.tsx';
import { en } from './en.tsx';
import { es } from './es.tsx';
import { fr } from './fr.tsx';
import { it } from './it.tsx';
import { nl } from './nl.tsx';
import { pl } from './pl.tsx';
import { pt } from './pt.tsx';

export type PageWords = typeof en & { language: PageLanguage };

const WORDS: Readonly<Record<PageLanguage, typeof en>> = { en, de, fr, es, it, nl, pl, pt };

/**
 * The languages for a visitor who is known as a contact. `own` is the contact's language, null if it is unknown, and
 * `account` the account's.
 */
export interface ContactLanguages {
  own: string | null;
  account: string;
}

/**
 * The texts in the visitor's language: the contact's language if it is known, else the browser's, else the account's.
 * Adds a Vary header, because the reply depends on the requested language (RFC 9110, 12.5.5).
 */
export function chooseWords(reply: FastifyReply, contact: ContactLanguages = { own: null, account: 'en' }): PageWords {
  reply.header('vary', 'Accept-Language');
  const accepted = acceptedLocales(reply.request.headers['accept-language']);
  return wordsIn(preferredLanguage([contact.own ?? '', ...accepted, contact.account], PAGE_LANGUAGES));
}

/** The texts in one language, for pages whose owner has chosen it. */
export function wordsIn(language: PageLanguage): PageWords {
  return { ...WORDS[language], language };
}
