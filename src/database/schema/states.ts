/** States and codes by name. The contract fixes the numbers of single sends and automations. */

/** States of a delivery. From `accepted` on they are final. */
export const DELIVERY_STATE = {
  queued: 0,
  sending: 1,
  accepted: 2,
  bounced: 3,
  failed: 4,
  suppressed: 5,
  cancelled: 6,
} as const;
export type DeliveryState = keyof typeof DELIVERY_STATE;

/** Whether a person had a mail, or may get it at any moment: it was handed over and did not come back, or is being tried. SQL over `deliveries`. */
export const IS_HAD = `(state IN (${DELIVERY_STATE.sending}, ${DELIVERY_STATE.accepted}) OR (state = ${DELIVERY_STATE.queued} AND first_tried_at IS NOT NULL))`;

/** When a mailing ended, as an ISO timestamp; one that has not comes after every time. SQL over `mailings`. */
export const MAILING_ENDED = "CASE WHEN finished_at IS NULL THEN '9' ELSE finished_at END";

/** The names of the states of a delivery, each at the index that is its number. */
export const DELIVERY_STATE_NAMES = Object.keys(DELIVERY_STATE) as DeliveryState[];

/**
 * What an account learns of opens and clicks: nothing; only how many there were; who did it; or who did it of those who allowed it.
 */
export const TRACKING_MODES = ['off', 'totals', 'person', 'consent'] as const;
export type TrackingMode = (typeof TRACKING_MODES)[number];

/** What somebody said about their opens and clicks being recorded. */
export const TRACKING_CHOICE = { none: 0, allowed: 1, refused: 2 } as const;

/** Statuses of a single send. A draft is not queued: it was held, cancelled or copied. */
export const SINGLE_SEND_STATUS = { draft: 0, queued: 1, running: 2, completed: 3 } as const;

/** Statuses of an automation. */
export const AUTOMATION_STATUS = { draft: 0, live: 1 } as const;

/** Why a single send, an automation or a mailing is held. The sentence for its owner is stored beside the code. */
export const HELD_CODES = [
  'canary_unclear',
  'cancelled',
  'content_invalid',
  'copy',
  'internal_error',
  'missed_time',
  'no_audience',
  'relay_refused',
  'segment_broken',
  'sender_deleted',
  'sender_unverified',
  'target_missing',
  'too_many_bounces',
  'too_many_complaints',
  'too_many_refusals',
] as const;
export type HeldCode = (typeof HELD_CODES)[number];

/** The codes of those that hold a mailing because of its results: only its owner lets it go on. */
export const RESULT_HELD_CODES = [
  'canary_unclear',
  'too_many_bounces',
  'too_many_complaints',
  'too_many_refusals',
] as const satisfies HeldCode[];
export type ResultHeldCode = (typeof RESULT_HELD_CODES)[number];
/** What an A/B test measures: what people do with their mails. With `hand` somebody chooses. */
export const WINNER_BY = ['opens', 'clicks', 'hand'] as const;

/** What a variant has of its own; an empty text or 0: as in the mail itself. */
export interface Variant {
  subject: string;
  preheader: string;
  sender_name: string;
  template_id: number;
}

/** Who made an open or a click, as `events.made_by` has it; docs/tracking.md tells what each class means. */
export const MADE_BY = { person: 0, machine: 1, proxied: 2 } as const;
export type MadeBy = (typeof MADE_BY)[keyof typeof MADE_BY];

/**
 * The bits of `deliveries.by_person`: what a person did with a mail, and that a proxy loaded its pictures, which a person may or may not
 * have caused. With `proxied` alone nobody knows whether the mail was opened.
 */
export const BY_PERSON = { opened: 1, clicked: 2, proxied: 4 } as const;
