/** What the API gives of webhooks and their log, and how the pages say it. */
import type { Tone } from '../../../components/surface.tsx';
import type { Language } from '../../../words/index.ts';

export interface Webhook {
  id: number;
  url: string;
  note: string;
  events: readonly string[];
  state: 'enabled' | 'disabled';
  disabled_code: 'by_owner' | 'failing' | 'gone' | 'too_many' | null;
  disabled_reason: string | null;
  /** At most 1 000, which stands for as many or more. */
  waiting: number;
  failures: number;
  succeeded_at: string | null;
  failed_at: string | null;
  failure: string;
  previous_until: string | null;
}

export interface Attempt {
  id: number;
  event_id: number;
  type: string;
  attempt: number;
  is_success: 0 | 1;
  /** 0: there was no answer. */
  status: number;
  reply: string;
  took_ms: number;
  at: string;
  is_kept: 0 | 1;
}

/** The events in the groups in which the form shows them. */
export const EVENT_GROUPS = [
  {
    name: 'people',
    events: [
      'contact.created',
      'contact.updated',
      'contact.deleted',
      'contact.unsubscribed',
      'contact.resubscribed',
      'contact.inactive',
      'contact.active',
      'contact_type.deleted',
    ],
  },
  { name: 'mails', events: ['mail.accepted', 'mail.bounced', 'mail.complained', 'mail.opened', 'mail.clicked'] },
  {
    name: 'sends',
    events: ['send.started', 'send.completed', 'send.held', 'automation.entered', 'automation.left'],
  },
] as const;

const MANY = 1000;

/** A webhook's state in a word or two, with its tone. */
export function webhookState(language: Language, webhook: Webhook): { tone: Tone; text: string } {
  const { state, disabled_code: code, failures } = webhook;
  if (state === 'disabled') return { tone: code === 'by_owner' ? 'plain' : 'bad', text: language.say('webhooks.off') };
  if (failures > 0) return { tone: 'warn', text: language.say('webhooks.fails') };
  return { tone: 'good', text: language.say('webhooks.on') };
}

/** How many events wait, as a sentence. */
export function waitingText(language: Language, { waiting }: Webhook): string {
  return waiting < MANY
    ? language.say('webhooks.waiting', { count: waiting })
    : language.say('webhooks.waiting.many', { count: MANY });
}

/** Why an event was not taken: status and answer, with the service's own sentences in the reader's language. */
export function failureText(language: Language, failure: string): string {
  const [, status, reply = ''] = /^(HTTP \d+)(?:: (.*))?$/s.exec(failure) ?? [];
  if (status === undefined) return language.sentence(failure);
  return reply === '' ? status : `${status}: ${language.sentence(reply)}`;
}

/** What came of an attempt, as a sentence. */
export function attemptText(language: Language, { status, reply }: Attempt): string {
  return [status === 0 ? '' : `HTTP ${status}`, language.sentence(reply)].filter((part) => part !== '').join(': ');
}
