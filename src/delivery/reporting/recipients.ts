/** Finds recipients of a mailing by state, reason, clicked link or the beginning of their address, a page at a time. */
import type { Database } from 'better-sqlite3';
import { fold } from '../../database/functions/fold.ts';
import { reasonKind } from '../../database/functions/reply-kind.ts';
import { BY_PERSON, DELIVERY_STATE } from '../../database/schema/index.ts';
import type { Said } from '../../errors/sentences.ts';
import { english, readStored } from '../../errors/stored.ts';
import { type ShownDeliveryState, shownDeliveryState, stateName } from './mailing-report.ts';

/** Describes the recipients to find. All conditions that are present must apply. */
export interface RecipientFilter {
  state?: ShownDeliveryState | undefined;
  /** A reason as a report shows it, in English or in its stored form. */
  reason?: string | undefined;
  /** The number of a link that the recipients clicked. */
  link?: number | undefined;
  /** What the recipients did with the mail. */
  did?: RecipientActivity | undefined;
  /** The domain of the e-mail address, in lower case. */
  domain?: string | undefined;
  /** The beginning of the e-mail address. */
  search?: string | undefined;
}

/**
 * The SQL conditions on a delivery `d` by what its recipient did with the mail. Only opens and clicks by people apply, as in the report.
 */
const ACTIVITIES = {
  opened: `d.state = ${DELIVERY_STATE.accepted} AND d.by_person & ${BY_PERSON.opened} <> 0`,
  clicked: `d.by_person & ${BY_PERSON.clicked} <> 0`,
  unsubscribed: 'd.unsubscribed_at IS NOT NULL',
} as const;
export type RecipientActivity = keyof typeof ACTIVITIES;
/** The activities by which recipients can be found. */
export const RECIPIENT_ACTIVITIES = Object.keys(ACTIVITIES) as RecipientActivity[];

export interface FoundRecipient {
  id: number;
  email: string;
  contact_id: number | null;
  state: ShownDeliveryState;
  attempts: number;
  /** The server's reply, or why this recipient got no mail. */
  reply: Said | null;
  opens: number;
  clicks: number;
  /** When the delivery last changed, in epoch milliseconds; null before the first attempt. */
  updated_at: number | null;
  /** The id of the delivery if the mail is kept as it was sent; otherwise null. */
  kept_mail_id: number | null;
}

interface Row extends Omit<FoundRecipient, 'state' | 'reply'> {
  /** The position of the row in the index by which it was found. */
  key: string | number;
  state: number;
  /** The reply in its stored form. */
  reply: string | null;
  /** 1 if the row passes the parts of the filter that no index finds (`wantedSql`). */
  is_wanted: 0 | 1;
}

/**
 * The maximum number of index rows examined for a page, which takes about 5 ms. A rare state among a million recipients is found over
 * several pages.
 */
const MAX_EXAMINED = 2000;
/** The maximum number of index rows examined if reasons have to be compared, which takes longer. */
const MAX_COMPARED = 500;
/** The maximum number of addresses with the given beginning that are looked up among the recipients. */
const MAX_SEARCHED = 1000;
const COLUMNS = `d.id, ifnull((SELECT email FROM contacts WHERE id = d.contact_id AND address_id = d.address_id), a.normalized_email) AS email,
  d.contact_id, d.state, d.attempt AS attempts, d.reply, d.opens, d.clicks, nullif(d.updated_at, 0) AS updated_at,
  (SELECT k.delivery_id FROM sent_mails k WHERE k.delivery_id = d.id) AS kept_mail_id`;

/**
 * Returns up to `limit` recipients after a cursor (`''` at first), and the next cursor; null if there are no more. Because the number of
 * examined rows is limited, a page may contain fewer recipients, or none, even if more follow.
 */
export function findRecipients(
  client: Database,
  mailing: { id: number; accountId: number },
  filter: RecipientFilter,
  after: string,
  limit: number,
): { recipients: FoundRecipient[]; next: string | null } {
  const state = filter.state === undefined ? null : DELIVERY_STATE[filter.state === 'kept' ? 'accepted' : filter.state];
  const { select, first } = indexQuery(filter, state);
  const hasReason = filter.reason === undefined ? null : reasonTest(filter.reason);
  const maxRows = hasReason === null ? MAX_EXAMINED : MAX_COMPARED;
  const rows = client
    .prepare<Record<string, string | number | null>, Row>(`
      SELECT ${COLUMNS}, ${wantedSql(filter)} AS is_wanted, key FROM (${select} LIMIT ${maxRows})
      CROSS JOIN deliveries d ON d.id = delivery CROSS JOIN addresses a ON a.id = d.address_id`)
    .all({
      mailing: mailing.id,
      account: mailing.accountId,
      after: first === '' ? after : Number(after || first),
      state,
      link: filter.link ?? null,
      domain: filter.domain?.toLowerCase() ?? null,
      search: fold(filter.search ?? ''),
      end: `${fold(filter.search ?? '')}\u{10ffff}`,
    });
  const recipients: FoundRecipient[] = [];
  for (const { key, is_wanted: isWanted, ...row } of rows) {
    if (isWanted === 0) continue;
    const reply = readStored(row.reply);
    const shown = shownDeliveryState(stateName(row.state), reply);
    if (filter.state !== undefined && filter.state !== shown) continue;
    if (hasReason?.(row.reply ?? '') === false) continue;
    if (recipients.length === limit) return { recipients, next: String(previousKey(rows, row.id)) };
    recipients.push({ ...row, reply, state: shown });
  }
  const last = rows.at(-1);
  return { recipients, next: rows.length < maxRows || last === undefined ? null : String(last.key) };
}

/** Returns the condition that delivery `d` to address `a` passes the parts of the filter that no index finds. */
function wantedSql({ did, domain }: RecipientFilter): string {
  return [
    did === undefined ? '1' : ACTIVITIES[did],
    domain === undefined ? '1' : "substr(a.normalized_email, instr(a.normalized_email, '@') + 1) = @domain",
  ].join(' AND ');
}

/** Returns a function that tests whether a stored reason is of the requested kind, which is given in English or in its stored form. */
function reasonTest(requested: string): (reason: string) => boolean {
  const wanted = english(requested);
  return (reason) => {
    const kind = reasonKind(reason);
    return kind === requested || english(kind) === wanted;
  };
}

/** Returns the key of the row before the row with this id. */
function previousKey(rows: readonly Row[], id: number): string | number {
  return rows[rows.findIndex((row) => row.id === id) - 1]?.key ?? '';
}

/**
 * Returns a statement that finds the requested recipients by an index, with the columns `delivery` and `key`, and the key before the first
 * recipient.
 */
function indexQuery(filter: RecipientFilter, state: number | null): { select: string; first: string | number } {
  if (filter.search) {
    // Only a limited number of the account's addresses with this beginning are examined; a longer beginning finds the others.
    const select = `SELECT d.id AS delivery, a.normalized_email AS key FROM (
        SELECT id, normalized_email FROM addresses INDEXED BY addresses_person
        WHERE user_id = @account AND normalized_email >= @search AND normalized_email < @end AND normalized_email > @after
        ORDER BY normalized_email LIMIT ${MAX_SEARCHED}) a
      CROSS JOIN deliveries d INDEXED BY deliveries_person ON d.mailing_id = @mailing AND d.address_id = a.id
      WHERE true ${clickedSql(filter)} ORDER BY a.normalized_email`;
    return { select, first: '' };
  }
  if (filter.link !== undefined) {
    const select = `SELECT DISTINCT delivery_id AS delivery, delivery_id AS key FROM events INDEXED BY events_link
      WHERE mailing_id = @mailing AND kind = 'click' AND link_number = @link AND delivery_id > @after ORDER BY delivery_id`;
    return { select, first: 0 };
  }
  if (state !== null && state > DELIVERY_STATE.accepted) {
    const select = `SELECT id AS delivery, id AS key FROM deliveries INDEXED BY deliveries_unaccepted
      WHERE mailing_id = @mailing AND state > ${DELIVERY_STATE.accepted} AND state = @state AND id > @after ORDER BY id`;
    return { select, first: 0 };
  }
  const select = `SELECT id AS delivery, address_id AS key FROM deliveries INDEXED BY deliveries_person
    WHERE mailing_id = @mailing AND address_id > @after ORDER BY address_id`;
  return { select, first: 0 };
}

/** Returns the condition that the recipient of delivery `d` clicked the link of the filter; an empty text if it names no link. */
function clickedSql({ link }: RecipientFilter): string {
  return link === undefined
    ? ''
    : `AND EXISTS (SELECT 1 FROM events e INDEXED BY events_link WHERE e.mailing_id = @mailing AND e.kind = 'click'
        AND e.link_number = @link AND e.delivery_id = d.id)`;
}
