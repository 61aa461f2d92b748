ALTER TABLE `outbox` ADD `from` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `outbox` ADD `to` text DEFAULT '' NOT NULL;--> statement-breakpoint
CREATE INDEX `mailings_verification` ON `mailings` (`owner_id`) WHERE owner_kind = 'system';