CREATE TABLE `sent_transactional_mails` (
	`mail_id` integer PRIMARY KEY NOT NULL,
	`message` blob NOT NULL,
	FOREIGN KEY (`mail_id`) REFERENCES `transactional_mails`(`id`) ON UPDATE no action ON DELETE cascade
);
