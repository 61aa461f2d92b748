ALTER TABLE `senders` ADD `relay_id` integer REFERENCES relays(id) ON DELETE set null;--> statement-breakpoint
CREATE INDEX `senders_relay` ON `senders` (`relay_id`) WHERE relay_id IS NOT NULL;