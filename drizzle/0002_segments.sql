ALTER TABLE `deliveries` ADD `segment_recipient_id` integer;--> statement-breakpoint
ALTER TABLE `segments` ADD `rules` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `segments` ADD `recompute_after` integer;--> statement-breakpoint
ALTER TABLE `segments` ADD `check_at` integer;--> statement-breakpoint
CREATE INDEX `segments_recomputing` ON `segments` (`id`) WHERE recompute_after IS NOT NULL;--> statement-breakpoint
CREATE INDEX `segments_checks` ON `segments` (`check_at`) WHERE check_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `segment_recipients_listed` ON `segment_recipients` (`segment_id`,`id`) WHERE is_removed = 0;