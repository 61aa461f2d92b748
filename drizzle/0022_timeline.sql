CREATE TABLE `contact_moves` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`contact_id` integer NOT NULL,
	`from_type_id` integer NOT NULL,
	`to_type_id` integer NOT NULL,
	`created_at` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `contact_moves_contact` ON `contact_moves` (`contact_id`);--> statement-breakpoint
CREATE TABLE `segment_leaves` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`segment_id` integer NOT NULL,
	`address_id` integer NOT NULL,
	`joined_at` text NOT NULL,
	`left_at` text NOT NULL,
	FOREIGN KEY (`address_id`) REFERENCES `addresses`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `segment_leaves_address` ON `segment_leaves` (`address_id`);--> statement-breakpoint
DROP INDEX `mailings_user`;--> statement-breakpoint
CREATE INDEX `mailings_user` ON `mailings` (`user_id`,`id`,`created_at`);--> statement-breakpoint
CREATE INDEX `contact_imports_written` ON `contact_imports` (`contact_type_id`,`written_at`);