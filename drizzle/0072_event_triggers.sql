ALTER TABLE `automations` ADD `trigger_event` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `automations` ADD `trigger_filter` text DEFAULT '' NOT NULL;