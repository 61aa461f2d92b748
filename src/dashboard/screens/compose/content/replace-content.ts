/** Replaces the content of a mailing by a template or by HTML, unless it was changed since the page was opened. */
import { type ApiClient, refusalText } from '../../../api-client.ts';
import type { Language } from '../../../words/index.ts';

const CONFLICT = 409;

/** Gives null when it was saved, else why not. */
export async function replaceContent(
  api: ApiClient,
  language: Language,
  utr: string,
  changes: Readonly<Record<string, string>>,
  unchangedSince: string,
): Promise<{ status: number; problem: string } | null> {
  const answer = await api.send('POST', '/single/send/save', { ...changes, utr, unchanged_since: unchangedSince });
  if (answer.message !== undefined) return null;
  const problem = answer.status === CONFLICT ? language.say('compose.schedule.changed') : refusalText(answer);
  return { status: answer.status, problem };
}
