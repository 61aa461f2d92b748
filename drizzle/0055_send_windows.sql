ALTER TABLE `accounts` ADD `send_window` text;--> statement-breakpoint
CREATE INDEX `accounts_send_window` ON `accounts` (`id`) WHERE send_window IS NOT NULL;