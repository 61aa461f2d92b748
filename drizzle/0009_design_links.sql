CREATE TABLE `design_revocations` (
	`utr` text PRIMARY KEY NOT NULL,
	`revoked_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `design_tests` (
	`utr` text NOT NULL,
	`until` integer NOT NULL,
	`tests` integer NOT NULL,
	PRIMARY KEY(`utr`, `until`)
);
--> statement-breakpoint
ALTER TABLE `deliveries` ADD `clicks` integer DEFAULT 0 NOT NULL;