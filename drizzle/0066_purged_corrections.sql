CREATE TABLE `purged_corrections` (
	`address_id` integer NOT NULL,
	`earlier_id` integer NOT NULL,
	PRIMARY KEY(`address_id`, `earlier_id`),
	FOREIGN KEY (`address_id`) REFERENCES `addresses`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `purged_corrections_earlier` ON `purged_corrections` (`earlier_id`);