/** Replaces the content of a mail by a template or by HTML, unless it was changed since the page was opened. */
import { type Refusal, sentenceOf } from '../../../operations.ts';
import type { Language } from '../../../words/index.ts';
import type { Composed } from '../composed.ts';

const CONFLICT = 409;

/** Gives null when it was saved, else why not. */
export async function replaceContent(
  language: Language,
  mail: Composed,
  content: Readonly<Record<string, string>>,
  unchangedSince: string,
): Promise<Pick<Refusal, 'status' | 'problem'> | null> {
  const refusal = await mail.save(content, unchangedSince);
  if (refusal === null) return null;
  const { status } = refusal;
  return { status, problem: status === CONFLICT ? language.say('compose.schedule.changed') : sentenceOf(refusal) };
}
