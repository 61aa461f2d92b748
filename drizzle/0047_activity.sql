CREATE TABLE `activity` (
	`address_id` integer PRIMARY KEY NOT NULL,
	`last_at` integer NOT NULL,
	`last_click_at` integer
);
--> statement-breakpoint
CREATE INDEX `links_url` ON `links` (`url`);--> statement-breakpoint
CREATE INDEX `mailings_recent` ON `mailings` (`user_id`,CASE WHEN finished_at IS NULL THEN '9' ELSE finished_at END) WHERE owner_kind IN ('single', 'schedule');