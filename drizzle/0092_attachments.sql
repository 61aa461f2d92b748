CREATE TABLE `single_send_attachments` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`single_send_id` integer,
	`mailing_id` integer,
	`file_name` text NOT NULL,
	`type` text NOT NULL,
	`size` integer NOT NULL,
	`bytes` blob NOT NULL,
	FOREIGN KEY (`single_send_id`) REFERENCES `single_sends`(`id`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
CREATE INDEX `single_send_attachments_send` ON `single_send_attachments` (`single_send_id`);