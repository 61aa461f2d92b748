ALTER TABLE `automation_schedules` ADD `kind` text DEFAULT 'mail' NOT NULL;--> statement-breakpoint
ALTER TABLE `automation_schedules` ADD `parent_id` integer;--> statement-breakpoint
ALTER TABLE `automation_schedules` ADD `branch` text;--> statement-breakpoint
ALTER TABLE `automation_schedules` ADD `segment_id` integer;--> statement-breakpoint
ALTER TABLE `automation_schedules` ADD `share` integer;