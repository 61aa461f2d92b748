/** Writes the events of webhooks about mails whose hand-off has ended; the other events are written by triggers (migration `webhooks` in drizzle/). */
import type { Database } from 'better-sqlite3';
import { prepared } from '../../../database/prepared.ts';
import { DELIVERY_STATE } from '../../../database/schema/index.ts';

/**
 * Writes `mail.accepted` and `mail.bounced` for those of these deliveries that have just reached the state, where an endpoint of the
 * account asks for it. It is one statement for all, not a trigger, because a trigger would cost something for every mail. Call inside
 * the transaction that records the state.
 */
export function writeMailEvents(client: Database, deliveryIds: readonly number[]): void {
  if (deliveryIds.length === 0) return;
  const isWanted = "SELECT 1 FROM webhook_wants WHERE event IN ('mail.accepted', 'mail.bounced') LIMIT 1";
  if (prepared(client, isWanted).get() === undefined) return;
  prepared(client, WRITE_MAIL_EVENTS).run({ ids: JSON.stringify(deliveryIds) });
}

/** Exported so that a test can check its query plan. */
export const WRITE_MAIL_EVENTS = `
  INSERT INTO webhook_events (user_id, type, lane, data)
  SELECT m.user_id, w.event, d.address_id,
    json_object('email', a.normalized_email, 'contact_id', d.contact_id, 'delivery_id', d.id, 'mailing_id', m.id,
      'single_send_utr', s.utr, 'automation_utr', au.utr, 'by', NULL, 'url', NULL, 'reply', d.reply)
  FROM json_each(@ids) ids CROSS JOIN deliveries d ON d.id = ids.value CROSS JOIN mailings m ON m.id = d.mailing_id
    CROSS JOIN webhook_wants w ON w.user_id = m.user_id
      AND w.event = CASE d.state WHEN ${DELIVERY_STATE.accepted} THEN 'mail.accepted' WHEN ${DELIVERY_STATE.bounced} THEN 'mail.bounced' END
    CROSS JOIN addresses a ON a.id = d.address_id
    LEFT JOIN single_sends s ON m.owner_kind = 'single' AND s.id = m.owner_id LEFT JOIN automations au ON au.id = m.automation_id
  WHERE m.owner_kind IN ('single', 'schedule') ORDER BY ids.key`;
