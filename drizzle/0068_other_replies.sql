-- The migration before counted the recipients of reasons anew; of mailings with very many reasons, some of them were still among the other replies, too.
UPDATE delivery_reasons SET count = (SELECT count(*) FROM deliveries d INDEXED BY deliveries_person
    WHERE d.mailing_id = delivery_reasons.mailing_id AND d.state = delivery_reasons.state AND d.reply IS NOT NULL)
  - (SELECT total(named.count) FROM delivery_reasons named
    WHERE named.mailing_id = delivery_reasons.mailing_id AND named.state = delivery_reasons.state AND named.reason <> ':other_replies')
  WHERE reason = ':other_replies' AND state NOT IN (1, 2);
--> statement-breakpoint
DELETE FROM delivery_reasons WHERE reason = ':other_replies' AND count <= 0;
