CREATE TABLE `contact_job_items` (
	`job_id` integer NOT NULL,
	`contact_id` integer NOT NULL,
	`is_done` integer DEFAULT 0 NOT NULL,
	`type_before` integer,
	PRIMARY KEY(`job_id`, `contact_id`),
	FOREIGN KEY (`job_id`) REFERENCES `contact_jobs`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `contact_job_items_contact` ON `contact_job_items` (`contact_id`);--> statement-breakpoint
CREATE TABLE `contact_jobs` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`action` text NOT NULL,
	`target_id` integer,
	`state` text NOT NULL,
	`filter` text,
	`place` text,
	`after_id` integer DEFAULT 0 NOT NULL,
	`whole` integer DEFAULT 0 NOT NULL,
	`done` integer DEFAULT 0 NOT NULL,
	`skipped` integer DEFAULT 0 NOT NULL,
	`created_at` text NOT NULL,
	`finished_at` text,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `contact_jobs_user` ON `contact_jobs` (`user_id`,`id`);--> statement-breakpoint
CREATE INDEX `contact_jobs_unfinished` ON `contact_jobs` (`id`) WHERE state IN ('selecting', 'running', 'undoing');--> statement-breakpoint
ALTER TABLE `contact_imports` ADD `written_at` text DEFAULT '' NOT NULL;--> statement-breakpoint
CREATE INDEX `consent_log_address` ON `consent_log` (`address_id`);--> statement-breakpoint
CREATE INDEX `events_delivery` ON `events` (`delivery_id`);
--> statement-breakpoint
-- Bringing a deleted contact back counts it again.
CREATE TRIGGER contacts_recounted AFTER UPDATE OF deleted_at ON contacts WHEN old.deleted_at IS NOT NULL AND new.deleted_at IS NULL BEGIN
  UPDATE contact_types SET contacts_count = contacts_count + 1 WHERE id = new.contact_type_id;
END;
