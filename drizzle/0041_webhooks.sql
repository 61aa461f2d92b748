CREATE TABLE `webhook_endpoints` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`url` text NOT NULL,
	`note` text DEFAULT '' NOT NULL,
	`events` text NOT NULL,
	`state` text NOT NULL,
	`disabled_code` text,
	`sealed_secret` text NOT NULL,
	`previous_sealed_secret` text,
	`previous_until` integer DEFAULT 0 NOT NULL,
	`position` integer DEFAULT 0 NOT NULL,
	`failures` integer DEFAULT 0 NOT NULL,
	`succeeded_at` integer,
	`failed_at` integer,
	`failure` text DEFAULT '' NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `webhook_endpoints_user` ON `webhook_endpoints` (`user_id`,`id`);--> statement-breakpoint
CREATE TABLE `webhook_events` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`type` text NOT NULL,
	`lane` integer NOT NULL,
	`data` text NOT NULL,
	`created_at` integer DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER)) NOT NULL
);
--> statement-breakpoint
CREATE INDEX `webhook_events_user` ON `webhook_events` (`user_id`,`id`);--> statement-breakpoint
CREATE INDEX `webhook_events_lane` ON `webhook_events` (`lane`);--> statement-breakpoint
CREATE TABLE `webhook_log` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`endpoint_id` integer NOT NULL,
	`event_id` integer NOT NULL,
	`type` text NOT NULL,
	`attempt` integer NOT NULL,
	`is_success` integer NOT NULL,
	`status` integer NOT NULL,
	`reply` text DEFAULT '' NOT NULL,
	`took_ms` integer NOT NULL,
	`at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `webhook_log_endpoint` ON `webhook_log` (`endpoint_id`,`is_success`,`id`);--> statement-breakpoint
CREATE INDEX `webhook_log_event` ON `webhook_log` (`event_id`) WHERE reply <> '';--> statement-breakpoint
CREATE TABLE `webhook_waiting` (
	`endpoint_id` integer NOT NULL,
	`event_id` integer NOT NULL,
	`lane` integer NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`due_at` integer,
	`failed_since` integer,
	`is_manual` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`endpoint_id`, `event_id`, `is_manual`)
);
--> statement-breakpoint
CREATE INDEX `webhook_waiting_due` ON `webhook_waiting` (`endpoint_id`,`due_at`) WHERE due_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `webhook_waiting_lane` ON `webhook_waiting` (`endpoint_id`,`lane`,`event_id`) WHERE is_manual = 0;--> statement-breakpoint
CREATE INDEX `webhook_waiting_event` ON `webhook_waiting` (`event_id`);--> statement-breakpoint
CREATE TABLE `webhook_wants` (
	`user_id` integer NOT NULL,
	`event` text NOT NULL,
	PRIMARY KEY(`user_id`, `event`)
);
--> statement-breakpoint
-- The events of webhooks are written by the rows themselves, so that none is missing or without its change.
-- Each trigger looks first whether anybody asks for the event.
CREATE TRIGGER webhooks_contact_created AFTER INSERT ON contacts
  WHEN EXISTS (SELECT 1 FROM webhook_wants WHERE user_id = new.user_id AND event = 'contact.created') AND new.deleted_at IS NULL BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT new.user_id, 'contact.created', new.address_id,
    json_object('contact_id', new.id, 'contact_type_id', new.contact_type_id, 'first_name', new.first_name, 'last_name', new.last_name, 'email', new.email,
      'alt_email', new.alt_email, 'country_id', new.country_id, 'state', new.state, 'city', new.city,
      'address_line1', new.address_line1, 'address_line2', new.address_line2, 'state_province_region', new.state_province_region, 'postal_code', new.postal_code,
      'custom_field', json((SELECT json_group_object(f.field_name, v.value) FROM json_each(ifnull(new.custom_values, '{}')) v
        CROSS JOIN custom_fields f ON f.id = CAST(v.key AS INTEGER) AND f.user_id = new.user_id)));
END;
--> statement-breakpoint
CREATE TRIGGER webhooks_contact_restored AFTER UPDATE OF deleted_at ON contacts
  WHEN EXISTS (SELECT 1 FROM webhook_wants WHERE user_id = new.user_id AND event = 'contact.created') AND old.deleted_at IS NOT NULL AND new.deleted_at IS NULL BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT new.user_id, 'contact.created', new.address_id,
    json_object('contact_id', new.id, 'contact_type_id', new.contact_type_id, 'first_name', new.first_name, 'last_name', new.last_name, 'email', new.email,
      'alt_email', new.alt_email, 'country_id', new.country_id, 'state', new.state, 'city', new.city,
      'address_line1', new.address_line1, 'address_line2', new.address_line2, 'state_province_region', new.state_province_region, 'postal_code', new.postal_code,
      'custom_field', json((SELECT json_group_object(f.field_name, v.value) FROM json_each(ifnull(new.custom_values, '{}')) v
        CROSS JOIN custom_fields f ON f.id = CAST(v.key AS INTEGER) AND f.user_id = new.user_id)));
END;
--> statement-breakpoint
CREATE TRIGGER webhooks_contact_updated AFTER UPDATE OF
  contact_type_id, address_id, first_name, last_name, email, alt_email, country_id, state, city, address_line1, address_line2, state_province_region, postal_code, custom_values ON contacts
  WHEN EXISTS (SELECT 1 FROM webhook_wants WHERE user_id = new.user_id AND event = 'contact.updated') AND old.deleted_at IS NULL AND new.deleted_at IS NULL
    AND (new.contact_type_id, new.address_id, new.first_name, new.last_name, new.email, new.alt_email, new.country_id, new.state, new.city,
      new.address_line1, new.address_line2, new.state_province_region, new.postal_code, new.custom_values) IS NOT
      (old.contact_type_id, old.address_id, old.first_name, old.last_name, old.email, old.alt_email, old.country_id, old.state, old.city,
      old.address_line1, old.address_line2, old.state_province_region, old.postal_code, old.custom_values) BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT new.user_id, 'contact.updated', old.address_id,
    json_object('contact_id', new.id, 'contact_type_id', new.contact_type_id, 'first_name', new.first_name, 'last_name', new.last_name, 'email', new.email,
      'alt_email', new.alt_email, 'country_id', new.country_id, 'state', new.state, 'city', new.city,
      'address_line1', new.address_line1, 'address_line2', new.address_line2, 'state_province_region', new.state_province_region, 'postal_code', new.postal_code,
      'custom_field', json((SELECT json_group_object(f.field_name, v.value) FROM json_each(ifnull(new.custom_values, '{}')) v
        CROSS JOIN custom_fields f ON f.id = CAST(v.key AS INTEGER) AND f.user_id = new.user_id)),
      'previous_email', iif(new.email IS old.email, NULL, old.email));
END;
--> statement-breakpoint
CREATE TRIGGER webhooks_contact_deleted AFTER UPDATE OF deleted_at ON contacts
  WHEN EXISTS (SELECT 1 FROM webhook_wants WHERE user_id = old.user_id AND event = 'contact.deleted') AND old.deleted_at IS NULL AND new.deleted_at IS NOT NULL BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT old.user_id, 'contact.deleted', old.address_id,
    json_object('contact_id', old.id, 'contact_type_id', old.contact_type_id, 'email', old.email);
END;
--> statement-breakpoint
CREATE TRIGGER webhooks_contact_removed AFTER DELETE ON contacts
  WHEN EXISTS (SELECT 1 FROM webhook_wants WHERE user_id = old.user_id AND event = 'contact.deleted')
  AND old.deleted_at IS NULL AND EXISTS (SELECT 1 FROM contact_types WHERE id = old.contact_type_id AND deleted_at IS NULL) BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT old.user_id, 'contact.deleted', old.address_id,
    json_object('contact_id', old.id, 'contact_type_id', old.contact_type_id, 'email', old.email);
END;
--> statement-breakpoint
CREATE TRIGGER webhooks_contact_type_deleted AFTER UPDATE OF deleted_at ON contact_types WHEN EXISTS (SELECT 1 FROM webhook_wants WHERE user_id = new.user_id AND event = 'contact_type.deleted')
  AND old.deleted_at IS NULL AND new.deleted_at IS NOT NULL BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT new.user_id, 'contact_type.deleted', 0,
    json_object('contact_type_id', new.id, 'name', new.name, 'contacts_count', new.contacts_count);
END;
--> statement-breakpoint
CREATE TRIGGER webhooks_consent AFTER INSERT ON consent_log WHEN EXISTS (SELECT 1 FROM webhook_wants WHERE user_id = new.user_id AND event = 'contact.' || new.action) BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT new.user_id, 'contact.' || new.action, new.address_id,
    json_object('email', a.normalized_email, 'unsubscribe_groups_id', new.unsubscribe_groups_id,
      'source', new.source, 'mailing_id', new.mailing_id)
    FROM addresses a WHERE a.id = new.address_id;
END;
--> statement-breakpoint
CREATE TRIGGER webhooks_mail AFTER INSERT ON events WHEN EXISTS (SELECT 1 FROM webhook_wants) BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT m.user_id, w.event, d.address_id,
    json_object('email', a.normalized_email, 'contact_id', d.contact_id, 'delivery_id', d.id, 'mailing_id', m.id,
      'single_send_utr', s.utr, 'automation_utr', au.utr, 'by', CASE WHEN new.kind IN ('open', 'click') THEN iif(new.is_machine, 'machine', 'person') END,
      'url', (SELECT url FROM links WHERE mailing_id = new.mailing_id AND number = new.link_number), 'reply', iif(new.kind = 'bounce', d.reply, NULL))
    FROM mailings m CROSS JOIN webhook_wants w ON w.user_id = m.user_id
        AND w.event = CASE new.kind WHEN 'open' THEN 'mail.opened' WHEN 'click' THEN 'mail.clicked' WHEN 'bounce' THEN 'mail.bounced' WHEN 'complaint' THEN 'mail.complained' END
      CROSS JOIN deliveries d ON d.id = new.delivery_id CROSS JOIN addresses a ON a.id = d.address_id
      LEFT JOIN single_sends s ON m.owner_kind = 'single' AND s.id = m.owner_id LEFT JOIN automations au ON au.id = m.automation_id
    WHERE m.id = new.mailing_id AND m.owner_kind IN ('single', 'schedule');
END;
--> statement-breakpoint
CREATE TRIGGER webhooks_send_started AFTER UPDATE OF status ON single_sends
  WHEN EXISTS (SELECT 1 FROM webhook_wants WHERE user_id = new.user_id AND event = 'send.started') AND old.status <> 2 AND new.status = 2 BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT new.user_id, 'send.started', -new.id,
    json_object('single_send_utr', new.utr, 'single_send_name', new.single_send_name, 'subject', new.subject);
END;
--> statement-breakpoint
CREATE TRIGGER webhooks_send_completed AFTER UPDATE OF status ON single_sends
  WHEN EXISTS (SELECT 1 FROM webhook_wants WHERE user_id = new.user_id AND event = 'send.completed') AND old.status <> 3 AND new.status = 3 BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT new.user_id, 'send.completed', -new.id,
    json_object('single_send_utr', new.utr, 'single_send_name', new.single_send_name, 'subject', new.subject,
      'triggered', m.triggered, 'delivered', m.delivered, 'bounces', m.bounces, 'failed', m.failed, 'suppressed', m.suppressed, 'cancelled', m.cancelled)
    FROM (SELECT max(id) AS newest FROM mailings WHERE owner_kind = 'single' AND owner_id = new.id) CROSS JOIN mailings m ON m.id = newest;
END;
--> statement-breakpoint
CREATE TRIGGER webhooks_send_held AFTER UPDATE OF held_code ON single_sends
  WHEN EXISTS (SELECT 1 FROM webhook_wants WHERE user_id = new.user_id AND event = 'send.held')
  AND new.held_code IS NOT old.held_code AND new.held_code NOT IN ('cancelled', 'copy') BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT new.user_id, 'send.held', -new.id,
    json_object('single_send_utr', new.utr, 'single_send_name', new.single_send_name, 'subject', new.subject, 'automation_utr', NULL, 'code', new.held_code, 'reason', new.held_reason);
END;
--> statement-breakpoint
CREATE TRIGGER webhooks_mailing_held AFTER UPDATE OF state ON mailings WHEN EXISTS (SELECT 1 FROM webhook_wants WHERE user_id = new.user_id AND event = 'send.held')
  AND new.state = 'held' AND old.state <> 'held' AND new.owner_kind IN ('single', 'schedule') BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT new.user_id, 'send.held', iif(new.owner_kind = 'single', -new.owner_id, 0),
    json_object('single_send_utr', s.utr, 'single_send_name', s.single_send_name, 'subject', s.subject,
      'automation_utr', au.utr, 'code', new.held_code, 'reason', new.held_reason)
    FROM (SELECT 1) LEFT JOIN single_sends s ON new.owner_kind = 'single' AND s.id = new.owner_id LEFT JOIN automations au ON au.id = new.automation_id;
END;
--> statement-breakpoint
CREATE TRIGGER webhooks_automation_entered AFTER INSERT ON enrolments WHEN EXISTS (SELECT 1 FROM webhook_wants) AND new.state = 'active' BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT au.user_id, 'automation.entered', new.address_id,
    json_object('automation_utr', au.utr, 'automation_name', au.automation_name, 'email', a.normalized_email,
      'contact_id', new.contact_id)
    FROM automations au CROSS JOIN webhook_wants w ON w.user_id = au.user_id AND w.event = 'automation.entered'
      CROSS JOIN addresses a ON a.id = new.address_id WHERE au.id = new.automation_id;
END;
--> statement-breakpoint
CREATE TRIGGER webhooks_automation_left AFTER UPDATE OF state ON enrolments WHEN old.state = 'active' AND new.state <> 'active' AND EXISTS (SELECT 1 FROM webhook_wants) BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT au.user_id, 'automation.left', new.address_id,
    json_object('automation_utr', au.utr, 'automation_name', au.automation_name, 'email', a.normalized_email,
      'contact_id', new.contact_id, 'finished', json(iif(new.state = 'finished', 'true', 'false')), 'reason', new.reason)
    FROM automations au CROSS JOIN webhook_wants w ON w.user_id = au.user_id AND w.event = 'automation.left'
      CROSS JOIN addresses a ON a.id = new.address_id WHERE au.id = new.automation_id;
END;
