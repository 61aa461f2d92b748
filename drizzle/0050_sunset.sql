CREATE TABLE `sunset_days` (
	`user_id` integer NOT NULL,
	`day` text NOT NULL,
	`stopped` integer DEFAULT 0 NOT NULL,
	`moved` integer DEFAULT 0 NOT NULL,
	`lifted` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`user_id`, `day`),
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `sunset_people` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`address_id` integer NOT NULL,
	`action` text NOT NULL,
	`cutoff` integer NOT NULL,
	`created_at` text NOT NULL,
	`lifted_at` text,
	`lifted_by` text,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`address_id`) REFERENCES `addresses`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `sunset_people_address` ON `sunset_people` (`address_id`,`lifted_at`);--> statement-breakpoint
CREATE INDEX `sunset_people_present` ON `sunset_people` (`user_id`,`id`) WHERE lifted_at IS NULL;--> statement-breakpoint
CREATE TABLE `sunsets` (
	`user_id` integer PRIMARY KEY NOT NULL,
	`is_on` integer DEFAULT 0 NOT NULL,
	`months` integer NOT NULL,
	`least_mails` integer NOT NULL,
	`action` text NOT NULL,
	`segment_id` integer,
	`contact_type_id` integer,
	`next_at` integer DEFAULT 0 NOT NULL,
	`cutoff` integer,
	`after_id` integer DEFAULT 0 NOT NULL,
	`lift_to` integer,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
-- How many were stopped and moved on each day, and how many of those who were stopped get mail again: a list of days must not count them.
CREATE TRIGGER sunset_people_counted AFTER INSERT ON sunset_people BEGIN
  INSERT INTO sunset_days (user_id, day, stopped, moved) VALUES (new.user_id, substr(new.created_at, 1, 10), new.action = 'stop', new.action <> 'stop')
    ON CONFLICT (user_id, day) DO UPDATE SET stopped = stopped + excluded.stopped, moved = moved + excluded.moved;
END;
--> statement-breakpoint
CREATE TRIGGER sunset_people_lifted AFTER UPDATE OF lifted_at ON sunset_people WHEN old.lifted_at IS NULL AND new.lifted_at IS NOT NULL AND new.action = 'stop' BEGIN
  INSERT INTO sunset_days (user_id, day, lifted) VALUES (new.user_id, substr(new.lifted_at, 1, 10), 1)
    ON CONFLICT (user_id, day) DO UPDATE SET lifted = lifted + 1;
END;
--> statement-breakpoint
-- Who becomes a contact, confirms a form or changes what they get is not inactive, whichever code writes it down.
CREATE TRIGGER sunset_joined AFTER INSERT ON contacts
  WHEN EXISTS (SELECT 1 FROM sunset_people WHERE address_id = new.address_id AND lifted_at IS NULL) BEGIN
  UPDATE sunset_people SET lifted_at = new.created_at, lifted_by = 'person' WHERE address_id = new.address_id AND lifted_at IS NULL;
END;
--> statement-breakpoint
CREATE TRIGGER sunset_chosen AFTER INSERT ON consent_log WHEN new.source IN ('one-click', 'page', 'provider', 'form')
  AND EXISTS (SELECT 1 FROM sunset_people WHERE address_id = new.address_id AND lifted_at IS NULL) BEGIN
  UPDATE sunset_people SET lifted_at = new.created_at, lifted_by = 'person' WHERE address_id = new.address_id AND lifted_at IS NULL;
END;
--> statement-breakpoint
CREATE TRIGGER webhooks_contact_inactive AFTER INSERT ON sunset_people
  WHEN EXISTS (SELECT 1 FROM webhook_wants WHERE user_id = new.user_id AND event = 'contact.inactive') BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT new.user_id, 'contact.inactive', new.address_id,
    json_object('email', a.normalized_email, 'action', new.action,
      'inactive_since', strftime('%Y-%m-%dT%H:%M:%S.000000Z', new.cutoff / 1000, 'unixepoch'))
    FROM addresses a WHERE a.id = new.address_id;
END;
--> statement-breakpoint
CREATE TRIGGER webhooks_contact_active AFTER UPDATE OF lifted_at ON sunset_people
  WHEN old.lifted_at IS NULL AND new.lifted_at IS NOT NULL AND EXISTS (SELECT 1 FROM webhook_wants WHERE user_id = new.user_id AND event = 'contact.active') BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT new.user_id, 'contact.active', new.address_id,
    json_object('email', a.normalized_email, 'action', new.action, 'by', new.lifted_by)
    FROM addresses a WHERE a.id = new.address_id;
END;
