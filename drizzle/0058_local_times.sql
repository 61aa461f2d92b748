CREATE TABLE `local_waits` (
	`mailing_id` integer NOT NULL,
	`due_at` integer NOT NULL,
	`people` integer NOT NULL,
	PRIMARY KEY(`mailing_id`, `due_at`)
);
--> statement-breakpoint
ALTER TABLE `single_sends` ADD `local_time` integer DEFAULT 0 NOT NULL;