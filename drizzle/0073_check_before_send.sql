ALTER TABLE `accounts` ADD `stops_errors` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `mailings` ADD `findings` text;