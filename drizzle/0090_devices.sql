CREATE TABLE `mailing_devices` (
	`mailing_id` integer NOT NULL,
	`device` integer NOT NULL,
	`opens` integer DEFAULT 0 NOT NULL,
	`clicks` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`mailing_id`, `device`)
);
--> statement-breakpoint
ALTER TABLE `events` ADD `device` integer;