/** Flashes: messages about the last action that the next page shows. Until then, a cookie has the message. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { hasEncryptedSession, readCookie, writeCookie } from '../http/cookies.ts';
import type { Tone } from './components/surface.tsx';
import { isPrefetch } from './prefetch.ts';
import { isWordKey, type Values, type WordKey } from './words/index.ts';

const COOKIE = 'sendlark_flash';
/** How long the cookie lasts. */
const SECONDS = 60;
/** The maximum length of a value, such as the name of a campaign. Longer values are cut off, because a cookie has at most 4096 bytes. */
const MAX_VALUE = 300;

/** A message: the key of its text, with the values in the text. */
export interface Flash {
  tone: Tone;
  key: WordKey;
  values: Readonly<Record<string, string | number>>;
  /** The path to which the button “Undo” beside the text posts; absent if there is no such button. */
  undo?: string;
}

/** The paths that undo something. The button accepts no other paths, because a cookie can contain anything. */
const UNDO_PATH = /^\/(contacts\/segments|templates|forms)\/\d{1,15}\/undelete$/;

/** Makes the next page show the text of this key with its values. */
export function setFlash<Key extends WordKey>(
  reply: FastifyReply,
  tone: Tone,
  key: Key,
  ...[values]: Values<Key>
): void {
  writeFlash(reply, tone, key, values);
}

/** Makes the next page show the text of this key in the tone `good`, with the button “Undo”, which posts to the path `undo`. */
export function setFlashWithUndo<Key extends WordKey>(
  reply: FastifyReply,
  undo: string,
  key: Key,
  ...[values]: Values<Key>
): void {
  writeFlash(reply, 'good', key, values, undo);
}

function writeFlash(
  reply: FastifyReply,
  tone: Tone,
  key: WordKey,
  values: Partial<Flash['values']> = {},
  undo?: string,
): void {
  const shortValues = Object.entries(values).map(([name, value]) => [
    name,
    typeof value === 'string' ? value.slice(0, MAX_VALUE) : value,
  ]);
  const text = JSON.stringify({
    tone,
    key,
    values: Object.fromEntries(shortValues),
    ...(undo && { undo }),
  } satisfies Flash);
  writeFlashCookie(reply, Buffer.from(text).toString('base64url'), SECONDS);
}

/** Returns the message for this page and removes it; null if there is none. A prefetched page gets no message, because nobody may see it. */
export function takeFlash(request: FastifyRequest, reply: FastifyReply): Flash | null {
  if (isPrefetch(request)) return null;
  const value = readCookie(request, COOKIE);
  if (!value) return null;
  writeFlashCookie(reply, '', 0);
  return readFlash(Buffer.from(value, 'base64url').toString());
}

function writeFlashCookie(reply: FastifyReply, value: string, seconds: number): void {
  writeCookie(reply, COOKIE, value, seconds, hasEncryptedSession(reply.request));
}

/** Parses a message. Returns null unless it has a known text and plain values, because a cookie can contain anything. */
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
