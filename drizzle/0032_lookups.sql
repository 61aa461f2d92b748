DROP INDEX `events_mailing`;--> statement-breakpoint
CREATE INDEX `events_complaint` ON `events` (`mailing_id`,`delivery_id`) WHERE kind = 'complaint';--> statement-breakpoint
CREATE INDEX `single_sends_running` ON `single_sends` (`id`) WHERE status = 2;--> statement-breakpoint
CREATE INDEX `deliveries_mailing` ON `deliveries` (`mailing_id`);--> statement-breakpoint
CREATE INDEX `deliveries_opened` ON `deliveries` (`mailing_id`,`opened_at`) WHERE opened_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `mailings_of_owner` ON `mailings` (`owner_kind`,`owner_id`,`revision`);