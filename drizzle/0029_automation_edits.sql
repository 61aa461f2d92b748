DROP INDEX `automation_schedules_automation`;--> statement-breakpoint
ALTER TABLE `automation_schedules` ADD `preheader` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `automation_schedules` ADD `position` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `automation_schedules` ADD `changed_by` integer;--> statement-breakpoint
CREATE INDEX `automation_schedules_automation` ON `automation_schedules` (`automation_id`,`position`);--> statement-breakpoint
ALTER TABLE `automations` ADD `changed_by` integer;--> statement-breakpoint
ALTER TABLE `enrolments` RENAME COLUMN `schedule_id` TO `position`;--> statement-breakpoint
UPDATE `automation_schedules` SET `position` = `id`;
