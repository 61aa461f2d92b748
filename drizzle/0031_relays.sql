CREATE TABLE `relays` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`name` text NOT NULL,
	`host` text NOT NULL,
	`port` integer NOT NULL,
	`security` text NOT NULL,
	`username` text DEFAULT '' NOT NULL,
	`sealed_password` text,
	`rate` integer DEFAULT 0 NOT NULL,
	`connections` integer NOT NULL,
	`position` integer NOT NULL,
	`accepted_at` text,
	`answered_at` text,
	`failed_at` text,
	`failure` text,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL
);
