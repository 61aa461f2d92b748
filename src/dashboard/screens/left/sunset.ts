/** The rule about inactive people, as the API has it and as the form of its page does. */
import { type ApiClient, refusalOf } from '../../api-client.ts';

export interface Rule {
  months: number;
  least_mails: number;
  action: 'stop' | 'segment' | 'move';
  segment_id: number | null;
  contact_type_id: number | null;
}

export interface Sunset extends Rule {
  is_on: 0 | 1;
  is_target_missing: 0 | 1;
  stopped: number;
  is_working: 0 | 1;
  days: { day: string; stopped: number; moved: number; lifted: number }[];
}

/** Whom a rule means: how many so far, ten of them, and where to go on counting; null at the end. */
export interface Preview {
  count: number;
  contacts: { id: number; fullname: string; email: string }[];
  next_after_id: number | null;
}

/** Where people can be put: a value of the form and what it is called. */
export interface Targets {
  segments: { id: number; segment_name: string }[];
  types: { id: number; name: string }[];
}

/** How long a page waits for the count. */
const COUNT_MS = 2000;

export async function readSunset(api: ApiClient): Promise<Sunset> {
  return (await api.get<{ sunset: Sunset }>('/sunset')).sunset;
}

export async function readTargets(api: ApiClient): Promise<Targets> {
  const [{ segments }, { contactTypes }] = await Promise.all([
    api.get<{ segments: Targets['segments'] }>('/segment/list'),
    api.get<{ contactTypes: Targets['types'] }>('/contacts-type'),
  ]);
  return { segments, types: contactTypes };
}

/** What is done with inactive people, as one value of the form. */
export function targetValue({ action, segment_id, contact_type_id }: Rule): string {
  if (action === 'segment') return `segment_${segment_id}`;
  return action === 'move' ? `move_${contact_type_id}` : 'stop';
}

/** The fields of the API for what the form of the page asks for. */
export function apiRule(months: string, leastMails: string, target: string): Record<string, string> {
  const [action = '', id = ''] = target.split('_');
  return {
    months,
    least_mails: leastMails,
    action,
    ...(action === 'segment' && { segment_id: id }),
    ...(action === 'move' && { contact_type_id: id }),
  };
}

/** Counts whom a rule means, for a while, after those that were counted before; the errors of its fields where it is invalid. */
export async function readPreview(
  api: ApiClient,
  rule: Readonly<Record<string, string>>,
  before: { count: number; afterId: number },
): Promise<Preview | { errors: Readonly<Record<string, readonly string[]>> }> {
  let found: Preview = { count: before.count, contacts: [], next_after_id: before.afterId };
  for (const until = Date.now() + COUNT_MS; found.next_after_id !== null && Date.now() < until; ) {
    const query = new URLSearchParams({ ...rule, after_id: String(found.next_after_id) });
    const answer = await api.send<Preview>('GET', `/sunset/preview?${query}`);
    if (answer.message === undefined) return { errors: refusalOf(answer).problems };
    const { count, contacts, next_after_id } = answer.message;
    const shown = found.contacts.length > 0 ? found.contacts : contacts;
    found = { count: found.count + count, contacts: shown, next_after_id };
  }
  return found;
}
