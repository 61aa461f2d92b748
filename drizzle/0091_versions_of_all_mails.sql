ALTER TABLE `automation_schedules` ADD `languages` text;--> statement-breakpoint
ALTER TABLE `feeds` ADD `languages` text;--> statement-breakpoint
ALTER TABLE `own_templates` ADD `languages` text;