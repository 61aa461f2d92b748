CREATE TABLE `transactional_mails` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`utr` text NOT NULL,
	`user_id` integer NOT NULL,
	`sender_id` integer NOT NULL,
	`address_id` integer NOT NULL,
	`email` text NOT NULL,
	`name` text DEFAULT '' NOT NULL,
	`subject` text NOT NULL,
	`content` text,
	`attachments` text NOT NULL,
	`size` integer NOT NULL,
	`message_key` text NOT NULL,
	`message_domain` text NOT NULL,
	`idempotency_key` text,
	`request_hash` text DEFAULT '' NOT NULL,
	`state` integer DEFAULT 0 NOT NULL,
	`attempt` integer DEFAULT 0 NOT NULL,
	`due_at` integer DEFAULT 0 NOT NULL,
	`first_tried_at` integer,
	`reply` text,
	`created_at` integer NOT NULL,
	`updated_at` integer DEFAULT 0 NOT NULL,
	`complained_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`address_id`) REFERENCES `addresses`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `transactional_mails_utr_unique` ON `transactional_mails` (`utr`);--> statement-breakpoint
CREATE INDEX `transactional_mails_user` ON `transactional_mails` (`user_id`,`id`);--> statement-breakpoint
CREATE INDEX `transactional_mails_address` ON `transactional_mails` (`address_id`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `transactional_mails_key` ON `transactional_mails` (`user_id`,`idempotency_key`) WHERE idempotency_key IS NOT NULL;--> statement-breakpoint
CREATE INDEX `transactional_mails_keyed` ON `transactional_mails` (`created_at`) WHERE idempotency_key IS NOT NULL;--> statement-breakpoint
CREATE INDEX `transactional_mails_queue` ON `transactional_mails` (`user_id`,`due_at`,`id`,`size`) WHERE state = 0;--> statement-breakpoint
CREATE INDEX `transactional_mails_sending` ON `transactional_mails` (`id`) WHERE state = 1;--> statement-breakpoint
CREATE TABLE `transactional_pieces` (
	`utr` text NOT NULL,
	`attachment` integer NOT NULL,
	`number` integer NOT NULL,
	`bytes` blob NOT NULL,
	PRIMARY KEY(`utr`, `attachment`, `number`)
);
--> statement-breakpoint
CREATE TRIGGER webhooks_transactional_mail AFTER UPDATE OF state ON transactional_mails
  WHEN EXISTS (SELECT 1 FROM webhook_wants WHERE user_id = new.user_id) AND new.state IN (2, 3) AND old.state <> new.state BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT new.user_id, w.event, new.address_id,
    json_object('email', a.normalized_email, 'contact_id', NULL, 'delivery_id', NULL, 'mailing_id', NULL, 'single_send_utr', NULL, 'automation_utr', NULL,
      'transactional_utr', new.utr, 'by', NULL, 'url', NULL, 'reply', new.reply)
    FROM webhook_wants w CROSS JOIN addresses a ON a.id = new.address_id
    WHERE w.user_id = new.user_id AND w.event = CASE new.state WHEN 2 THEN 'mail.accepted' ELSE 'mail.bounced' END;
END;
--> statement-breakpoint
CREATE TRIGGER webhooks_transactional_complaint AFTER UPDATE OF complained_at ON transactional_mails
  WHEN EXISTS (SELECT 1 FROM webhook_wants WHERE user_id = new.user_id AND event = 'mail.complained')
  AND old.complained_at IS NULL AND new.complained_at IS NOT NULL BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT new.user_id, 'mail.complained', new.address_id,
    json_object('email', a.normalized_email, 'contact_id', NULL, 'delivery_id', NULL, 'mailing_id', NULL, 'single_send_utr', NULL, 'automation_utr', NULL,
      'transactional_utr', new.utr, 'by', NULL, 'url', NULL, 'reply', NULL)
    FROM addresses a WHERE a.id = new.address_id;
END;
