ALTER TABLE `webhook_endpoints` DROP COLUMN `failure`;--> statement-breakpoint
DROP TRIGGER webhooks_contact_created;--> statement-breakpoint
CREATE TRIGGER webhooks_contact_created AFTER INSERT ON contacts
  WHEN EXISTS (SELECT 1 FROM webhook_wants WHERE user_id = new.user_id AND event = 'contact.created') AND new.deleted_at IS NULL BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT new.user_id, 'contact.created', new.address_id,
    json_object('contact_id', new.id, 'contact_type_id', new.contact_type_id, 'first_name', new.first_name, 'last_name', new.last_name, 'email', new.email,
      'alt_email', new.alt_email, 'country_id', new.country_id, 'state', new.state, 'city', new.city,
      'address_line1', new.address_line1, 'address_line2', new.address_line2, 'state_province_region', new.state_province_region, 'postal_code', new.postal_code,
      'custom_field', CASE WHEN new.custom_values IS NULL THEN json('{}') ELSE json((SELECT json_group_object(f.field_name, v.value) FROM json_each(new.custom_values) v
        CROSS JOIN custom_fields f ON f.id = CAST(v.key AS INTEGER) AND f.user_id = new.user_id)) END);
END;
--> statement-breakpoint
DROP TRIGGER webhooks_contact_restored;--> statement-breakpoint
CREATE TRIGGER webhooks_contact_restored AFTER UPDATE OF deleted_at ON contacts
  WHEN EXISTS (SELECT 1 FROM webhook_wants WHERE user_id = new.user_id AND event = 'contact.created') AND old.deleted_at IS NOT NULL AND new.deleted_at IS NULL BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT new.user_id, 'contact.created', new.address_id,
    json_object('contact_id', new.id, 'contact_type_id', new.contact_type_id, 'first_name', new.first_name, 'last_name', new.last_name, 'email', new.email,
      'alt_email', new.alt_email, 'country_id', new.country_id, 'state', new.state, 'city', new.city,
      'address_line1', new.address_line1, 'address_line2', new.address_line2, 'state_province_region', new.state_province_region, 'postal_code', new.postal_code,
      'custom_field', CASE WHEN new.custom_values IS NULL THEN json('{}') ELSE json((SELECT json_group_object(f.field_name, v.value) FROM json_each(new.custom_values) v
        CROSS JOIN custom_fields f ON f.id = CAST(v.key AS INTEGER) AND f.user_id = new.user_id)) END);
END;
--> statement-breakpoint
DROP TRIGGER webhooks_contact_updated;--> statement-breakpoint
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
      'custom_field', CASE WHEN new.custom_values IS NULL THEN json('{}') ELSE json((SELECT json_group_object(f.field_name, v.value) FROM json_each(new.custom_values) v
        CROSS JOIN custom_fields f ON f.id = CAST(v.key AS INTEGER) AND f.user_id = new.user_id)) END,
      'previous_email', iif(new.email IS old.email, NULL, old.email));
END;
