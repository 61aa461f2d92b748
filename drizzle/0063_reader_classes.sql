-- The trigger reads the column, so it is made anew below.
DROP TRIGGER `webhooks_mail`;--> statement-breakpoint
ALTER TABLE `events` RENAME COLUMN `is_machine` TO `made_by`;--> statement-breakpoint
ALTER TABLE `deliveries` ADD `machine_hits` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `deliveries` ADD `machine_until` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `mailings` ADD `proxied_only` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `mailing_hours` ADD `proxied_opens` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE TABLE `proxied_activity` (
	`address_id` integer PRIMARY KEY NOT NULL,
	`last_at` integer NOT NULL
);
--> statement-breakpoint
-- What was recorded before is classified anew by the background, some at a time: deliveries and events up to these ids.
INSERT INTO `installation` (`name`, `value`) SELECT 'hits_to_classify',
  json_object('after', 0, 'deliveries', (SELECT max(`id`) FROM `deliveries`), 'events', (SELECT ifnull(max(`id`), 0) FROM `events`))
  WHERE EXISTS (SELECT 1 FROM `deliveries`);--> statement-breakpoint
CREATE TRIGGER webhooks_mail AFTER INSERT ON events WHEN EXISTS (SELECT 1 FROM webhook_wants) BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT m.user_id, w.event, d.address_id,
    json_object('email', a.normalized_email, 'contact_id', d.contact_id, 'delivery_id', d.id, 'mailing_id', m.id,
      'single_send_utr', s.utr, 'automation_utr', au.utr, 'by', CASE WHEN new.kind IN ('open', 'click') THEN CASE new.made_by WHEN 0 THEN 'person' WHEN 2 THEN 'proxied' ELSE 'machine' END END,
      'url', (SELECT url FROM links WHERE mailing_id = new.mailing_id AND number = new.link_number), 'reply', iif(new.kind = 'bounce', d.reply, NULL))
    FROM mailings m CROSS JOIN webhook_wants w ON w.user_id = m.user_id
        AND w.event = CASE new.kind WHEN 'open' THEN 'mail.opened' WHEN 'click' THEN 'mail.clicked' WHEN 'bounce' THEN 'mail.bounced' WHEN 'complaint' THEN 'mail.complained' END
      CROSS JOIN deliveries d ON d.id = new.delivery_id CROSS JOIN addresses a ON a.id = d.address_id
      LEFT JOIN single_sends s ON m.owner_kind = 'single' AND s.id = m.owner_id LEFT JOIN automations au ON au.id = m.automation_id
    WHERE m.id = new.mailing_id AND m.owner_kind IN ('single', 'schedule');
END;
