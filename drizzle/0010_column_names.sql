-- Names that say what the column holds. SQLite changes the indexes with them.
ALTER TABLE `addresses` RENAME COLUMN `compared_email` TO `normalized_email`;--> statement-breakpoint
DROP INDEX `mailings_unseen`;--> statement-breakpoint
ALTER TABLE `mailings` RENAME COLUMN `seen_state` TO `acknowledged_state`;--> statement-breakpoint
ALTER TABLE `mailings` RENAME COLUMN `layout` TO `enqueue_progress`;--> statement-breakpoint
UPDATE `mailings` SET `state` = 'enqueueing' WHERE `state` = 'layout';--> statement-breakpoint
UPDATE `mailings` SET `acknowledged_state` = 'enqueueing' WHERE `acknowledged_state` = 'layout';--> statement-breakpoint
CREATE INDEX `mailings_unacknowledged` ON `mailings` (`id`) WHERE acknowledged_state <> state;
