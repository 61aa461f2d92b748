CREATE TABLE `archived_mails` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`single_send_id` integer NOT NULL,
	`token` text NOT NULL,
	`title` text DEFAULT '' NOT NULL,
	`published_at` text,
	`created_at` text NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`single_send_id`) REFERENCES `single_sends`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `archived_mails_single_send_id_unique` ON `archived_mails` (`single_send_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `archived_mails_token_unique` ON `archived_mails` (`token`);--> statement-breakpoint
CREATE INDEX `archived_mails_published` ON `archived_mails` (`user_id`,`published_at`,`id`) WHERE published_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `archived_mails_user` ON `archived_mails` (`user_id`);--> statement-breakpoint
CREATE TABLE `archives` (
	`user_id` integer PRIMARY KEY NOT NULL,
	`slug` text NOT NULL,
	`title` text DEFAULT '' NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `archives_slug_unique` ON `archives` (`slug`);--> statement-breakpoint
CREATE TABLE `feed_items` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`feed_id` integer NOT NULL,
	`item_key` text NOT NULL,
	`item` text,
	FOREIGN KEY (`feed_id`) REFERENCES `feeds`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `feed_items_key` ON `feed_items` (`feed_id`,`item_key`);--> statement-breakpoint
CREATE INDEX `feed_items_waiting` ON `feed_items` (`feed_id`,`id`) WHERE item IS NOT NULL;--> statement-breakpoint
CREATE TABLE `feeds` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`feed_name` text NOT NULL,
	`url` text NOT NULL,
	`sender_id` integer NOT NULL,
	`unsubscribe_group_id` integer NOT NULL,
	`recipient_id` text NOT NULL,
	`exclude_specific_recipient_id` text NOT NULL,
	`template_id` integer DEFAULT 0 NOT NULL,
	`subject` text NOT NULL,
	`rhythm` text NOT NULL,
	`weekday` integer DEFAULT 1 NOT NULL,
	`time_of_day` text DEFAULT '08:00' NOT NULL,
	`time_zone` text DEFAULT 'UTC' NOT NULL,
	`state` text NOT NULL,
	`held_reason` text,
	`feed_title` text DEFAULT '' NOT NULL,
	`is_begun` integer DEFAULT 0 NOT NULL,
	`etag` text DEFAULT '' NOT NULL,
	`last_modified` text DEFAULT '' NOT NULL,
	`poll_at` integer NOT NULL,
	`read_at` integer,
	`failure` text DEFAULT '' NOT NULL,
	`failures` integer DEFAULT 0 NOT NULL,
	`issue_at` integer,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `feeds_user` ON `feeds` (`user_id`,`id`);--> statement-breakpoint
CREATE INDEX `feeds_poll` ON `feeds` (`poll_at`) WHERE state = 'active';--> statement-breakpoint
CREATE INDEX `feeds_issue` ON `feeds` (`issue_at`) WHERE state = 'active' AND issue_at IS NOT NULL;