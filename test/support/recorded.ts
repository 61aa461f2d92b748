/** Answers that are kept in a file, so that a release that answers anything else is noticed. */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import type { Test } from 'tap';
import { withoutChance } from './tables.ts';

/** What else is drawn by lot: the tokens of links keys, and the secrets of webhooks. */
const DRAWN =
  /(?<=[?&/](?:token=|t=|d\/|design\/))[\w.~-]{16,}|\b[A-Z][\w-]*\.[\w-]{22}\b|\b[ps]k_[\w-]+|(?<=whsec_|welcome#)[\w+/-]+/g;

/**
 * The answer without what is drawn by lot, with its length, which tells whether a line end is part of it. Of a longer
 * one the hash is kept.
 */
export function asRecorded(text: string, mostCharacters: number): string {
  const settled = withoutChance(text).replace(DRAWN, 'drawn');
  const isLong = settled.length > mostCharacters;
  const shown = isLong ? `SHA-256 ${createHash('sha256').update(settled).digest('hex')}` : settled.trimEnd();
  return `${settled.length} characters\n${shown}`;
}

/** Compares answers with those in a file, or records them there with `RECORD_ANSWERS=1` in the environment. */
export function holdToRecorded(t: Test, file: URL, answers: string): void {
  if (process.env.RECORD_ANSWERS === '1') writeFileSync(file, answers);
  t.equal(answers, readFileSync(file, 'utf8'));
}
