/** A message that the next page shows about the last action, stored in a cookie until then. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { hasEncryptedSession, readCookie, writeCookie } from '../http/cookies.ts';
import type { Tone } from './components/surface.tsx';
import { isPrefetch } from './prefetch.ts';
import { isWordKey, type Values, type WordKey } from './words/index.ts';

const COOKIE = 'sendlark_flash';
const SECONDS = 60;
/** The maximum length of a value in the message, such as the name of a campaign, because a cookie has 4096 bytes. */
const MAX_VALUE = 300;

export interface Flash {
  tone: Tone;
  key: WordKey;
  values: Readonly<Record<string, string | number>>;
  /** The page to which the button “Undo” beside the text posts. */
  undo?: string;
}

/** The pages that undo something. The cookie can contain anything, and must not make a button post elsewhere. */
const UNDO_PATH = /^\/(contacts\/segments|templates|forms)\/\d{1,15}\/undelete$/;

/** Makes the next page show the text of this key with its values. */
export function setFlash<Key extends WordKey>(
  reply: FastifyReply,
  tone: Tone,
  key: Key,
  ...[values]: Values<Key>
): void {
  write(reply, tone, key, values);
}

/** Makes the next page show this good news with the button “Undo”, which posts to the page `undo`. */
export function setFlashWithUndo<Key extends WordKey>(
  reply: FastifyReply,
  undo: string,
  key: Key,
  ...[values]: Values<Key>
): void {
  write(reply, 'good', key, values, undo);
}

function write(
  reply: FastifyReply,
  tone: Tone,
  key: WordKey,
  values: Partial<Flash['values']> = {},
  undo?: string,
): void {
  const short = Object.entries(values).map(([name, value]) => [
    name,
    typeof value === 'string' ? value.slice(0, MAX_VALUE) : value,
  ]);
  const text = JSON.stringify({ tone, key, values: Object.fromEntries(short), ...(undo && { undo }) } satisfies Flash);
  writeFlash(reply, Buffer.from(text).toString('base64url'), SECONDS);
}

/** Returns the message for this page, if there is one, and removes it. A prefetched page may never be seen, so it gets none. */
export function takeFlash(request: FastifyRequest, reply: FastifyReply): Flash | null {
  if (isPrefetch(request)) return null;
  const value = readCookie(request, COOKIE);
  if (!value) return null;
  writeFlash(reply, '', 0);
  return readFlash(Buffer.from(value, 'base64url').toString());
}

function writeFlash(reply: FastifyReply, value: string, seconds: number): void {
  writeCookie(reply, COOKIE, value, seconds, hasEncryptedSession(reply.request));
}

/** A cookie can contain anything, so only a known text with plain values is accepted. */
function readFlash(text: string): Flash | null {
  try {
    const { tone, key, values, undo }: Record<string, unknown> = JSON.parse(text);
    if (!isTone(tone) || !isWordKey(key) || typeof values !== 'object' || values === null) return null;
    const plain = Object.entries(values).filter(([, value]) => ['string', 'number'].includes(typeof value));
    return {
      tone,
      key,
      values: Object.fromEntries(plain),
      ...(typeof undo === 'string' && UNDO_PATH.test(undo) && { undo }),
    };
  } catch {
    return null;
  }
}

function isTone(value: unknown): value is Tone {
  return ['plain', 'good', 'busy', 'warn', 'bad'].includes(String(value));
}
