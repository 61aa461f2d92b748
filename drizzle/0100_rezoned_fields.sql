CREATE TABLE `__new_rezoned_contacts` (
	`contact_id` integer NOT NULL,
	`user_id` integer NOT NULL,
	`field_id` integer NOT NULL,
	PRIMARY KEY(`user_id`, `field_id`, `contact_id`),
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
INSERT INTO `__new_rezoned_contacts` (`contact_id`, `user_id`, `field_id`)
SELECT r.`contact_id`, r.`user_id`, d.`field_id` FROM `rezoned_contacts` r JOIN `dated_fields` d ON d.`user_id` = r.`user_id`;--> statement-breakpoint
DROP TABLE `rezoned_contacts`;--> statement-breakpoint
ALTER TABLE `__new_rezoned_contacts` RENAME TO `rezoned_contacts`;