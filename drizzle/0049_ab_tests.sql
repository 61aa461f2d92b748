CREATE TABLE `ab_tests` (
	`mailing_id` integer PRIMARY KEY NOT NULL,
	`share` integer NOT NULL,
	`winner_by` text NOT NULL,
	`hours` integer NOT NULL,
	`variants` text NOT NULL,
	`rest` integer DEFAULT 0 NOT NULL,
	`tried_at` integer,
	`decided_at` integer,
	`verdict` text,
	`winner` integer,
	`better_than` text,
	`counted` text,
	`is_released` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `ab_tests_open` ON `ab_tests` (`mailing_id`) WHERE is_released = 0;--> statement-breakpoint
ALTER TABLE `single_sends` ADD `ab_test` text;--> statement-breakpoint
ALTER TABLE `deliveries` ADD `variant` integer;--> statement-breakpoint
CREATE INDEX `deliveries_variant` ON `deliveries` (`mailing_id`,`variant`,`state`,`by_person`) WHERE variant IS NOT NULL;