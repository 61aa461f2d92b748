/** States and codes by name. The API's contract fixes the numbers of single sends and automations. */

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

/**
 * SQL over `deliveries`: true if a recipient got a mail or may get it at any moment, because it was handed over and did not
 * come back, or is being tried. `prefix` is that of the columns, such as `d.`.
 */
export function isReceivedOrUnderway(prefix = ''): string {
  return `(${prefix}state IN (${DELIVERY_STATE.sending}, ${DELIVERY_STATE.accepted}) OR (${prefix}state = ${DELIVERY_STATE.queued} AND ${prefix}first_tried_at IS NOT NULL))`;
}

/** SQL over `mailings`: when a mailing ended, as an ISO timestamp; '9', which is later than every time, if it has not ended. */
export const MAILING_ENDED = "CASE WHEN finished_at IS NULL THEN '9' ELSE finished_at END";

/** The names of the states of a delivery. The index of a name is the state's number. */
export const DELIVERY_STATE_NAMES = Object.keys(DELIVERY_STATE) as DeliveryState[];

/** What an account records about opens and clicks: nothing; only totals; per contact; or per contact who consented. */
export const TRACKING_MODES = ['off', 'totals', 'person', 'consent'] as const;
export type TrackingMode = (typeof TRACKING_MODES)[number];

/** A contact's choice about the recording of opens and clicks. */
export const TRACKING_CHOICE = { none: 0, allowed: 1, refused: 2 } as const;

/** Statuses of a single send. A draft is not queued: it is new, or was held, cancelled or copied. */
export const SINGLE_SEND_STATUS = { draft: 0, queued: 1, running: 2, completed: 3 } as const;

/** Types of an automation: a welcome series, or any other. */
export const AUTOMATION_TYPE = { welcome: 1, custom: 2 } as const;

/** Statuses of an automation. */
export const AUTOMATION_STATUS = { draft: 0, live: 1 } as const;

/** Why a single send, an automation or a mailing is held. The reason for its owner is stored next to the code. */
export const HELD_CODES = [
  'canary_unclear',
  'cancelled',
  'check_failed',
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

/** The codes of holds because of results. Only the owner resumes such a mailing. */
export const RESULT_HELD_CODES = [
  'canary_unclear',
  'too_many_bounces',
  'too_many_complaints',
  'too_many_refusals',
] as const satisfies HeldCode[];
export type ResultHeldCode = (typeof RESULT_HELD_CODES)[number];

/** The measure by which the winner of an A/B test is chosen. With `hand` a user chooses. */
export const WINNER_BY = ['opens', 'clicks', 'hand'] as const;

/** What differs in a variant. An empty text or 0 means the same as in the mail itself. */
export interface Variant {
  subject: string;
  preheader: string;
  sender_name: string;
  template_id: number;
}

/** Who made an open or a click, as in `events.made_by`; docs/tracking.md explains each class. */
export const MADE_BY = { person: 0, machine: 1, proxied: 2 } as const;
export type MadeBy = (typeof MADE_BY)[keyof typeof MADE_BY];

/** The kind of device that opened or clicked, as in `events.device`: `proxy` is a mailbox provider's proxy, which hides the device. */
export const DEVICE = { unknown: 0, desktop: 1, phone: 2, tablet: 3, proxy: 4 } as const;
export type Device = keyof typeof DEVICE;
/** The kinds of devices, each at the place of its number. */
export const DEVICE_NAMES = ['unknown', 'desktop', 'phone', 'tablet', 'proxy'] as const satisfies Device[];

/**
 * The bits of `deliveries.by_person`: what a person did with a mail, and that a proxy loaded its pictures, which a person may
 * or may not have caused. With `proxied` alone it is unknown whether the mail was opened.
 */
export const BY_PERSON = { opened: 1, clicked: 2, proxied: 4 } as const;
