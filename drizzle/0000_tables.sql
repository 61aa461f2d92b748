CREATE TABLE `accounts` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`name` text NOT NULL,
	`created_at` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `addresses` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`compared_email` text NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `addresses_person` ON `addresses` (`user_id`,`compared_email`);--> statement-breakpoint
CREATE TABLE `api_keys` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`public_key` text NOT NULL,
	`secret_hash` text NOT NULL,
	`created_at` text NOT NULL,
	`revoked_at` text,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_public_key_unique` ON `api_keys` (`public_key`);--> statement-breakpoint
CREATE TABLE `automation_schedules` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`automation_id` integer NOT NULL,
	`sender_id` integer NOT NULL,
	`subject` text NOT NULL,
	`waiting_period` integer NOT NULL,
	`waiting_type` text NOT NULL,
	`utr` text NOT NULL,
	`template_id` integer NOT NULL,
	`preview_img` text NOT NULL,
	`template_json` text DEFAULT '' NOT NULL,
	`template_html` text DEFAULT '' NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`automation_id`) REFERENCES `automations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `automation_schedules_utr_unique` ON `automation_schedules` (`utr`);--> statement-breakpoint
CREATE INDEX `automation_schedules_automation` ON `automation_schedules` (`automation_id`);--> statement-breakpoint
CREATE TABLE `automations` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`automation_for` integer DEFAULT 0 NOT NULL,
	`automation_for_table` text DEFAULT '' NOT NULL,
	`automation_name` text NOT NULL,
	`exit_criteria` integer DEFAULT 0 NOT NULL,
	`unsubscribe_group_id` text NOT NULL,
	`automation_type` integer NOT NULL,
	`utr` text NOT NULL,
	`status` integer DEFAULT 0 NOT NULL,
	`live_at` text,
	`held_reason` text,
	`deleted_at` text,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `automations_utr_unique` ON `automations` (`utr`);--> statement-breakpoint
CREATE INDEX `automations_user` ON `automations` (`user_id`);--> statement-breakpoint
CREATE INDEX `automations_live` ON `automations` (`automation_for_table`,`automation_for`) WHERE status = 1;--> statement-breakpoint
CREATE TABLE `cities` (
	`id` integer PRIMARY KEY NOT NULL,
	`country_id` integer NOT NULL,
	`state_id` integer,
	`name` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `consent_log` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`address_id` integer NOT NULL,
	`unsubscribe_groups_id` integer,
	`action` text NOT NULL,
	`source` text NOT NULL,
	`mailing_id` integer,
	`created_at` text NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`address_id`) REFERENCES `addresses`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `contact_imports` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`contact_type_id` integer NOT NULL,
	`file_name` text NOT NULL,
	`rows` integer DEFAULT 0 NOT NULL,
	`created` integer DEFAULT 0 NOT NULL,
	`updated` integer DEFAULT 0 NOT NULL,
	`failed` integer DEFAULT 0 NOT NULL,
	`notes` text NOT NULL,
	`errors` text NOT NULL,
	`created_at` text NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `contact_imports_user` ON `contact_imports` (`user_id`);--> statement-breakpoint
CREATE TABLE `contact_types` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`name` text NOT NULL,
	`contacts_count` integer DEFAULT 0 NOT NULL,
	`deleted_at` text,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `contact_types_user` ON `contact_types` (`user_id`);--> statement-breakpoint
CREATE TABLE `contacts` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`contact_type_id` integer NOT NULL,
	`address_id` integer NOT NULL,
	`first_name` text DEFAULT '' NOT NULL,
	`last_name` text DEFAULT '' NOT NULL,
	`email` text NOT NULL,
	`alt_email` text,
	`country_id` integer,
	`state` text DEFAULT '' NOT NULL,
	`city` text DEFAULT '' NOT NULL,
	`address_line1` text DEFAULT '' NOT NULL,
	`address_line2` text DEFAULT '' NOT NULL,
	`state_province_region` text DEFAULT '' NOT NULL,
	`postal_code` text DEFAULT '' NOT NULL,
	`custom_values` text,
	`deleted_at` text,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`contact_type_id`) REFERENCES `contact_types`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`address_id`) REFERENCES `addresses`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `contacts_person` ON `contacts` (`contact_type_id`,`address_id`) WHERE deleted_at IS NULL;--> statement-breakpoint
CREATE INDEX `contacts_user` ON `contacts` (`user_id`,`id`) WHERE deleted_at IS NULL;--> statement-breakpoint
CREATE INDEX `contacts_address` ON `contacts` (`address_id`);--> statement-breakpoint
CREATE TABLE `countries` (
	`id` integer PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`iso2` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `custom_fields` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`field_name` text NOT NULL,
	`field_type` text NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `custom_fields_name` ON `custom_fields` (`user_id`,lower("field_name"));--> statement-breakpoint
CREATE TABLE `deliveries` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`mailing_id` integer NOT NULL,
	`address_id` integer NOT NULL,
	`contact_id` integer,
	`segment_recipient_id` integer,
	`state` integer DEFAULT 0 NOT NULL,
	`attempt` integer DEFAULT 0 NOT NULL,
	`due_at` integer DEFAULT 0 NOT NULL,
	`first_tried_at` integer,
	`reply` text,
	`updated_at` integer DEFAULT 0 NOT NULL,
	`opened_at` integer,
	`opens` integer DEFAULT 0 NOT NULL,
	`unsubscribed_at` integer,
	FOREIGN KEY (`mailing_id`) REFERENCES `mailings`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`address_id`) REFERENCES `addresses`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `deliveries_person` ON `deliveries` (`mailing_id`,`address_id`);--> statement-breakpoint
CREATE INDEX `deliveries_queue` ON `deliveries` (`mailing_id`,`due_at`,`id`) WHERE state = 0;--> statement-breakpoint
CREATE INDEX `deliveries_sending` ON `deliveries` (`id`) WHERE state = 1;--> statement-breakpoint
CREATE TABLE `design_templates` (
	`id` integer PRIMARY KEY NOT NULL,
	`template_name` text NOT NULL,
	`preview_image` text NOT NULL,
	`json_code` text NOT NULL,
	`html_code` text NOT NULL,
	`is_blank` integer NOT NULL,
	`created_at` text,
	`updated_at` text
);
--> statement-breakpoint
CREATE TABLE `dkim_keys` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`domain` text NOT NULL,
	`selector` text NOT NULL,
	`private_key` text NOT NULL,
	`created_at` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `dkim_keys_selector` ON `dkim_keys` (`domain`,`selector`);--> statement-breakpoint
CREATE TABLE `dynamic_contents` (
	`id` integer PRIMARY KEY NOT NULL,
	`name` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `enrolments` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`automation_id` integer NOT NULL,
	`address_id` integer NOT NULL,
	`contact_id` integer,
	`state` text NOT NULL,
	`reason` text,
	`entered_at` integer NOT NULL,
	`schedule_id` integer DEFAULT 0 NOT NULL,
	`waiting_since` integer NOT NULL,
	`due_at` integer NOT NULL,
	FOREIGN KEY (`automation_id`) REFERENCES `automations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`address_id`) REFERENCES `addresses`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `enrolments_person` ON `enrolments` (`automation_id`,`address_id`);--> statement-breakpoint
CREATE INDEX `enrolments_due` ON `enrolments` (`automation_id`,`due_at`) WHERE state = 'active';--> statement-breakpoint
CREATE TABLE `events` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`mailing_id` integer NOT NULL,
	`delivery_id` integer NOT NULL,
	`kind` text NOT NULL,
	`link_number` integer,
	`is_machine` integer DEFAULT 0 NOT NULL,
	`happened_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `events_mailing` ON `events` (`mailing_id`,`kind`);--> statement-breakpoint
CREATE TABLE `installation` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `links` (
	`mailing_id` integer NOT NULL,
	`number` integer NOT NULL,
	`url` text NOT NULL,
	PRIMARY KEY(`mailing_id`, `number`)
);
--> statement-breakpoint
CREATE TABLE `mailings` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`owner_kind` text NOT NULL,
	`owner_id` integer NOT NULL,
	`revision` integer DEFAULT 1 NOT NULL,
	`automation_id` integer,
	`unsubscribe_group_id` integer,
	`content` text NOT NULL,
	`state` text NOT NULL,
	`held_reason` text,
	`seen_state` text DEFAULT '' NOT NULL,
	`layout` text,
	`triggered` integer DEFAULT 0 NOT NULL,
	`delivered` integer DEFAULT 0 NOT NULL,
	`bounces` integer DEFAULT 0 NOT NULL,
	`failed` integer DEFAULT 0 NOT NULL,
	`suppressed` integer DEFAULT 0 NOT NULL,
	`cancelled` integer DEFAULT 0 NOT NULL,
	`unique_opens` integer DEFAULT 0 NOT NULL,
	`total_opens` integer DEFAULT 0 NOT NULL,
	`unsubscribes` integer DEFAULT 0 NOT NULL,
	`created_at` text NOT NULL,
	`finished_at` text,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `mailings_owner` ON `mailings` (`owner_kind`,`owner_id`,`revision`) WHERE owner_kind IN ('single', 'schedule');--> statement-breakpoint
CREATE INDEX `mailings_automation` ON `mailings` (`automation_id`) WHERE automation_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `mailings_unfinished` ON `mailings` (`state`) WHERE finished_at IS NULL;--> statement-breakpoint
CREATE INDEX `mailings_unseen` ON `mailings` (`id`) WHERE seen_state <> state;--> statement-breakpoint
CREATE TABLE `membership_changes` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`target_table` text NOT NULL,
	`target_id` integer NOT NULL,
	`address_id` integer NOT NULL,
	`contact_id` integer,
	`change` text NOT NULL,
	`happened_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`address_id`) REFERENCES `addresses`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `outbox` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`mailing_id` integer NOT NULL,
	`envelope_from` text NOT NULL,
	`envelope_to` text NOT NULL,
	`subject` text NOT NULL,
	`raw` blob NOT NULL,
	`created_at` text NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `segment_recipients` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`segment_id` integer NOT NULL,
	`address_id` integer NOT NULL,
	`contact_id` integer,
	`by_hand` integer DEFAULT 0 NOT NULL,
	`is_removed` integer DEFAULT 0 NOT NULL,
	`first_name` text DEFAULT '' NOT NULL,
	`last_name` text DEFAULT '' NOT NULL,
	`email` text NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`segment_id`) REFERENCES `segments`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`address_id`) REFERENCES `addresses`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `segment_recipients_person` ON `segment_recipients` (`segment_id`,`address_id`);--> statement-breakpoint
CREATE INDEX `segment_recipients_listed` ON `segment_recipients` (`segment_id`,`id`) WHERE is_removed = 0;--> statement-breakpoint
CREATE INDEX `segment_recipients_contact` ON `segment_recipients` (`contact_id`);--> statement-breakpoint
CREATE TABLE `segments` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`contact_type_id` integer NOT NULL,
	`segment_name` text NOT NULL,
	`select_field` text NOT NULL,
	`select_operator` text NOT NULL,
	`value` text NOT NULL,
	`query_type` text,
	`rules` text DEFAULT '[]' NOT NULL,
	`recompute_after` integer,
	`check_at` integer,
	`segment_emails_count` integer DEFAULT 0 NOT NULL,
	`deleted_at` text,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `segments_user` ON `segments` (`user_id`);--> statement-breakpoint
CREATE INDEX `segments_type` ON `segments` (`contact_type_id`);--> statement-breakpoint
CREATE INDEX `segments_recomputing` ON `segments` (`id`) WHERE recompute_after IS NOT NULL;--> statement-breakpoint
CREATE INDEX `segments_checks` ON `segments` (`check_at`) WHERE check_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `senders` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`from_name` text NOT NULL,
	`from_email` text NOT NULL,
	`reply_to_email` text NOT NULL,
	`country_id` integer NOT NULL,
	`state_id` integer DEFAULT 0 NOT NULL,
	`city_id` integer DEFAULT 0 NOT NULL,
	`zip_code` text DEFAULT '' NOT NULL,
	`company_address` text NOT NULL,
	`company_address2` text DEFAULT '' NOT NULL,
	`nickname` text NOT NULL,
	`is_verified` integer DEFAULT 0 NOT NULL,
	`utr` text NOT NULL,
	`send_at` text NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	`deleted_at` text,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `senders_user` ON `senders` (`user_id`);--> statement-breakpoint
CREATE TABLE `single_sends` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`template_id` integer NOT NULL,
	`recipient_id` text NOT NULL,
	`exclude_specific_recipient_id` text NOT NULL,
	`sender_id` integer NOT NULL,
	`unsubscribe_group_id` integer NOT NULL,
	`single_send_name` text NOT NULL,
	`from_sender` text NOT NULL,
	`reply_to` text NOT NULL,
	`sender_name` text,
	`sender_address` text,
	`subject` text NOT NULL,
	`preheader` text NOT NULL,
	`schedule_type` integer NOT NULL,
	`schedule_date` text NOT NULL,
	`schedule_time` text NOT NULL,
	`status` integer NOT NULL,
	`utr` text NOT NULL,
	`template_json` text,
	`template_html` text,
	`sent_at` text NOT NULL,
	`starts_at` integer NOT NULL,
	`held_reason` text,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `single_sends_utr_unique` ON `single_sends` (`utr`);--> statement-breakpoint
CREATE INDEX `single_sends_user` ON `single_sends` (`user_id`);--> statement-breakpoint
CREATE INDEX `single_sends_due` ON `single_sends` (`starts_at`) WHERE status = 1;--> statement-breakpoint
CREATE TABLE `states` (
	`id` integer PRIMARY KEY NOT NULL,
	`country_id` integer NOT NULL,
	`name` text NOT NULL,
	`code` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `steps` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`enrolment_id` integer NOT NULL,
	`schedule_id` integer NOT NULL,
	`delivery_id` integer,
	`taken_at` integer NOT NULL,
	FOREIGN KEY (`enrolment_id`) REFERENCES `enrolments`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `steps_once` ON `steps` (`enrolment_id`,`schedule_id`);--> statement-breakpoint
CREATE TABLE `suppressions` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`address_id` integer NOT NULL,
	`kind` text NOT NULL,
	`diagnostic` text NOT NULL,
	`created_at` text NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`address_id`) REFERENCES `addresses`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `suppressions_address_id_unique` ON `suppressions` (`address_id`);--> statement-breakpoint
CREATE TABLE `unsubscribe_groups` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`rand_id` text NOT NULL,
	`group_name` text NOT NULL,
	`description` text NOT NULL,
	`is_display` integer NOT NULL,
	`unsubscribe_clients_count` integer DEFAULT 0 NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `unsubscribe_groups_user` ON `unsubscribe_groups` (`user_id`);--> statement-breakpoint
CREATE TABLE `unsubscribers` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`unsubscribe_groups_id` integer,
	`address_id` integer NOT NULL,
	`email_address` text NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`unsubscribe_groups_id`) REFERENCES `unsubscribe_groups`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`address_id`) REFERENCES `addresses`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `unsubscribers_global` ON `unsubscribers` (`address_id`) WHERE unsubscribe_groups_id IS NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `unsubscribers_grouped` ON `unsubscribers` (`address_id`,`unsubscribe_groups_id`) WHERE unsubscribe_groups_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `unsubscribers_group` ON `unsubscribers` (`user_id`,`unsubscribe_groups_id`,`id`);