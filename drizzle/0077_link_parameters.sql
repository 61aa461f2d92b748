ALTER TABLE `accounts` ADD `link_rules` text;--> statement-breakpoint
ALTER TABLE `single_sends` ADD `link_rules` text;--> statement-breakpoint
ALTER TABLE `links` ADD `target` text;