/** The language of a page: the texts of the page, and how it writes numbers and dates. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { fillPlaceholders, type Said, SENTENCES, Sentence, type SentenceCode } from '../../errors/sentences.ts';
import type { LanguageCode } from '../../languages.ts';
import { de } from './de/index.ts';
import { sentenceFields, sentences } from './de/sentences.ts';
import { en } from './en/index.ts';
import { sentenceFields as englishFields, sentences as englishSentences } from './en/sentences.ts';
import type { Entry, Translation, ValuesOf } from './translation.ts';

type English = typeof en;
/** The key of a text. */
export type WordKey = keyof English;
/** The type of the last arguments of `say`: the values that the text of a key needs; no argument if the text needs none. */
export type Values<Key extends WordKey> = keyof ValuesOf<English[Key]> extends never ? [] : [ValuesOf<English[Key]>];
/** The keys of the texts without values. */
export type PlainKey = { [Key in WordKey]: keyof ValuesOf<English[Key]> extends never ? Key : never }[WordKey];

/** Returns true if a value is the key of a text. */
export function isWordKey(value: unknown): value is WordKey {
  return typeof value === 'string' && Object.hasOwn(en, value);
}

/** The names of values in sentences that users have chosen. Such values are shown unchanged. */
const UNCHANGED_VALUES: readonly string[] = ['subject', 'segment', 'field', 'type', 'file', 'name', 'kind', 'address'];

/** The texts of a language. */
export interface Words {
  readonly texts: Readonly<Record<string, Entry>>;
  /** The service's sentences by code. A sentence that is missing here is shown in English. */
  readonly sentences: Readonly<Partial<Record<SentenceCode, string>>>;
  /** The names of fields in these sentences, by their English names. */
  readonly fields: Readonly<Record<string, string>>;
}

const WORDS: Readonly<Record<LanguageCode, Words & { readonly texts: Translation<English> }>> = {
  en: { texts: en, sentences: englishSentences, fields: englishFields },
  de: { texts: de, sentences, fields: sentenceFields },
};

/** Matches letters of right-to-left scripts, and characters that change the direction. */
const CHANGES_DIRECTION = /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc]/;

/**
 * Returns a value for a sentence. A value with right-to-left letters is enclosed in FSI and PDI (Unicode Standard Annex 9, 2.4), so that
 * the text behind the value keeps its own direction.
 */
function isolated(value: string): string {
  return CHANGES_DIRECTION.test(value) ? `\u2068${value}\u2069` : value;
}

/** Texts, numbers and times for one user. */
export class Language {
  readonly code: LanguageCode;
  /** The user's locale, such as de-AT. */
  readonly locale: string;
  /** The user's IANA time zone. */
  readonly zone: string;
  readonly #words: Words;

  constructor(code: LanguageCode, locale: string = code, zone = 'UTC', words: Words = WORDS[code]) {
    this.code = code;
    this.locale = locale;
    this.zone = zone;
    this.#words = words;
  }

  /** Returns the text of a key with its values filled in. The value `count` chooses the plural form. */
  say<Key extends WordKey>(key: Key, ...[values]: Values<Key>): string {
    return this.fill(key, values ?? {});
  }

  /** Returns the text of a key as `say` does, for keys and values that are known only at run time, such as those of a flash. */
  fill(key: WordKey, values: Readonly<Record<string, string | number>>): string {
    const entry = this.#words.texts[key] ?? key;
    const text = typeof entry === 'string' ? entry : entry[this.#form(Number(values.count))];
    return text.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => {
      const value = values[name];
      if (value === undefined) return placeholder;
      return typeof value === 'number' ? this.number(value) : isolated(value);
    });
  }

  /**
   * Returns a sentence of the service, such as why a recipient got no mail, in the user's language. A text that is not the service's, such
   * as the reply of a mail server, is returned unchanged.
   */
  sentence(said: Said): string {
    if (!(said instanceof Sentence)) return this.#text(said);
    const values = Object.entries(said.values).map(([name, value]) => [name, this.#value(said.code, name, value)]);
    const pattern = this.#words.sentences[said.code] ?? SENTENCES[said.code];
    return fillPlaceholders(pattern, Object.fromEntries(values));
  }

  /** Returns a sentence as `sentence` does, with a full stop at its end, for a place where it is the last or the only one of a text. */
  fullSentence(said: Said): string {
    const text = this.sentence(said);
    return text === '' || /[.!?\u2026][)\u201d\u201c"\u2019]*$/.test(text) ? text : `${text}.`;
  }

  /** Returns a value of a sentence as a text. The value of `file_too_large` is a number of bytes. */
  #value(code: SentenceCode, name: string, value: Said | number): string {
    const { fields } = this.#words;
    if (name === 'field' && (code.startsWith('field_') || code === 'content_invalid'))
      return (Object.hasOwn(fields, String(value)) && fields[String(value)]) || String(value);
    if (typeof value === 'number') return code === 'file_too_large' ? this.bytes(value) : this.number(value);
    if (name === 'language')
      return formatter(Intl.DisplayNames, this.locale, { type: 'language' }).of(String(value)) ?? String(value);
    return UNCHANGED_VALUES.includes(name) ? String(value) : this.sentence(value);
  }

  /** Returns a text that is not the service's unchanged, unless it is a number or a time, which are written in the user's way. */
  #text(text: string): string {
    if (/^\d+(?:\.\d+)?$/.test(text)) return this.number(Number(text));
    // A text can look like a time without being one, such as 2026-13-01. It is returned unchanged.
    const time = /^\d{4}-\d\d-\d\d(?:T[\d:.]+Z)?$/.test(text) ? new Date(text) : null;
    if (time === null || Number.isNaN(time.getTime())) return text;
    return text.includes('T') ? this.dateTime(time) : this.calendarDate(text);
  }

  #form(count: number): 'one' | 'other' {
    return formatter(Intl.PluralRules, this.locale, {}).select(count) === 'one' ? 'one' : 'other';
  }

  /** Formats a number with the locale's separators and at most two decimals. */
  number(value: number): string {
    return formatter(Intl.NumberFormat, this.locale, { maximumFractionDigits: 2 }).format(value);
  }

  /** Formats a share from 0 to 1 as a percentage with at most one decimal. */
  percent(share: number): string {
    return formatter(Intl.NumberFormat, this.locale, { style: 'percent', maximumFractionDigits: 1 }).format(share);
  }

  /** Formats an amount of money. `currency` is an ISO 4217 code; if it is empty, the amount is formatted as a number. */
  money(amount: number, currency: string): string {
    if (currency === '') return this.number(amount);
    return formatter(Intl.NumberFormat, this.locale, { style: 'currency', currency }).format(amount);
  }

  /** Formats a part of a whole as a percentage. Returns a dash if the whole is 0. */
  share(part: number, whole: number): string {
    return whole <= 0 ? '–' : this.percent(part / whole);
  }

  /** Formats a number of bytes in a suitable unit. */
  bytes(value: number): string {
    const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'];
    const step = value < 1 ? 0 : Math.min(Math.floor(Math.log2(value) / 10), units.length - 1);
    const unit = units[step] ?? 'byte';
    const options = {
      style: 'unit',
      unit,
      unitDisplay: step === 0 ? 'long' : 'short',
      maximumFractionDigits: 1,
    } as const;
    return formatter(Intl.NumberFormat, this.locale, options).format(value / 1024 ** step);
  }

  /** Formats a date in the user's time zone, such as 22 Nov 2026. */
  date(time: Date): string {
    return formatter(Intl.DateTimeFormat, this.locale, { dateStyle: 'medium', timeZone: this.zone }).format(time);
  }

  /** Formats a calendar date, given as YYYY-MM-DD, such as 22 Nov 2026. */
  calendarDate(day: string): string {
    const options = { dateStyle: 'medium', timeZone: 'UTC' } as const;
    return formatter(Intl.DateTimeFormat, this.locale, options).format(new Date(`${day}T00:00:00Z`));
  }

  /** Formats a calendar date, given as YYYY-MM-DD, without its year, such as 22 Nov. */
  calendarDay(day: string): string {
    const options = { month: 'short', day: 'numeric', timeZone: 'UTC' } as const;
    return formatter(Intl.DateTimeFormat, this.locale, options).format(new Date(`${day}T00:00:00Z`));
  }

  /** Formats a month, given as YYYY-MM, such as Nov 2026. */
  shortMonth(month: string): string {
    const options = { month: 'short', year: 'numeric', timeZone: 'UTC' } as const;
    return formatter(Intl.DateTimeFormat, this.locale, options).format(new Date(`${month}-01T00:00:00Z`));
  }

  /** Formats an hour of a day in the user's time zone, without the year, such as 22 Nov, 14:00. */
  hour(time: Date): string {
    const options = {
      month: 'short',
      day: 'numeric',
      hour: 'numeric',
      minute: '2-digit',
      timeZone: this.zone,
    } as const;
    return formatter(Intl.DateTimeFormat, this.locale, options).format(time);
  }

  /** Formats a month, given as YYYY-MM, such as November 2026. */
  month(month: string): string {
    const options = { month: 'long', year: 'numeric', timeZone: 'UTC' } as const;
    return formatter(Intl.DateTimeFormat, this.locale, options).format(new Date(`${month}-01T00:00:00Z`));
  }

  /** Formats the weekday of a calendar date, given as YYYY-MM-DD, such as Mon. */
  weekday(day: string): string {
    const options = { weekday: 'short', timeZone: 'UTC' } as const;
    return formatter(Intl.DateTimeFormat, this.locale, options).format(new Date(`${day}T00:00:00Z`));
  }

  /** Formats the time of day in a time zone, such as 14:00. */
  time(time: Date, zone: string): string {
    return formatter(Intl.DateTimeFormat, this.locale, { timeStyle: 'short', timeZone: zone }).format(time);
  }

  /** Formats a date and time in the user's time zone, to the minute. */
  dateTime(time: Date): string {
    const options = { dateStyle: 'medium', timeStyle: 'short', timeZone: this.zone } as const;
    return formatter(Intl.DateTimeFormat, this.locale, options).format(time);
  }

  /** Formats a date with its weekday, and the time to the minute, in a time zone, such as Tuesday 24 November 2026 at 09:00. */
  weekdayTime(time: Date, zone: string): string {
    const options = { dateStyle: 'full', timeStyle: 'short', timeZone: zone } as const;
    return formatter(Intl.DateTimeFormat, this.locale, options).format(time);
  }

  /**
   * Formats how far a time is in the past or the future, in the largest unit that fits, such as “3 hours ago”. A time in the future is
   * rounded, so that “in 6 days” is still right a moment later. A time in the past counts whole units.
   */
  relative(time: Date, now: Date): string {
    const seconds = Math.round((time.getTime() - now.getTime()) / 1000);
    const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1];
    const options = { numeric: 'auto' } as const;
    const count = seconds > 0 ? Math.round(seconds / size) : Math.trunc(seconds / size);
    return formatter(Intl.RelativeTimeFormat, this.locale, options).format(count, unit);
  }
}

/** The units of `relative`, with their lengths in seconds. */
const UNITS = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;

type Formatter<Options, Instance> = new (locale: string, options: Options) => Instance;
const formatters = new Map<string, unknown>();
/** The maximum number of cached formatters. It is limited because a browser chooses the locale, and anyone can ask for many locales. */
const MAX_FORMATTERS = 500;

/** Returns the formatter for a locale and options. Formatters are cached, because creating one takes longer than using it many times. */
function formatter<Options, Instance>(kind: Formatter<Options, Instance>, locale: string, options: Options): Instance {
  const key = `${kind.name} ${locale} ${JSON.stringify(options)}`;
  const cached = formatters.get(key);
  if (cached instanceof kind) return cached;
  if (formatters.size >= MAX_FORMATTERS) formatters.clear();
  const format = new kind(locale, options);
  formatters.set(key, format);
  return format;
}

const Current = createContext(new Language('en'));

/** Provides a language to the components inside. */
export const LanguageProvider = Current.Provider;

/** Returns the language of the page that is being rendered. */
export function useLanguage(): Language {
  return useContext(Current);
}
