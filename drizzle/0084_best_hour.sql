CREATE TABLE `best_hour_holdouts` (
	`mailing_id` integer NOT NULL,
	`delivery_id` integer NOT NULL,
	PRIMARY KEY(`mailing_id`, `delivery_id`)
);
--> statement-breakpoint
ALTER TABLE `single_sends` ADD `best_hour` integer DEFAULT 0 NOT NULL;