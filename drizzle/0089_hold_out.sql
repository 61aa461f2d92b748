ALTER TABLE `automations` ADD `hold_out` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `automations` ADD `hold_out_since` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `enrolments` ADD `goal_at` integer;