CREATE TABLE `earlier_addresses` (
	`contact_id` integer NOT NULL,
	`address_id` integer NOT NULL,
	PRIMARY KEY(`contact_id`, `address_id`),
	FOREIGN KEY (`address_id`) REFERENCES `addresses`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `earlier_addresses_address` ON `earlier_addresses` (`address_id`);--> statement-breakpoint
-- Corrections made so far are known where the earlier address was mailed.
INSERT INTO `earlier_addresses` (`contact_id`, `address_id`)
SELECT DISTINCT c.`id`, d.`address_id` FROM `deliveries` d CROSS JOIN `contacts` c ON c.`id` = d.`contact_id` WHERE c.`address_id` <> d.`address_id`;
