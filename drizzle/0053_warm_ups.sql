CREATE TABLE `warm_up_days` (
	`warm_up_id` integer NOT NULL,
	`day` text NOT NULL,
	`volume` integer NOT NULL,
	`mails` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`warm_up_id`, `day`),
	FOREIGN KEY (`warm_up_id`) REFERENCES `warm_ups`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `warm_ups` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`domain` text NOT NULL,
	`starts_on` text NOT NULL,
	`volume` integer NOT NULL,
	`growth` integer NOT NULL,
	`until_volume` integer NOT NULL,
	`ended_on` text,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `warm_ups_domain` ON `warm_ups` (`user_id`,`domain`);--> statement-breakpoint
CREATE UNIQUE INDEX `warm_ups_on` ON `warm_ups` (`user_id`,`domain`) WHERE ended_on IS NULL;