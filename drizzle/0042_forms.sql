CREATE TABLE `form_challenges` (
	`nonce` text PRIMARY KEY NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `form_challenges_expiring` ON `form_challenges` (`expires_at`);--> statement-breakpoint
CREATE TABLE `form_mailboxes` (
	`mailbox` text PRIMARY KEY NOT NULL,
	`mailed_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `form_mailboxes_mailed` ON `form_mailboxes` (`mailed_at`);--> statement-breakpoint
CREATE TABLE `form_requests` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`form_id` integer NOT NULL,
	`state` text NOT NULL,
	`address_id` integer,
	`is_new_address` integer DEFAULT 0 NOT NULL,
	`email` text DEFAULT '' NOT NULL,
	`given` text NOT NULL,
	`groups` text NOT NULL,
	`consent_text` text DEFAULT '' NOT NULL,
	`token_hash` text NOT NULL,
	`is_proven` integer NOT NULL,
	`network` text NOT NULL,
	`asked_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`address_id`) REFERENCES `addresses`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `form_requests_token` ON `form_requests` (`token_hash`);--> statement-breakpoint
CREATE INDEX `form_requests_form` ON `form_requests` (`form_id`,`asked_at`,`is_proven`,`state`);--> statement-breakpoint
CREATE INDEX `form_requests_network` ON `form_requests` (`network`,`asked_at`,`is_proven`);--> statement-breakpoint
CREATE INDEX `form_requests_address` ON `form_requests` (`address_id`) WHERE address_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `form_requests_asked` ON `form_requests` (`asked_at`);--> statement-breakpoint
CREATE INDEX `form_requests_expiring` ON `form_requests` (`expires_at`) WHERE email <> '';--> statement-breakpoint
CREATE TABLE `forms` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`name` text NOT NULL,
	`contact_type_id` integer NOT NULL,
	`sender_id` integer NOT NULL,
	`segment_id` integer,
	`language` text NOT NULL,
	`is_active` integer NOT NULL,
	`fields` text NOT NULL,
	`group_ids` text NOT NULL,
	`title` text NOT NULL,
	`intro` text DEFAULT '' NOT NULL,
	`consent_text` text NOT NULL,
	`privacy_url` text DEFAULT '' NOT NULL,
	`button_text` text NOT NULL,
	`mail_subject` text NOT NULL,
	`mail_text` text NOT NULL,
	`sent_text` text NOT NULL,
	`confirmed_text` text NOT NULL,
	`already_text` text NOT NULL,
	`expired_text` text NOT NULL,
	`off_text` text NOT NULL,
	`redirect_url` text DEFAULT '' NOT NULL,
	`shown` integer DEFAULT 0 NOT NULL,
	`sent` integer DEFAULT 0 NOT NULL,
	`confirmed` integer DEFAULT 0 NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `forms_user` ON `forms` (`user_id`,`id`);--> statement-breakpoint
ALTER TABLE `consent_log` ADD `form_name` text;--> statement-breakpoint
ALTER TABLE `consent_log` ADD `consent_text` text;--> statement-breakpoint
ALTER TABLE `consent_log` ADD `asked_at` text;--> statement-breakpoint
ALTER TABLE `consent_log` ADD `asked_from` text;--> statement-breakpoint
ALTER TABLE `consent_log` ADD `confirmed_from` text;