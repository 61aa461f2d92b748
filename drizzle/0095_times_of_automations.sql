CREATE TABLE `rezoned_contacts` (
	`contact_id` integer NOT NULL,
	`user_id` integer NOT NULL,
	PRIMARY KEY(`user_id`, `contact_id`),
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
ALTER TABLE `consent_log` ADD `form_id` integer;--> statement-breakpoint
CREATE INDEX `consent_log_form` ON `consent_log` (`form_id`) WHERE form_id IS NOT NULL;--> statement-breakpoint
ALTER TABLE `segment_recipients` ADD `rejoined_at` text;--> statement-breakpoint
CREATE INDEX `segment_recipients_rejoined` ON `segment_recipients` (`segment_id`,`rejoined_at`) WHERE rejoined_at IS NOT NULL;--> statement-breakpoint
ALTER TABLE `automation_schedules` ADD `event_since` integer;--> statement-breakpoint
ALTER TABLE `automations` ADD `dates_since` integer;--> statement-breakpoint
ALTER TABLE `segments` ADD `is_restoring` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `enrolments` ADD `arrived_at` integer;--> statement-breakpoint
CREATE INDEX `contact_events_name` ON `contact_events` (`name_id`,`happened_at`);--> statement-breakpoint
CREATE INDEX `contact_moves_target` ON `contact_moves` (`to_type_id`);--> statement-breakpoint
UPDATE `automations` SET `dates_since` = `dates_checked_to`;--> statement-breakpoint
UPDATE `consent_log` SET `form_id` = ifnull(
	(SELECT r.form_id FROM form_requests r WHERE r.address_id = consent_log.address_id AND r.state = 'confirmed'
		AND r.asked_at = CAST(round(unixepoch(consent_log.asked_at, 'subsec') * 1000) AS INTEGER)),
	(SELECT min(f.id) FROM forms f WHERE f.user_id = consent_log.user_id AND f.name = consent_log.form_name
		AND f.created_at <= consent_log.created_at HAVING count(*) = 1)
) WHERE `action` = 'subscribed' AND `source` = 'form';
