ALTER TABLE `automation_schedules` ADD `contact_type_id` integer;--> statement-breakpoint
ALTER TABLE `automation_schedules` ADD `field` text;--> statement-breakpoint
ALTER TABLE `automation_schedules` ADD `field_id` integer;--> statement-breakpoint
ALTER TABLE `automation_schedules` ADD `value` text;