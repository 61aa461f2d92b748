CREATE TABLE `sent_transactional_mails` (
	`mail_id` integer PRIMARY KEY NOT NULL,
	`message` blob NOT NULL,
	FOREIGN KEY (`mail_id`) REFERENCES `transactional_mails`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
DELETE FROM `single_send_attachments` WHERE `single_send_id` IS NULL AND `mailing_id` IS NULL;
