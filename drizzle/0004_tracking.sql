ALTER TABLE `automation_schedules` ADD `tracking` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `single_sends` ADD `tracking` integer DEFAULT 1 NOT NULL;