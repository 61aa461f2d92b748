/** What the API says about automations. */
import type { Tone } from '../../components/surface.tsx';
import type { PlainKey } from '../../words/index.ts';

/** An automation in the list, with its counters over all its mails. */
export interface Automation {
  id: number;
  utr: string;
  automation_name: string;
  status: number;
  live_at: string | null;
  total_triggered: number;
  total_delivered: number;
  total_unique_opens: number;
  total_unsubscribe: number;
  automation_schedule_count?: number;
}

/** One mail of an automation; `utr` is null when it was deleted. */
export interface ReportedMail {
  utr: string | null;
  subject: string;
  delivered: number;
  people_opens: number;
  bounces: number;
  unsubscribes: number;
  waiting: number;
  waiting_type: string | null;
  waiting_period: number | null;
  next_due_at: string | null;
}

export interface AutomationReport {
  status: number;
  held_reason: string | null;
  people: { state: string; reason: string | null; count: number }[];
  mails: ReportedMail[];
}

/** What one person gets from an automation, and when. */
export interface Forecast {
  state: 'waiting' | 'finished' | 'left' | 'outside';
  reason: string | null;
  entered_at: string | null;
  mails: { utr: string; subject: string; sent_at: string | null; due_at: string | null }[];
}

const LIVE = 1;

/** The state of an automation in a word: live, paused after it has been live, held with a reason, or a draft. */
export function stateOf(
  { status, live_at }: Pick<Automation, 'status' | 'live_at'>,
  heldReason: string | null = null,
): { key: PlainKey; tone: Tone } {
  if (heldReason !== null) return { key: 'automations.state.held', tone: 'warn' };
  if (status === LIVE) return { key: 'automations.state.live', tone: 'good' };
  return live_at === null
    ? { key: 'automations.state.draft', tone: 'plain' }
    : { key: 'automations.state.paused', tone: 'warn' };
}
