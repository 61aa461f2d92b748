ALTER TABLE `automations` ADD `goal_segment_id` integer;--> statement-breakpoint
ALTER TABLE `automations` ADD `exit_segment_id` integer;--> statement-breakpoint
CREATE INDEX `automations_goal` ON `automations` (`goal_segment_id`) WHERE goal_segment_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `automations_exit` ON `automations` (`exit_segment_id`) WHERE exit_segment_id IS NOT NULL;