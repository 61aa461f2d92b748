DROP INDEX `ab_tests_open`;--> statement-breakpoint
CREATE INDEX `ab_tests_due` ON `ab_tests` (CASE WHEN winner IS NOT NULL THEN 0 WHEN tried_at IS NULL THEN 1 WHEN winner_by <> 'hand' THEN tried_at + hours * 3600000 END,`winner`,`tried_at`,`winner_by`,`hours`,`is_released`) WHERE is_released = 0;--> statement-breakpoint
CREATE INDEX `ab_tests_tried` ON `ab_tests` (`tried_at`,`winner_by`,`winner`,`is_released`) WHERE is_released = 0 AND winner IS NULL;--> statement-breakpoint
ALTER TABLE `accounts` ADD `mail_caps_progress` text;--> statement-breakpoint
CREATE INDEX `accounts_mail_caps_progress` ON `accounts` (`id`) WHERE mail_caps_progress IS NOT NULL;--> statement-breakpoint
ALTER TABLE `deliveries` ADD `counts_to_caps` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `deliveries_capped` ON `deliveries` (`address_id`,`updated_at`) WHERE counts_to_caps = 1 AND (state IN (1, 2) OR (state = 0 AND first_tried_at IS NOT NULL));--> statement-breakpoint
CREATE INDEX `mailings_recent_others` ON `mailings` (`user_id`,CASE WHEN finished_at IS NULL THEN '9' ELSE finished_at END) WHERE owner_kind NOT IN ('single', 'schedule');--> statement-breakpoint
-- What people had before counts for the limits that accounts have; the background looks for it.
UPDATE `accounts` SET `mail_caps_progress` = '{"ended":"9","mailing":9007199254740991,"delivery":0}' WHERE `mail_caps` IS NOT NULL;
