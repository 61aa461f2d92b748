CREATE TABLE `contact_dates` (
	`contact_id` integer NOT NULL,
	`field_id` integer NOT NULL,
	`day` text NOT NULL,
	`date` text NOT NULL,
	PRIMARY KEY(`contact_id`, `field_id`)
);
--> statement-breakpoint
CREATE INDEX `contact_dates_day` ON `contact_dates` (`field_id`,`day`,`contact_id`);--> statement-breakpoint
CREATE TABLE `dated_fields` (
	`field_id` integer PRIMARY KEY NOT NULL,
	`user_id` integer NOT NULL,
	`filled_to` integer,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `dated_fields_user` ON `dated_fields` (`user_id`);--> statement-breakpoint
ALTER TABLE `automations` ADD `trigger_kind` text DEFAULT 'join' NOT NULL;--> statement-breakpoint
ALTER TABLE `automations` ADD `trigger_field_id` integer;--> statement-breakpoint
ALTER TABLE `automations` ADD `trigger_field` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `automations` ADD `trigger_value` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `automations` ADD `trigger_days` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `automations` ADD `trigger_before` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `automations` ADD `trigger_hour` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `automations` ADD `trigger_yearly` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `automations` ADD `trigger_form_id` integer;--> statement-breakpoint
ALTER TABLE `automations` ADD `dates_checked_to` integer;--> statement-breakpoint
CREATE INDEX `automations_dates` ON `automations` (`dates_checked_to`) WHERE trigger_kind = 'date' AND status = 1 AND deleted_at IS NULL;--> statement-breakpoint
CREATE INDEX `automations_fields` ON `automations` (`user_id`) WHERE trigger_kind = 'field' AND status = 1 AND deleted_at IS NULL;--> statement-breakpoint
UPDATE automations SET trigger_kind = 'event' WHERE trigger_event <> '';--> statement-breakpoint
-- The dates of contacts in these fields. Other values of a text field are no dates.
CREATE VIEW contact_date_values AS
  SELECT contact_id, field_id, iif(length(value) = 5, value, substr(value, 6, 5)) AS day, iif(length(value) = 5, '', substr(value, 1, 10)) AS date
  FROM (
    SELECT c.id AS contact_id, f.field_id, c.custom_values ->> ('$."' || f.field_id || '"') AS value
    FROM contacts c CROSS JOIN dated_fields f ON f.user_id = c.user_id WHERE c.deleted_at IS NULL)
  WHERE value GLOB '[01][0-9]-[0-3][0-9]' OR value GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]*';--> statement-breakpoint
-- A change of a contact's fields, as JSON before and after. The view only gives the triggers on contacts one trigger.
CREATE VIEW field_changes (user_id, contact_type_id, address_id, contact_id, happened_at, before, after) AS
  SELECT 0, 0, 0, 0, '', '', '' WHERE 0;
