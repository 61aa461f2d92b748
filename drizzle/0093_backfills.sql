CREATE TABLE `automation_backfills` (
	`automation_id` integer NOT NULL,
	`source_table` text NOT NULL,
	`source_id` integer NOT NULL,
	`after_address` integer NOT NULL,
	PRIMARY KEY(`automation_id`, `source_table`, `source_id`)
);
