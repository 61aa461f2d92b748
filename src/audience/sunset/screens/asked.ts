/** The rule about inactive people as the form of its page has it: what is done with them and where they are put is one field. */
import type { FastifyRequest } from 'fastify';
import { attempt, type Refusal } from '../../../dashboard/operations.ts';
import { previewSunset, type Sunset, type SunsetPreview } from '../operations.ts';

/** How long a page waits for the count. */
const COUNT_MS = 2000;

/** What is done with inactive people, as one value of the form. */
export function targetValue({ action, segment_id, contact_type_id }: Sunset): string {
  if (action === 'segment') return `segment_${segment_id}`;
  return action === 'move' ? `move_${contact_type_id}` : 'stop';
}

/** The rule for what the form of the page asks for. */
export function ruleOf(months: string, leastMails: string, target: string): Record<string, string> {
  const [action = '', id = ''] = target.split('_');
  return {
    months,
    least_mails: leastMails,
    action,
    ...(action === 'segment' && { segment_id: id }),
    ...(action === 'move' && { contact_type_id: id }),
  };
}

/** Counts whom a rule means, for a while, after those that were counted before; why not, where the rule is invalid. */
export async function countInactive(
  request: FastifyRequest,
  rule: Readonly<Record<string, string>>,
  before: { count: number; afterId: number },
): Promise<SunsetPreview | Refusal> {
  let found: SunsetPreview = { count: before.count, contacts: [], next_after_id: before.afterId };
  for (const until = Date.now() + COUNT_MS; found.next_after_id !== null && Date.now() < until; ) {
    const counted = await attempt(request, previewSunset, { ...rule, after_id: found.next_after_id });
    if ('problems' in counted) return counted;
    const { count, contacts, next_after_id } = counted.output;
    found = {
      count: found.count + count,
      contacts: found.contacts.length > 0 ? found.contacts : contacts,
      next_after_id,
    };
  }
  return found;
}
