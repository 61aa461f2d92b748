CREATE TABLE `sent_facts` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`mailing_id` integer NOT NULL,
	`facts` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `sent_facts_created` ON `sent_facts` (`created_at`);--> statement-breakpoint
CREATE TABLE `sent_mails` (
	`delivery_id` integer PRIMARY KEY NOT NULL,
	`facts_id` integer NOT NULL,
	`recipient` text NOT NULL,
	`rendered_at` integer NOT NULL,
	`digest` blob NOT NULL
);
--> statement-breakpoint
CREATE INDEX `sent_mails_rendered` ON `sent_mails` (`rendered_at`);--> statement-breakpoint
ALTER TABLE `accounts` ADD `keeps_sent_mails` integer DEFAULT 0 NOT NULL;