/** Replaces the content of a mail by a template or by HTML, unless it was changed since the page was opened. */
import { type ApiClient, refusalText } from '../../../api-client.ts';
import type { Language } from '../../../words/index.ts';
import type { Composed } from '../composed.ts';

const CONFLICT = 409;

/** Gives null when it was saved, else why not. */
export async function replaceContent(
  api: ApiClient,
  language: Language,
  { utr, endpoints }: Composed,
  changes: Readonly<Record<string, string>>,
  unchangedSince: string,
): Promise<{ status: number; problem: string } | null> {
  const answer = await api.send('POST', endpoints.save, { ...changes, utr, unchanged_since: unchangedSince });
  if (answer.message !== undefined) return null;
  const problem = answer.status === CONFLICT ? language.say('compose.schedule.changed') : refusalText(answer);
  return { status: answer.status, problem };
}
