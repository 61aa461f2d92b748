DROP INDEX `automations_live`;--> statement-breakpoint
CREATE INDEX `automations_target` ON `automations` (`automation_for_table`,`automation_for`) WHERE deleted_at IS NULL;--> statement-breakpoint
ALTER TABLE `membership_changes` ADD `automation_id` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
INSERT INTO `membership_changes` (`user_id`, `target_table`, `target_id`, `automation_id`, `address_id`, `contact_id`, `change`, `happened_at`)
SELECT m.`user_id`, m.`target_table`, m.`target_id`, au.`id`, m.`address_id`, m.`contact_id`, m.`change`, m.`happened_at`
FROM `membership_changes` m JOIN `automations` au
  ON au.`automation_for_table` = m.`target_table` AND au.`automation_for` = m.`target_id` AND au.`deleted_at` IS NULL
WHERE (m.`change` = 'joined' AND au.`status` = 1 AND m.`happened_at` >= unixepoch(au.`live_at`) * 1000)
  OR (m.`change` = 'left' AND au.`exit_criteria` = 1)
ORDER BY m.`id`;--> statement-breakpoint
DELETE FROM `membership_changes` WHERE `automation_id` = 0;--> statement-breakpoint
ALTER TABLE `membership_changes` DROP COLUMN `target_table`;--> statement-breakpoint
ALTER TABLE `membership_changes` DROP COLUMN `target_id`;
