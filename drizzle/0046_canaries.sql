CREATE TABLE `watched_mailings` (
	`mailing_id` integer PRIMARY KEY NOT NULL,
	`percent` integer DEFAULT 0 NOT NULL,
	`minutes` integer DEFAULT 0 NOT NULL,
	`stage` text DEFAULT 'released' NOT NULL,
	`chosen` text,
	`size` integer DEFAULT 0 NOT NULL,
	`tried_at` integer DEFAULT 0 NOT NULL,
	`passed` text DEFAULT '' NOT NULL,
	`seen` text,
	FOREIGN KEY (`mailing_id`) REFERENCES `mailings`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `watched_mailings_canary` ON `watched_mailings` (`mailing_id`) WHERE stage <> 'released';--> statement-breakpoint
ALTER TABLE `accounts` ADD `auto_hold` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `single_sends` ADD `canary_percent` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `single_sends` ADD `canary_minutes` integer DEFAULT 30 NOT NULL;