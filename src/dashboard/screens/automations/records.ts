/** What the API says about automations. */
import type { AutomationSummary } from '../../../automations/summaries.ts';
import { type ApiClient, ApiFailure, refusalOf } from '../../api-client.ts';
import type { Problems } from '../../components/field.tsx';

/** An automation in the list, with its people and the counters over all its mails. */
export type Summary = AutomationSummary;

/** One mail of an automation; `utr` is null when it was deleted. */
export interface ReportedMail {
  utr: string | null;
  subject: string;
  delivered: number;
  /** Delivered ones that the outbox took, so that they never left. */
  kept: number;
  /** Delivered ones of whom it is not known whether they opened or clicked. */
  unmeasured: number;
  people_opens: number;
  bounces: number;
  unsubscribes: number;
  waiting: number;
  waiting_type: string | null;
  waiting_period: number | null;
  next_due_at: string | null;
}

export interface AutomationReport {
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

/** The automation with this utr; throws an ApiFailure where the account has none. */
export async function readSummary(api: ApiClient, utr: string): Promise<Summary> {
  const { summaries } = await api.get<{ summaries: Summary[] }>('/automations/summaries', { utr });
  const [summary] = summaries;
  if (summary === undefined) throw new Error('the API gave no automation where it should have answered 404');
  return summary;
}

/** What was asked about one person: the forecast, or what is wrong with the address. */
export type Asked = { forecast: Forecast; problems?: never } | { problems: Problems; forecast?: never };

/** The forecast for an address, as if the automation was live; for anybody who enters now where it is empty. */
export async function readForecast(api: ApiClient, utr: string, email: string): Promise<Asked> {
  const query = new URLSearchParams({ utr, if_live: '1', ...(email.trim() !== '' && { email }) });
  const answer = await api.send<{ preview: Forecast }>('GET', `/automations/preview?${query}`);
  if (answer.message !== undefined) return { forecast: answer.message.preview };
  const { problems, problem } = refusalOf(answer);
  if (problem !== '') throw new ApiFailure(answer);
  return { problems };
}
