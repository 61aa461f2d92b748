ALTER TABLE `accounts` ADD `mail_language` text DEFAULT 'en' NOT NULL;--> statement-breakpoint
ALTER TABLE `single_sends` ADD `languages` text;