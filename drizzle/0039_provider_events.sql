CREATE TABLE `provider_event_keys` (
	`intake_id` integer NOT NULL,
	`key` blob NOT NULL,
	`seen_at` integer NOT NULL,
	PRIMARY KEY(`intake_id`, `key`),
	FOREIGN KEY (`intake_id`) REFERENCES `provider_intakes`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `provider_event_keys_age` ON `provider_event_keys` (`intake_id`,`seen_at`);--> statement-breakpoint
CREATE TABLE `provider_intakes` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`provider` text NOT NULL,
	`sealed_secret` text,
	`topic` text,
	`permanent` integer DEFAULT 0 NOT NULL,
	`returned` integer DEFAULT 0 NOT NULL,
	`temporary` integer DEFAULT 0 NOT NULL,
	`complaints` integer DEFAULT 0 NOT NULL,
	`unsubscribes` integer DEFAULT 0 NOT NULL,
	`others` integer DEFAULT 0 NOT NULL,
	`unmatched` integer DEFAULT 0 NOT NULL,
	`duplicates` integer DEFAULT 0 NOT NULL,
	`last_event` text,
	`last_event_at` text,
	`refused` integer DEFAULT 0 NOT NULL,
	`last_refusal` text,
	`last_refused_at` text,
	`remembered` integer DEFAULT 0 NOT NULL,
	`created_at` text NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `provider_intakes_user` ON `provider_intakes` (`user_id`,`id`);