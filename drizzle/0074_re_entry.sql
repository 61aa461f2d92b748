CREATE TABLE `enrolment_log` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`automation_id` integer NOT NULL,
	`address_id` integer NOT NULL,
	`run` integer NOT NULL,
	`code` text NOT NULL,
	`step_id` integer,
	`reason` text,
	`happened_at` integer NOT NULL,
	FOREIGN KEY (`address_id`) REFERENCES `addresses`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `enrolment_log_automation` ON `enrolment_log` (`automation_id`,`id`);--> statement-breakpoint
CREATE INDEX `enrolment_log_person` ON `enrolment_log` (`address_id`,`id`);--> statement-breakpoint
DROP INDEX `enrolments_person`;--> statement-breakpoint
ALTER TABLE `enrolments` ADD `run` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `enrolments` ADD `event_key` text;--> statement-breakpoint
ALTER TABLE `enrolments` ADD `ended_at` integer;--> statement-breakpoint
CREATE UNIQUE INDEX `enrolments_active` ON `enrolments` (`automation_id`,`address_id`) WHERE state = 'active';--> statement-breakpoint
CREATE UNIQUE INDEX `enrolments_person` ON `enrolments` (`automation_id`,`address_id`,`run`);--> statement-breakpoint
DROP INDEX `deliveries_person`;--> statement-breakpoint
ALTER TABLE `deliveries` ADD `run` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `deliveries_person` ON `deliveries` (`mailing_id`,`address_id`,`run`);--> statement-breakpoint
ALTER TABLE `membership_changes` ADD `event_key` text;--> statement-breakpoint
ALTER TABLE `automations` ADD `re_entry` text DEFAULT 'never' NOT NULL;--> statement-breakpoint
ALTER TABLE `automations` ADD `re_entry_days` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `steps` ADD `outcome` text DEFAULT 'mail' NOT NULL;