CREATE TABLE `deleted_records` (
	`user_id` integer NOT NULL,
	`kind` text NOT NULL,
	`record_id` integer NOT NULL,
	`content` text NOT NULL,
	PRIMARY KEY(`user_id`, `kind`),
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
