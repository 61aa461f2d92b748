/** What the API says about a single send that is composed, and about what can be chosen for it. */
import type { ApiClient } from '../../api-client.ts';

/** A single send as it is composed. */
export interface Draft {
  utr: string;
  single_send_name: string;
  subject: string;
  preheader: string;
  /** 0: none yet. */
  sender_id: number;
  unsubscribe_group_id: number;
  /** Targets: `contacts_<id>` or `segments_<id>`. */
  recipient_id: string[];
  exclude_specific_recipient_id: string[];
  template_id: number;
  /** Where the mail comes from. */
  content: 'none' | 'template' | 'json' | 'html';
  /** Bytes of the HTML that it was given; 0 without any. */
  html_size: number;
  /** 0: draft, 1: queued; it cannot be changed above that. */
  status: number;
  held_reason: string | null;
  /** How many variants its A/B test has, A included; 1 without a test. */
  variants: number;
  /** How many in a hundred people get it first; 0: everybody at once. */
  canary_percent: number;
  /** 1: it goes also to people who have had as many mails as the limits allow. */
  ignores_caps: 0 | 1;
  schedule_type: number;
  schedule_date: string;
  schedule_time: string;
  /** 1: that is the time in the zone of each recipient. */
  local_time: 0 | 1;
  /** The zone of schedules. */
  time_zone: string;
  /** How long a send rests that starts at once. */
  recall_seconds: number;
  updated_at: string;
  /** Who last changed it; null where it was nobody who is known. */
  changed_by: string | null;
}

/** Who would get a mail now, and who not and why. */
export interface Audience {
  recipients: number;
  left_out: { reason: string; count: number }[];
  /** Of the recipients, those whose own time zone is known. */
  with_zone: number;
}

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

/** The single send; throws an ApiFailure where the account has none with this utr. */
export async function readDraft(api: ApiClient, utr: string): Promise<Draft> {
  return (await api.get<{ draft: Draft }>('/single-send/draft', { utr })).draft;
}

/** Whether the account limits how many mails a person gets. */
export async function readHasCaps(api: ApiClient): Promise<boolean> {
  return (await api.get<{ caps: unknown[] }>('/sending/caps')).caps.length > 0;
}

export async function readAudience(api: ApiClient, utr: string): Promise<Audience> {
  return (await api.get<{ audience: Audience }>('/single-send/audience', { utr })).audience;
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
