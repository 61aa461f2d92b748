ALTER TABLE `membership_changes` ADD `step_id` integer;--> statement-breakpoint
ALTER TABLE `automation_schedules` ADD `until` text;--> statement-breakpoint
ALTER TABLE `automation_schedules` ADD `event` text;--> statement-breakpoint
ALTER TABLE `automation_schedules` ADD `event_filter` text;--> statement-breakpoint
ALTER TABLE `automation_schedules` ADD `weekday` integer;--> statement-breakpoint
ALTER TABLE `automation_schedules` ADD `hour` integer;--> statement-breakpoint
ALTER TABLE `automation_schedules` ADD `timeout_hours` integer;--> statement-breakpoint
CREATE INDEX `automation_schedules_until` ON `automation_schedules` (`user_id`,`until`) WHERE until IS NOT NULL;--> statement-breakpoint
ALTER TABLE `enrolments` ADD `arrived_step` integer;