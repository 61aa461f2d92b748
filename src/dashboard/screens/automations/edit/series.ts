/** What the API says about an automation that is edited, and about what a change does to people. */

import type { Draft } from '../../../../single-sends/operations/drafts.ts';
import type { ApiClient } from '../../../api-client.ts';

export const WAITING_TYPES = ['instantly', 'hours', 'days'] as const;

/** A mail of an automation as it is composed. */
export interface SeriesMail
  extends Pick<
    Draft,
    | 'utr'
    | 'subject'
    | 'preheader'
    | 'sender_id'
    | 'template_id'
    | 'content'
    | 'html_size'
    | 'updated_at'
    | 'changed_by'
  > {
  waiting_type: (typeof WAITING_TYPES)[number];
  waiting_period: number;
  /** The link to its designer; empty for people who may not change it. */
  design_url: string;
}

/** An automation as it is composed. */
export interface Series {
  utr: string;
  automation_name: string;
  /** `contacts_<id>` or `segments_<id>`; empty: nobody yet. */
  automation_for: string;
  /** 0: none yet. */
  unsubscribe_group_id: number;
  exit_criteria: number;
  ignores_caps: 0 | 1;
  is_live: 0 | 1;
  updated_at: string;
  changed_by: string | null;
  people: { waiting: number; due_now: number; queued: number };
  mails: SeriesMail[];
}

/** What a change does to people, by the mail they waited for and the one they wait for then. */
export interface Effects {
  people: {
    from: string | null;
    to: string | null;
    is_queued: 0 | 1;
    people: number;
    moved: number;
    due_now: number;
    first_due_at: string | null;
    last_due_at: string | null;
  }[];
  leaving: number;
}

/** The automation with this utr; throws an ApiFailure where the account has none. */
export async function readSeries(api: ApiClient, utr: string): Promise<Series> {
  return (await api.get<{ series: Series }>('/automations/series', { utr })).series;
}
