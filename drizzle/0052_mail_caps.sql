ALTER TABLE `accounts` ADD `mail_caps` text;--> statement-breakpoint
ALTER TABLE `automations` ADD `ignores_caps` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `single_sends` ADD `ignores_caps` integer DEFAULT 0 NOT NULL;