CREATE TABLE `contact_events` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`address_id` integer NOT NULL,
	`name_id` integer NOT NULL,
	`happened_at` integer NOT NULL,
	`event_key` text,
	`value` real,
	`currency` text,
	`properties` text,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`address_id`) REFERENCES `addresses`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `contact_events_key` ON `contact_events` (`user_id`,`event_key`) WHERE event_key IS NOT NULL;--> statement-breakpoint
CREATE INDEX `contact_events_person` ON `contact_events` (`address_id`,`happened_at`,`name_id`);--> statement-breakpoint
CREATE INDEX `contact_events_time` ON `contact_events` (`happened_at`);--> statement-breakpoint
CREATE TABLE `event_totals` (
	`address_id` integer NOT NULL,
	`name_id` integer NOT NULL,
	`events` integer DEFAULT 0 NOT NULL,
	`value` real DEFAULT 0 NOT NULL,
	`last_at` integer NOT NULL,
	PRIMARY KEY(`address_id`, `name_id`),
	FOREIGN KEY (`address_id`) REFERENCES `addresses`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `event_words` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`word` text NOT NULL,
	`events` integer DEFAULT 0 NOT NULL,
	`last_at` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `event_words_word` ON `event_words` (`user_id`,`word`);