/** What can be chosen for a single send that is composed, and what it still lacks. */
import type { Audience, Draft } from '../../../single-sends/operations/drafts.ts';
import type { ApiClient } from '../../api-client.ts';

/** A list or segment, as a target. */
export interface Target {
  value: string;
  kind: 'list' | 'segment';
  name: string;
  people: number;
}

export interface SenderChoice {
  id: number;
  from_name: string;
  from_email: string;
  is_verified: 0 | 1;
}

interface Group {
  id: number;
  group_name: string;
}

/** What a mailing can go to and come from. */
export interface Choices {
  targets: Target[];
  senders: SenderChoice[];
  groups: Group[];
}

export const QUEUED = 1;

/** Whether the account limits how many mails a person gets. */
export async function readHasCaps(api: ApiClient): Promise<boolean> {
  return (await api.get<{ caps: unknown[] }>('/sending/caps')).caps.length > 0;
}

export async function readChoices(api: ApiClient): Promise<Choices> {
  const [{ contactTypes }, { segments }, { senders }, { unsubscribesGroups: groups }] = await Promise.all([
    api.get<{ contactTypes: { id: number; name: string; contacts_count: number }[] }>('/contacts-type'),
    api.get<{ segments: { id: number; segment_name: string; segment_emails_count: number }[] }>('/segment/list'),
    api.get<{ senders: SenderChoice[] }>('/senders'),
    api.get<{ unsubscribesGroups: Group[] }>('/unsubscribes-groups'),
  ]);
  const targets: Target[] = [
    ...contactTypes.map(({ id, name, contacts_count: people }) => ({
      value: `contacts_${id}`,
      kind: 'list' as const,
      name,
      people,
    })),
    ...segments.map(({ id, segment_name: name, segment_emails_count: people }) => ({
      value: `segments_${id}`,
      kind: 'segment' as const,
      name,
      people,
    })),
  ];
  return { targets, senders, groups };
}

const MISSING = ['people', 'sender', 'group', 'subject', 'preheader', 'content'] as const;
type Missing = (typeof MISSING)[number];

type Needed = Pick<Draft, 'sender_id' | 'unsubscribe_group_id' | 'subject' | 'preheader' | 'content'>;

/** What a send still lacks, in the order of the steps. */
export function missingParts(draft: Needed, audience: Audience): Missing[] {
  const has: Record<Missing, boolean> = {
    people: audience.recipients > 0,
    sender: draft.sender_id !== 0,
    group: draft.unsubscribe_group_id !== 0,
    subject: draft.subject !== '',
    preheader: draft.preheader !== '',
    content: draft.content !== 'none',
  };
  return MISSING.filter((part) => !has[part]);
}
