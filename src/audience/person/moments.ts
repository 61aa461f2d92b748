/** What happened with a person at one time. */

import { MADE_BY } from '../../database/schema/index.ts';
import { stateName } from '../../delivery/reporting/mailing-report.ts';
import { sentenceCode } from '../../errors/sentences.ts';
import { isoTimestamp } from '../../time/clock.ts';

/** The kinds of moments. `Moment` says what its other fields mean for each. */
export const MOMENTS = [
  'contact_created',
  'contact_changed',
  'contact_moved',
  'contact_deleted',
  'imported',
  'segment_joined',
  'segment_left',
  'segment_removed',
  'automation_entered',
  'mail',
  'transactional',
  'opened',
  'clicked',
  'bounced',
  'complained',
  'unsubscribed',
  'resubscribed',
  'subscribed',
  'tracking_allowed',
  'tracking_refused',
  'tracking_undone',
  'suppressed',
  'inactive',
  'active_again',
] as const;

export interface Moment {
  /** Different for each moment of the person, and ascending in time. */
  key: string;
  kind: (typeof MOMENTS)[number];
  /** ISO timestamp. */
  happened_at: string;
  /** The contact type, the file, the segment, the automation, the group (null: all mail), the form, or the campaign of the mail. */
  name: string | null;
  /** Of a move: the contact type before; null where it was purged. */
  from_name: string | null;
  /** The utr of the single send, of the mail of an automation, or of the automation; null where that was deleted. */
  utr: string | null;
  /** The utr of the automation that the mail belongs to. */
  automation_utr: string | null;
  subject: string | null;
  /** Of a mail: its state in the ledger. Of an automation: where the person is. Of inactivity: what was done, or who ended it. */
  state: string | null;
  /** Why a mail was not sent or what the relay said, why somebody left, how they unsubscribed, or what they agreed to. */
  reason: string | null;
  /** The reason for programs; null where there is none, and for what mail servers say. */
  reason_code: string | null;
  /** The link that was clicked. */
  url: string | null;
  /** Whether a machine opened or clicked, as far as can be told. */
  is_machine: 0 | 1;
  /** A proxy loaded the pictures, whether or not the person read the mail. */
  is_proxied: 0 | 1;
  /** Of a mail: how many opens and clicks of it were counted, those included that are no moments any more. */
  opens: number | null;
  clicks: number | null;
}

/** A moment as a query gives it. What is absent is null. */
export interface MomentRow {
  kind: Moment['kind'];
  id: number;
  /** Epoch milliseconds, or an ISO timestamp. */
  at: number | string;
  name?: string | null;
  from_name?: string | null;
  utr?: string | null;
  automation_utr?: string | null;
  subject?: string | null;
  state?: string | number | null;
  reason?: string | null;
  url?: string | null;
  made_by?: number;
  opens?: number;
  clicks?: number;
}

/** The moment of a row. */
export function moment(key: string, { kind, at, state, made_by, ...row }: MomentRow): Moment {
  const reason = row.reason ?? null;
  return {
    key,
    kind,
    happened_at: typeof at === 'number' ? isoTimestamp(new Date(at)) : at,
    name: row.name ?? null,
    from_name: row.from_name ?? null,
    utr: row.utr ?? null,
    automation_utr: row.automation_utr ?? null,
    subject: row.subject ?? null,
    state: typeof state === 'number' ? stateName(state) : (state ?? null),
    reason,
    reason_code: sentenceCode(reason),
    url: row.url ?? null,
    is_machine: made_by === MADE_BY.machine ? 1 : 0,
    is_proxied: made_by === MADE_BY.proxied ? 1 : 0,
    opens: row.opens ?? null,
    clicks: row.clicks ?? null,
  };
}
