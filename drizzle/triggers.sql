-- All triggers. They are installed after the migrations: where a file has others, all of its triggers are replaced by these in the same
-- transaction (src/database/open.ts). So a change here needs no migration. Triggers of one table fire the last one first.

-- Counts, so that no list has to count rows.
CREATE TRIGGER contacts_counted AFTER INSERT ON contacts WHEN new.deleted_at IS NULL BEGIN
  UPDATE contact_types SET contacts_count = contacts_count + 1 WHERE id = new.contact_type_id;
END;
CREATE TRIGGER contacts_uncounted AFTER UPDATE OF deleted_at ON contacts WHEN old.deleted_at IS NULL AND new.deleted_at IS NOT NULL BEGIN
  UPDATE contact_types SET contacts_count = contacts_count - 1 WHERE id = old.contact_type_id;
END;
CREATE TRIGGER contacts_moved AFTER UPDATE OF contact_type_id ON contacts WHEN old.contact_type_id <> new.contact_type_id AND new.deleted_at IS NULL BEGIN
  UPDATE contact_types SET contacts_count = contacts_count - 1 WHERE id = old.contact_type_id;
  UPDATE contact_types SET contacts_count = contacts_count + 1 WHERE id = new.contact_type_id;
END;
CREATE TRIGGER contacts_recounted AFTER UPDATE OF deleted_at ON contacts WHEN old.deleted_at IS NOT NULL AND new.deleted_at IS NULL BEGIN
  UPDATE contact_types SET contacts_count = contacts_count + 1 WHERE id = new.contact_type_id;
END;
CREATE TRIGGER unsubscribers_counted AFTER INSERT ON unsubscribers WHEN new.unsubscribe_groups_id IS NOT NULL BEGIN
  UPDATE unsubscribe_groups SET unsubscribe_clients_count = unsubscribe_clients_count + 1 WHERE id = new.unsubscribe_groups_id;
END;
CREATE TRIGGER unsubscribers_uncounted AFTER DELETE ON unsubscribers WHEN old.unsubscribe_groups_id IS NOT NULL BEGIN
  UPDATE unsubscribe_groups SET unsubscribe_clients_count = unsubscribe_clients_count - 1 WHERE id = old.unsubscribe_groups_id;
END;
CREATE TRIGGER segment_recipients_counted AFTER INSERT ON segment_recipients WHEN new.is_removed = 0 BEGIN
  UPDATE segments SET segment_emails_count = segment_emails_count + 1 WHERE id = new.segment_id;
END;
CREATE TRIGGER segment_recipients_uncounted AFTER DELETE ON segment_recipients WHEN old.is_removed = 0 BEGIN
  UPDATE segments SET segment_emails_count = segment_emails_count - 1 WHERE id = old.segment_id;
END;
CREATE TRIGGER segment_recipients_marked AFTER UPDATE OF is_removed ON segment_recipients WHEN old.is_removed <> new.is_removed BEGIN
  UPDATE segments SET segment_emails_count = segment_emails_count + old.is_removed - new.is_removed WHERE id = new.segment_id;
END;
CREATE TRIGGER enrolments_counted AFTER INSERT ON enrolments BEGIN
  INSERT INTO enrolment_counts (automation_id, state, reason, position, is_queued, people)
    VALUES (new.automation_id, new.state, ifnull(new.reason, ''), iif(new.state = 'active', new.position, 0),
      new.state = 'active' AND new.delivery_id IS NOT NULL, 1)
    ON CONFLICT DO UPDATE SET people = people + 1;
END;
CREATE TRIGGER enrolments_uncounted AFTER DELETE ON enrolments BEGIN
  UPDATE enrolment_counts SET people = people - 1
  WHERE automation_id = old.automation_id AND state = old.state AND reason = ifnull(old.reason, '')
    AND position = iif(old.state = 'active', old.position, 0) AND is_queued = (old.state = 'active' AND old.delivery_id IS NOT NULL);
END;
CREATE TRIGGER enrolments_recounted AFTER UPDATE OF state, reason, position, delivery_id ON enrolments
WHEN old.state <> new.state OR old.reason IS NOT new.reason
  OR (new.state = 'active' AND (old.position <> new.position OR (old.delivery_id IS NULL) <> (new.delivery_id IS NULL))
    AND NOT EXISTS (SELECT 1 FROM batch_moves)) BEGIN
  UPDATE enrolment_counts SET people = people - 1
  WHERE automation_id = old.automation_id AND state = old.state AND reason = ifnull(old.reason, '')
    AND position = iif(old.state = 'active', old.position, 0) AND is_queued = (old.state = 'active' AND old.delivery_id IS NOT NULL);
  INSERT INTO enrolment_counts (automation_id, state, reason, position, is_queued, people)
    VALUES (new.automation_id, new.state, ifnull(new.reason, ''), iif(new.state = 'active', new.position, 0),
      new.state = 'active' AND new.delivery_id IS NOT NULL, 1)
    ON CONFLICT DO UPDATE SET people = people + 1;
END;
-- Entries and ends are logged by the rows themselves, steps by the statement that takes them. An end without a time is one of a change made by hand, which happens now.
CREATE TRIGGER enrolments_logged AFTER INSERT ON enrolments WHEN new.state = 'active' BEGIN
  INSERT INTO enrolment_log (automation_id, address_id, run, code, happened_at)
    VALUES (new.automation_id, new.address_id, new.run, 'entered', new.entered_at);
END;
CREATE TRIGGER enrolments_end_logged AFTER UPDATE OF state ON enrolments WHEN old.state = 'active' AND new.state <> 'active' BEGIN
  INSERT INTO enrolment_log (automation_id, address_id, run, code, reason, happened_at)
    VALUES (new.automation_id, new.address_id, new.run, new.state, new.reason,
      ifnull(new.ended_at, CAST(unixepoch('subsec') * 1000 AS INTEGER)));
END;
-- The dates of contacts in fields that are triggers of automations. The view contact_date_values has the rule of what is a date.
CREATE TRIGGER contacts_dated AFTER INSERT ON contacts WHEN new.custom_values IS NOT NULL AND EXISTS (SELECT 1 FROM dated_fields WHERE user_id = new.user_id) BEGIN
  INSERT INTO contact_dates (contact_id, field_id, day, date) SELECT contact_id, field_id, day, date FROM contact_date_values WHERE contact_id = new.id;
END;
CREATE TRIGGER contacts_redated AFTER UPDATE OF custom_values, deleted_at ON contacts
WHEN (new.custom_values IS NOT old.custom_values OR new.deleted_at IS NOT old.deleted_at) AND EXISTS (SELECT 1 FROM dated_fields WHERE user_id = new.user_id) BEGIN
  DELETE FROM contact_dates WHERE contact_id = new.id;
  INSERT INTO contact_dates (contact_id, field_id, day, date) SELECT contact_id, field_id, day, date FROM contact_date_values WHERE contact_id = new.id;
END;
-- Contacts who may live by another clock than before, where dates are triggers. What decides is what placeColumns
-- (src/delivery/timing/local-times.ts) reads. A date that is set in the same change is not looked at again, because its hour may have
-- come before; so contacts are added only for the fields whose dates they keep.
CREATE TRIGGER contacts_rezoned AFTER UPDATE OF country_id, state, state_province_region, custom_values ON contacts
WHEN new.deleted_at IS NULL AND EXISTS (SELECT 1 FROM dated_fields WHERE user_id = new.user_id) BEGIN
  INSERT INTO rezoned_contacts (contact_id, user_id, field_id) SELECT new.id, new.user_id, d.field_id FROM dated_fields d
  WHERE d.user_id = new.user_id AND (old.country_id IS NOT new.country_id
    OR coalesce(nullif(old.state, ''), old.state_province_region) IS NOT coalesce(nullif(new.state, ''), new.state_province_region)
    OR EXISTS (SELECT 1 FROM custom_fields f WHERE f.user_id = new.user_id AND lower(f.field_name) = 'time_zone'
      AND old.custom_values ->> ('$."' || f.id || '"') IS NOT new.custom_values ->> ('$."' || f.id || '"')))
    AND new.custom_values ->> ('$."' || d.field_id || '"') = old.custom_values ->> ('$."' || d.field_id || '"')
    AND NOT EXISTS (SELECT 1 FROM rezoned_contacts WHERE user_id = new.user_id AND field_id = d.field_id AND contact_id = new.id);
END;
CREATE TRIGGER contacts_undated AFTER DELETE ON contacts BEGIN
  DELETE FROM contact_dates WHERE contact_id = old.id;
END;
-- Contacts enter automations by a change of a field: a new contact's fields were empty before. Which value is compared is stated once, in
-- the trigger of the view field_changes, which gives both triggers on contacts the same one.
CREATE TRIGGER field_changes_start INSTEAD OF INSERT ON field_changes BEGIN
  INSERT INTO membership_changes (user_id, automation_id, address_id, contact_id, change, happened_at)
  SELECT new.user_id, id, new.address_id, new.contact_id, 'joined', CAST(ifnull(unixepoch(new.happened_at, 'subsec'), unixepoch('subsec')) * 1000 AS INTEGER)
  FROM (
    SELECT id, trigger_value AS wanted, ifnull(new.before ->> path, '') AS before, ifnull(new.after ->> path, '') AS after
    FROM (
      SELECT au.id, au.trigger_value, iif(au.trigger_field_id IS NULL, '$.' || au.trigger_field, '$.own."' || au.trigger_field_id || '"') AS path
      FROM automations au INDEXED BY automations_fields
      WHERE au.user_id = new.user_id AND au.trigger_kind = 'field' AND au.status = 1 AND au.deleted_at IS NULL
        AND CASE au.automation_for_table WHEN 'contacts' THEN au.automation_for
          ELSE (SELECT g.contact_type_id FROM segments g WHERE g.id = au.automation_for) END = new.contact_type_id))
  WHERE after <> '' AND after <> before COLLATE NOCASE AND (wanted = '' OR after = wanted COLLATE NOCASE);
END;
CREATE TRIGGER contacts_field_given AFTER INSERT ON contacts WHEN new.deleted_at IS NULL AND EXISTS (SELECT 1 FROM automations INDEXED BY automations_fields WHERE user_id = new.user_id AND trigger_kind = 'field' AND status = 1 AND deleted_at IS NULL) BEGIN
  INSERT INTO field_changes VALUES (new.user_id, new.contact_type_id, new.address_id, new.id, new.updated_at, '{}',
    json_object('email', new.email, 'first_name', new.first_name, 'last_name', new.last_name, 'alt_email', new.alt_email, 'state', new.state, 'city', new.city, 'address_line1', new.address_line1, 'address_line2', new.address_line2, 'state_province_region', new.state_province_region, 'postal_code', new.postal_code, 'language', new.language, 'country', (SELECT name FROM countries WHERE id = new.country_id), 'own', json(ifnull(new.custom_values, '{}'))));
END;
CREATE TRIGGER contacts_field_changed AFTER UPDATE OF email, first_name, last_name, alt_email, state, city, address_line1, address_line2, state_province_region, postal_code, language, country_id, custom_values ON contacts
WHEN new.deleted_at IS NULL AND old.deleted_at IS NULL AND EXISTS (SELECT 1 FROM automations INDEXED BY automations_fields WHERE user_id = new.user_id AND trigger_kind = 'field' AND status = 1 AND deleted_at IS NULL) BEGIN
  INSERT INTO field_changes VALUES (new.user_id, new.contact_type_id, new.address_id, new.id, new.updated_at,
    json_object('email', old.email, 'first_name', old.first_name, 'last_name', old.last_name, 'alt_email', old.alt_email, 'state', old.state, 'city', old.city, 'address_line1', old.address_line1, 'address_line2', old.address_line2, 'state_province_region', old.state_province_region, 'postal_code', old.postal_code, 'language', old.language, 'country', (SELECT name FROM countries WHERE id = old.country_id), 'own', json(ifnull(old.custom_values, '{}'))),
    json_object('email', new.email, 'first_name', new.first_name, 'last_name', new.last_name, 'alt_email', new.alt_email, 'state', new.state, 'city', new.city, 'address_line1', new.address_line1, 'address_line2', new.address_line2, 'state_province_region', new.state_province_region, 'postal_code', new.postal_code, 'language', new.language, 'country', (SELECT name FROM countries WHERE id = new.country_id), 'own', json(ifnull(new.custom_values, '{}'))));
END;
CREATE TRIGGER automations_uncounted AFTER DELETE ON automations BEGIN
  DELETE FROM enrolment_log WHERE automation_id = old.id;
  DELETE FROM enrolment_counts WHERE automation_id = old.id;
  DELETE FROM automation_moves WHERE automation_id = old.id;
  DELETE FROM automation_backfills WHERE automation_id = old.id;
  DELETE FROM moved_mails WHERE automation_id = old.id;
END;

-- The index for the search of contacts is brought up to date by the background, in blocks of eight contacts.
-- WHERE NOT EXISTS, because OR IGNORE in a trigger gives way to the conflict clause of the statement that fires it (SQLite, CREATE TRIGGER).
CREATE TRIGGER contacts_renamed AFTER UPDATE OF email, first_name, last_name ON contacts
  WHEN old.email <> new.email OR old.first_name <> new.first_name OR old.last_name <> new.last_name BEGIN
  INSERT INTO contact_search_changes (block)
  SELECT new.id / 8 WHERE NOT EXISTS (SELECT 1 FROM contact_search_changes WHERE block = new.id / 8);
END;
CREATE TRIGGER contacts_removed AFTER DELETE ON contacts BEGIN
  INSERT INTO contact_search_changes (block)
  SELECT old.id / 8 WHERE NOT EXISTS (SELECT 1 FROM contact_search_changes WHERE block = old.id / 8);
END;

-- The files of a single send that has no mailing. The background removes those of the others.
CREATE TRIGGER single_sends_unattached BEFORE DELETE ON single_sends BEGIN
  DELETE FROM single_send_attachments WHERE single_send_id = old.id AND mailing_id IS NULL;
END;

-- Which pictures are used where, and how often.
CREATE TRIGGER single_sends_pictured AFTER INSERT ON single_sends BEGIN
  INSERT INTO picture_uses (picture_id, kind, owner_id)
  SELECT p.id, 'single_send', new.id
  FROM json_each(picture_ids(ifnull(new.template_json, '') || ' ' || ifnull(new.template_html, ''))) AS found
  JOIN pictures p ON p.public_id = found.value AND p.user_id = new.user_id;
END;
CREATE TRIGGER single_sends_repictured AFTER UPDATE OF template_json, template_html ON single_sends
  WHEN old.template_json IS NOT new.template_json OR old.template_html IS NOT new.template_html BEGIN
  DELETE FROM picture_uses WHERE kind = 'single_send' AND owner_id = new.id;
  INSERT INTO picture_uses (picture_id, kind, owner_id)
  SELECT p.id, 'single_send', new.id
  FROM json_each(picture_ids(ifnull(new.template_json, '') || ' ' || ifnull(new.template_html, ''))) AS found
  JOIN pictures p ON p.public_id = found.value AND p.user_id = new.user_id;
END;
CREATE TRIGGER single_sends_unpictured AFTER DELETE ON single_sends BEGIN
  DELETE FROM picture_uses WHERE kind = 'single_send' AND owner_id = old.id;
END;
CREATE TRIGGER schedules_pictured AFTER INSERT ON automation_schedules BEGIN
  INSERT INTO picture_uses (picture_id, kind, owner_id)
  SELECT p.id, 'automation_mail', new.id
  FROM json_each(picture_ids(new.template_json || ' ' || new.template_html)) AS found
  JOIN pictures p ON p.public_id = found.value AND p.user_id = new.user_id;
END;
CREATE TRIGGER schedules_repictured AFTER UPDATE OF template_json, template_html ON automation_schedules
  WHEN old.template_json <> new.template_json OR old.template_html <> new.template_html BEGIN
  DELETE FROM picture_uses WHERE kind = 'automation_mail' AND owner_id = new.id;
  INSERT INTO picture_uses (picture_id, kind, owner_id)
  SELECT p.id, 'automation_mail', new.id
  FROM json_each(picture_ids(new.template_json || ' ' || new.template_html)) AS found
  JOIN pictures p ON p.public_id = found.value AND p.user_id = new.user_id;
END;
CREATE TRIGGER schedules_unpictured AFTER DELETE ON automation_schedules BEGIN
  DELETE FROM picture_uses WHERE kind = 'automation_mail' AND owner_id = old.id;
END;
CREATE TRIGGER automations_unpictured AFTER UPDATE OF deleted_at ON automations WHEN old.deleted_at IS NULL AND new.deleted_at IS NOT NULL BEGIN
  DELETE FROM picture_uses
  WHERE kind = 'automation_mail' AND owner_id IN (SELECT id FROM automation_schedules WHERE automation_id = new.id);
END;
CREATE TRIGGER mailings_pictured AFTER INSERT ON mailings WHEN new.owner_kind IN ('single', 'schedule') BEGIN
  INSERT INTO picture_uses (picture_id, kind, owner_id, subject)
  SELECT p.id, 'sent_mail', new.id, ifnull(new.content ->> '$.content.subject', '')
  FROM json_each(picture_ids(new.content)) AS found
  JOIN pictures p ON p.public_id = found.value AND p.user_id = new.user_id;
END;
CREATE TRIGGER mailings_unpictured AFTER DELETE ON mailings BEGIN
  DELETE FROM picture_uses WHERE kind = 'sent_mail' AND owner_id = old.id;
END;
CREATE TRIGGER picture_uses_counted AFTER INSERT ON picture_uses BEGIN
  UPDATE pictures SET single_sends = single_sends + (new.kind = 'single_send'),
    automation_mails = automation_mails + (new.kind = 'automation_mail'), sent_mails = sent_mails + (new.kind = 'sent_mail')
  WHERE id = new.picture_id;
END;
CREATE TRIGGER picture_uses_uncounted AFTER DELETE ON picture_uses BEGIN
  UPDATE pictures SET single_sends = single_sends - (old.kind = 'single_send'),
    automation_mails = automation_mails - (old.kind = 'automation_mail'), sent_mails = sent_mails - (old.kind = 'sent_mail')
  WHERE id = old.picture_id;
END;
CREATE TRIGGER templates_pictured AFTER INSERT ON own_templates BEGIN
  INSERT INTO picture_uses (picture_id, kind, owner_id)
  SELECT p.id, 'template', new.id
  FROM json_each(picture_ids(new.json_code || ' ' || new.html_code)) AS found
  JOIN pictures p ON p.public_id = found.value AND p.user_id = new.user_id;
END;
CREATE TRIGGER templates_repictured AFTER UPDATE OF json_code, html_code ON own_templates
  WHEN old.json_code <> new.json_code OR old.html_code <> new.html_code BEGIN
  DELETE FROM picture_uses WHERE kind = 'template' AND owner_id = new.id;
  INSERT INTO picture_uses (picture_id, kind, owner_id)
  SELECT p.id, 'template', new.id
  FROM json_each(picture_ids(new.json_code || ' ' || new.html_code)) AS found
  JOIN pictures p ON p.public_id = found.value AND p.user_id = new.user_id;
END;
CREATE TRIGGER templates_unpictured AFTER DELETE ON own_templates BEGIN
  DELETE FROM picture_uses WHERE kind = 'template' AND owner_id = old.id;
END;
CREATE TRIGGER picture_uses_template_counted AFTER INSERT ON picture_uses WHEN new.kind = 'template' BEGIN
  UPDATE pictures SET templates = templates + 1 WHERE id = new.picture_id;
END;
CREATE TRIGGER picture_uses_template_uncounted AFTER DELETE ON picture_uses WHEN old.kind = 'template' BEGIN
  UPDATE pictures SET templates = templates - 1 WHERE id = old.picture_id;
END;
CREATE TRIGGER saved_blocks_pictured AFTER INSERT ON saved_blocks BEGIN
  INSERT INTO picture_uses (picture_id, kind, owner_id)
  SELECT p.id, 'block', new.id
  FROM json_each(picture_ids(new.json_code)) AS found
  JOIN pictures p ON p.public_id = found.value AND p.user_id = new.user_id;
END;
CREATE TRIGGER saved_blocks_repictured AFTER UPDATE OF json_code ON saved_blocks WHEN old.json_code <> new.json_code BEGIN
  DELETE FROM picture_uses WHERE kind = 'block' AND owner_id = new.id;
  INSERT INTO picture_uses (picture_id, kind, owner_id)
  SELECT p.id, 'block', new.id
  FROM json_each(picture_ids(new.json_code)) AS found
  JOIN pictures p ON p.public_id = found.value AND p.user_id = new.user_id;
END;
CREATE TRIGGER saved_blocks_unpictured AFTER DELETE ON saved_blocks BEGIN
  DELETE FROM picture_uses WHERE kind = 'block' AND owner_id = old.id;
END;
CREATE TRIGGER brands_pictured AFTER INSERT ON brands WHEN new.logo_picture_id IS NOT NULL BEGIN
  INSERT INTO picture_uses (picture_id, kind, owner_id) VALUES (new.logo_picture_id, 'brand', new.user_id);
END;
CREATE TRIGGER brands_repictured AFTER UPDATE OF logo_picture_id ON brands
  WHEN old.logo_picture_id IS NOT new.logo_picture_id BEGIN
  DELETE FROM picture_uses WHERE kind = 'brand' AND owner_id = new.user_id;
  INSERT INTO picture_uses (picture_id, kind, owner_id)
  SELECT new.logo_picture_id, 'brand', new.user_id WHERE new.logo_picture_id IS NOT NULL;
END;
CREATE TRIGGER brands_unpictured AFTER DELETE ON brands BEGIN
  DELETE FROM picture_uses WHERE kind = 'brand' AND owner_id = old.user_id;
END;
CREATE TRIGGER picture_uses_brand_counted AFTER INSERT ON picture_uses WHEN new.kind IN ('block', 'brand') BEGIN
  UPDATE pictures SET blocks = blocks + (new.kind = 'block'), brands = brands + (new.kind = 'brand')
  WHERE id = new.picture_id;
END;
CREATE TRIGGER picture_uses_brand_uncounted AFTER DELETE ON picture_uses WHEN old.kind IN ('block', 'brand') BEGIN
  UPDATE pictures SET blocks = blocks - (old.kind = 'block'), brands = brands - (old.kind = 'brand')
  WHERE id = old.picture_id;
END;

-- Versions are kept by the content itself. packed_content() is src/packed-content.ts. The view only gives the two tables one trigger.
CREATE TRIGGER content_changes_versioned INSTEAD OF INSERT ON content_changes BEGIN
  INSERT INTO mail_versions (user_id, kind, owner_id, made_by, is_open, content, size, created_at, updated_at)
  SELECT new.user_id, new.kind, new.owner_id, new.before_by, 0, new.before, length(new.before), new.before_at, new.before_at
  WHERE new.before IS NOT NULL AND new.before IS NOT
    (SELECT content FROM mail_versions WHERE kind = new.kind AND owner_id = new.owner_id ORDER BY id DESC LIMIT 1);
  UPDATE mail_versions SET content = new.after, size = length(new.after), updated_at = new.changed_at
  WHERE id = (SELECT max(id) FROM mail_versions WHERE kind = new.kind AND owner_id = new.owner_id)
    AND is_open = 1 AND NOT new.is_replaced AND made_by IS new.made_by
    AND created_at > strftime('%Y-%m-%dT%H:%M:%f', new.changed_at, '-5 minutes') || '000Z';
  INSERT INTO mail_versions (user_id, kind, owner_id, made_by, is_open, content, size, created_at, updated_at)
  SELECT new.user_id, new.kind, new.owner_id, new.made_by, 1, new.after, length(new.after), new.changed_at, new.changed_at
  WHERE new.after IS NOT
    (SELECT content FROM mail_versions WHERE kind = new.kind AND owner_id = new.owner_id ORDER BY id DESC LIMIT 1);
  DELETE FROM mail_versions WHERE kind = new.kind AND owner_id = new.owner_id AND id <=
    (SELECT id FROM mail_versions WHERE kind = new.kind AND owner_id = new.owner_id ORDER BY id DESC LIMIT 1 OFFSET 20);
  DELETE FROM mail_versions WHERE user_id = new.user_id
    AND (SELECT sum(size) FROM mail_versions WHERE user_id = new.user_id) > 52428800
    AND id <= (SELECT id FROM (SELECT id, sum(size) OVER (ORDER BY id DESC) AS total FROM mail_versions WHERE user_id = new.user_id)
      WHERE total > 52428800 ORDER BY id DESC LIMIT 1);
END;
CREATE TRIGGER single_sends_versioned AFTER UPDATE OF template_id, template_json, template_html ON single_sends
  WHEN old.template_id <> new.template_id OR ifnull(old.template_json, '') <> ifnull(new.template_json, '')
    OR ifnull(old.template_html, '') <> ifnull(new.template_html, '') BEGIN
  INSERT INTO content_changes VALUES (new.user_id, 'single_send', new.id,
    iif(old.template_id = 1 AND ifnull(old.template_json, '') = '' AND ifnull(old.template_html, '') = '', NULL,
      packed_content(old.template_id, old.template_json, old.template_html)),
    old.changed_by, old.updated_at, packed_content(new.template_id, new.template_json, new.template_html), new.changed_by, new.updated_at,
    old.template_id <> new.template_id OR (ifnull(old.template_json, '') = '') <> (ifnull(new.template_json, '') = '')
      OR (ifnull(old.template_html, '') = '') <> (ifnull(new.template_html, '') = ''));
END;
CREATE TRIGGER schedules_versioned AFTER UPDATE OF template_id, template_json, template_html ON automation_schedules
  WHEN old.template_id <> new.template_id OR old.template_json <> new.template_json OR old.template_html <> new.template_html BEGIN
  INSERT INTO content_changes VALUES (new.user_id, 'automation_mail', new.id,
    iif(old.template_id = 1 AND old.template_json = '' AND old.template_html = '', NULL,
      packed_content(old.template_id, old.template_json, old.template_html)),
    old.changed_by, old.updated_at, packed_content(new.template_id, new.template_json, new.template_html), new.changed_by, new.updated_at,
    old.template_id <> new.template_id OR (old.template_json = '') <> (new.template_json = '')
      OR (old.template_html = '') <> (new.template_html = ''));
END;
CREATE TRIGGER single_sends_unversioned AFTER DELETE ON single_sends BEGIN
  DELETE FROM mail_versions WHERE kind = 'single_send' AND owner_id = old.id;
END;
CREATE TRIGGER schedules_unversioned AFTER DELETE ON automation_schedules BEGIN
  DELETE FROM mail_versions WHERE kind = 'automation_mail' AND owner_id = old.id;
END;

-- The events of webhooks are written by the rows themselves, so that none is missing or without its change; only `contact.event` is written by
-- src/audience/events/record-events.ts. Each trigger looks first whether anybody asks for the event. Their names are in src/webhooks/operations/event-types.ts.
CREATE TRIGGER webhooks_contact_deleted AFTER UPDATE OF deleted_at ON contacts
  WHEN EXISTS (SELECT 1 FROM webhook_wants WHERE user_id = old.user_id AND event = 'contact.deleted') AND old.deleted_at IS NULL AND new.deleted_at IS NOT NULL BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT old.user_id, 'contact.deleted', old.address_id,
    json_object('contact_id', old.id, 'contact_type_id', old.contact_type_id, 'email', old.email);
END;
CREATE TRIGGER webhooks_contact_removed AFTER DELETE ON contacts
  WHEN EXISTS (SELECT 1 FROM webhook_wants WHERE user_id = old.user_id AND event = 'contact.deleted')
  AND old.deleted_at IS NULL AND EXISTS (SELECT 1 FROM contact_types WHERE id = old.contact_type_id AND deleted_at IS NULL) BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT old.user_id, 'contact.deleted', old.address_id,
    json_object('contact_id', old.id, 'contact_type_id', old.contact_type_id, 'email', old.email);
END;
CREATE TRIGGER webhooks_contact_type_deleted AFTER UPDATE OF deleted_at ON contact_types WHEN EXISTS (SELECT 1 FROM webhook_wants WHERE user_id = new.user_id AND event = 'contact_type.deleted')
  AND old.deleted_at IS NULL AND new.deleted_at IS NOT NULL BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT new.user_id, 'contact_type.deleted', 0,
    json_object('contact_type_id', new.id, 'name', new.name, 'contacts_count', new.contacts_count);
END;
CREATE TRIGGER webhooks_consent AFTER INSERT ON consent_log WHEN EXISTS (SELECT 1 FROM webhook_wants WHERE user_id = new.user_id AND event = 'contact.' || new.action) BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT new.user_id, 'contact.' || new.action, new.address_id,
    json_object('email', a.normalized_email, 'unsubscribe_groups_id', new.unsubscribe_groups_id,
      'source', new.source, 'mailing_id', new.mailing_id)
    FROM addresses a WHERE a.id = new.address_id;
END;
CREATE TRIGGER webhooks_send_started AFTER UPDATE OF status ON single_sends
  WHEN EXISTS (SELECT 1 FROM webhook_wants WHERE user_id = new.user_id AND event = 'send.started') AND old.status <> 2 AND new.status = 2 BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT new.user_id, 'send.started', -new.id,
    json_object('single_send_utr', new.utr, 'single_send_name', new.single_send_name, 'subject', new.subject);
END;
CREATE TRIGGER webhooks_send_completed AFTER UPDATE OF status ON single_sends
  WHEN EXISTS (SELECT 1 FROM webhook_wants WHERE user_id = new.user_id AND event = 'send.completed') AND old.status <> 3 AND new.status = 3 BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT new.user_id, 'send.completed', -new.id,
    json_object('single_send_utr', new.utr, 'single_send_name', new.single_send_name, 'subject', new.subject,
      'triggered', m.triggered, 'delivered', m.delivered, 'bounces', m.bounces, 'failed', m.failed, 'suppressed', m.suppressed, 'cancelled', m.cancelled)
    FROM (SELECT max(id) AS newest FROM mailings WHERE owner_kind = 'single' AND owner_id = new.id) CROSS JOIN mailings m ON m.id = newest;
END;
CREATE TRIGGER webhooks_send_held AFTER UPDATE OF held_code ON single_sends
  WHEN EXISTS (SELECT 1 FROM webhook_wants WHERE user_id = new.user_id AND event = 'send.held')
  AND new.held_code IS NOT old.held_code AND new.held_code NOT IN ('cancelled', 'copy') BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT new.user_id, 'send.held', -new.id,
    json_object('single_send_utr', new.utr, 'single_send_name', new.single_send_name, 'subject', new.subject, 'automation_utr', NULL, 'code', new.held_code, 'reason', new.held_reason);
END;
CREATE TRIGGER webhooks_mailing_held AFTER UPDATE OF state ON mailings WHEN EXISTS (SELECT 1 FROM webhook_wants WHERE user_id = new.user_id AND event = 'send.held')
  AND new.state = 'held' AND old.state <> 'held' AND new.owner_kind IN ('single', 'schedule') BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT new.user_id, 'send.held', iif(new.owner_kind = 'single', -new.owner_id, 0),
    json_object('single_send_utr', s.utr, 'single_send_name', s.single_send_name, 'subject', s.subject,
      'automation_utr', au.utr, 'code', new.held_code, 'reason', new.held_reason)
    FROM (SELECT 1) LEFT JOIN single_sends s ON new.owner_kind = 'single' AND s.id = new.owner_id LEFT JOIN automations au ON au.id = new.automation_id;
END;
CREATE TRIGGER webhooks_automation_entered AFTER INSERT ON enrolments WHEN EXISTS (SELECT 1 FROM webhook_wants) AND new.state = 'active' BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT au.user_id, 'automation.entered', new.address_id,
    json_object('automation_utr', au.utr, 'automation_name', au.automation_name, 'email', a.normalized_email,
      'contact_id', new.contact_id)
    FROM automations au CROSS JOIN webhook_wants w ON w.user_id = au.user_id AND w.event = 'automation.entered'
      CROSS JOIN addresses a ON a.id = new.address_id WHERE au.id = new.automation_id;
END;
CREATE TRIGGER webhooks_automation_left AFTER UPDATE OF state ON enrolments WHEN old.state = 'active' AND new.state <> 'active' AND EXISTS (SELECT 1 FROM webhook_wants) BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT au.user_id, 'automation.left', new.address_id,
    json_object('automation_utr', au.utr, 'automation_name', au.automation_name, 'email', a.normalized_email,
      'contact_id', new.contact_id, 'finished', json(iif(new.state = 'finished', 'true', 'false')), 'reason', new.reason)
    FROM automations au CROSS JOIN webhook_wants w ON w.user_id = au.user_id AND w.event = 'automation.left'
      CROSS JOIN addresses a ON a.id = new.address_id WHERE au.id = new.automation_id;
END;
CREATE TRIGGER webhooks_contact_created AFTER INSERT ON contacts
  WHEN EXISTS (SELECT 1 FROM webhook_wants WHERE user_id = new.user_id AND event = 'contact.created') AND new.deleted_at IS NULL BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT new.user_id, 'contact.created', new.address_id,
    json_object('contact_id', new.id, 'contact_type_id', new.contact_type_id, 'first_name', new.first_name, 'last_name', new.last_name, 'email', new.email,
      'alt_email', new.alt_email, 'country_id', new.country_id, 'state', new.state, 'city', new.city,
      'address_line1', new.address_line1, 'address_line2', new.address_line2, 'state_province_region', new.state_province_region, 'postal_code', new.postal_code, 'language', new.language,
      'custom_field', CASE WHEN new.custom_values IS NULL THEN json('{}') ELSE json((SELECT json_group_object(f.field_name, v.value) FROM json_each(new.custom_values) v
        CROSS JOIN custom_fields f ON f.id = CAST(v.key AS INTEGER) AND f.user_id = new.user_id)) END);
END;
CREATE TRIGGER webhooks_contact_restored AFTER UPDATE OF deleted_at ON contacts
  WHEN EXISTS (SELECT 1 FROM webhook_wants WHERE user_id = new.user_id AND event = 'contact.created') AND old.deleted_at IS NOT NULL AND new.deleted_at IS NULL BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT new.user_id, 'contact.created', new.address_id,
    json_object('contact_id', new.id, 'contact_type_id', new.contact_type_id, 'first_name', new.first_name, 'last_name', new.last_name, 'email', new.email,
      'alt_email', new.alt_email, 'country_id', new.country_id, 'state', new.state, 'city', new.city,
      'address_line1', new.address_line1, 'address_line2', new.address_line2, 'state_province_region', new.state_province_region, 'postal_code', new.postal_code, 'language', new.language,
      'custom_field', CASE WHEN new.custom_values IS NULL THEN json('{}') ELSE json((SELECT json_group_object(f.field_name, v.value) FROM json_each(new.custom_values) v
        CROSS JOIN custom_fields f ON f.id = CAST(v.key AS INTEGER) AND f.user_id = new.user_id)) END);
END;
CREATE TRIGGER webhooks_contact_updated AFTER UPDATE OF
  contact_type_id, address_id, first_name, last_name, email, alt_email, country_id, state, city, address_line1, address_line2, state_province_region, postal_code, language, custom_values ON contacts
  WHEN EXISTS (SELECT 1 FROM webhook_wants WHERE user_id = new.user_id AND event = 'contact.updated') AND old.deleted_at IS NULL AND new.deleted_at IS NULL
    AND (new.contact_type_id, new.address_id, new.first_name, new.last_name, new.email, new.alt_email, new.country_id, new.state, new.city,
      new.address_line1, new.address_line2, new.state_province_region, new.postal_code, new.language, new.custom_values) IS NOT
      (old.contact_type_id, old.address_id, old.first_name, old.last_name, old.email, old.alt_email, old.country_id, old.state, old.city,
      old.address_line1, old.address_line2, old.state_province_region, old.postal_code, old.language, old.custom_values) BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT new.user_id, 'contact.updated', old.address_id,
    json_object('contact_id', new.id, 'contact_type_id', new.contact_type_id, 'first_name', new.first_name, 'last_name', new.last_name, 'email', new.email,
      'alt_email', new.alt_email, 'country_id', new.country_id, 'state', new.state, 'city', new.city,
      'address_line1', new.address_line1, 'address_line2', new.address_line2, 'state_province_region', new.state_province_region, 'postal_code', new.postal_code, 'language', new.language,
      'custom_field', CASE WHEN new.custom_values IS NULL THEN json('{}') ELSE json((SELECT json_group_object(f.field_name, v.value) FROM json_each(new.custom_values) v
        CROSS JOIN custom_fields f ON f.id = CAST(v.key AS INTEGER) AND f.user_id = new.user_id)) END,
      'previous_email', iif(new.email IS old.email, NULL, old.email));
END;
CREATE TRIGGER webhooks_transactional_mail AFTER UPDATE OF state ON transactional_mails
  WHEN EXISTS (SELECT 1 FROM webhook_wants WHERE user_id = new.user_id) AND new.state IN (2, 3) AND old.state <> new.state BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT new.user_id, w.event, new.address_id,
    json_object('email', a.normalized_email, 'contact_id', NULL, 'delivery_id', NULL, 'mailing_id', NULL, 'single_send_utr', NULL, 'automation_utr', NULL,
      'transactional_utr', new.utr, 'by', NULL, 'url', NULL, 'reply', new.reply)
    FROM webhook_wants w CROSS JOIN addresses a ON a.id = new.address_id
    WHERE w.user_id = new.user_id AND w.event = CASE new.state WHEN 2 THEN 'mail.accepted' ELSE 'mail.bounced' END;
END;
CREATE TRIGGER webhooks_transactional_complaint AFTER UPDATE OF complained_at ON transactional_mails
  WHEN EXISTS (SELECT 1 FROM webhook_wants WHERE user_id = new.user_id AND event = 'mail.complained')
  AND old.complained_at IS NULL AND new.complained_at IS NOT NULL BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT new.user_id, 'mail.complained', new.address_id,
    json_object('email', a.normalized_email, 'contact_id', NULL, 'delivery_id', NULL, 'mailing_id', NULL, 'single_send_utr', NULL, 'automation_utr', NULL,
      'transactional_utr', new.utr, 'by', NULL, 'url', NULL, 'reply', NULL)
    FROM addresses a WHERE a.id = new.address_id;
END;
CREATE TRIGGER webhooks_mail AFTER INSERT ON events WHEN EXISTS (SELECT 1 FROM webhook_wants) BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT m.user_id, w.event, d.address_id,
    json_object('email', a.normalized_email, 'contact_id', d.contact_id, 'delivery_id', d.id, 'mailing_id', m.id,
      'single_send_utr', s.utr, 'automation_utr', au.utr, 'by', CASE WHEN new.kind IN ('open', 'click') THEN CASE new.made_by WHEN 0 THEN 'person' WHEN 2 THEN 'proxied' ELSE 'machine' END END,
      'url', (SELECT url FROM links WHERE mailing_id = new.mailing_id AND number = new.link_number), 'reply', iif(new.kind = 'bounce', d.reply, NULL))
    FROM mailings m CROSS JOIN webhook_wants w ON w.user_id = m.user_id
        AND w.event = CASE new.kind WHEN 'open' THEN 'mail.opened' WHEN 'click' THEN 'mail.clicked' WHEN 'bounce' THEN 'mail.bounced' WHEN 'complaint' THEN 'mail.complained' END
      CROSS JOIN deliveries d ON d.id = new.delivery_id CROSS JOIN addresses a ON a.id = d.address_id
      LEFT JOIN single_sends s ON m.owner_kind = 'single' AND s.id = m.owner_id LEFT JOIN automations au ON au.id = m.automation_id
    WHERE m.id = new.mailing_id AND m.owner_kind IN ('single', 'schedule');
END;

-- With sender nodes every change of who is on a list, and of what somebody chose, is written down here by the row itself, whoever changes
-- it, until JetStream has it.
CREATE TRIGGER choices_unsubscribed AFTER INSERT ON unsubscribers
  WHEN EXISTS (SELECT 1 FROM installation WHERE name = 'applied_SENDLARK_CONSENTS') BEGIN
  DELETE FROM unpublished_choices WHERE address_id = new.address_id AND list = ifnull(new.unsubscribe_groups_id, 0);
  INSERT INTO unpublished_choices (user_id, address_id, list, changed_at)
    VALUES (new.user_id, new.address_id, ifnull(new.unsubscribe_groups_id, 0), CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;
CREATE TRIGGER choices_resubscribed AFTER DELETE ON unsubscribers
  WHEN EXISTS (SELECT 1 FROM installation WHERE name = 'applied_SENDLARK_CONSENTS') BEGIN
  DELETE FROM unpublished_choices WHERE address_id = old.address_id AND list = ifnull(old.unsubscribe_groups_id, 0);
  INSERT INTO unpublished_choices (user_id, address_id, list, changed_at)
    VALUES (old.user_id, old.address_id, ifnull(old.unsubscribe_groups_id, 0), CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;
CREATE TRIGGER choices_suppressed AFTER INSERT ON suppressions
  WHEN EXISTS (SELECT 1 FROM installation WHERE name = 'applied_SENDLARK_CONSENTS') BEGIN
  DELETE FROM unpublished_choices WHERE address_id = new.address_id AND list = -1;
  INSERT INTO unpublished_choices (user_id, address_id, list, changed_at)
    VALUES (new.user_id, new.address_id, -1, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;
CREATE TRIGGER choices_unsuppressed AFTER DELETE ON suppressions
  WHEN EXISTS (SELECT 1 FROM installation WHERE name = 'applied_SENDLARK_CONSENTS') BEGIN
  DELETE FROM unpublished_choices WHERE address_id = old.address_id AND list = -1;
  INSERT INTO unpublished_choices (user_id, address_id, list, changed_at)
    VALUES (old.user_id, old.address_id, -1, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;
CREATE TRIGGER choices_tracking AFTER UPDATE OF tracking_choice ON addresses
  WHEN new.tracking_choice <> old.tracking_choice AND EXISTS (SELECT 1 FROM installation WHERE name = 'applied_SENDLARK_CONSENTS') BEGIN
  DELETE FROM unpublished_choices WHERE address_id = new.id AND list = -2;
  INSERT INTO unpublished_choices (user_id, address_id, list, changed_at)
    VALUES (new.user_id, new.id, -2, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;

-- How many were stopped and moved on each day, and how many of those who were stopped get mail again: a list of days must not count them.
CREATE TRIGGER sunset_people_counted AFTER INSERT ON sunset_people BEGIN
  INSERT INTO sunset_days (user_id, day, stopped, moved) VALUES (new.user_id, substr(new.created_at, 1, 10), new.action = 'stop', new.action <> 'stop')
    ON CONFLICT (user_id, day) DO UPDATE SET stopped = stopped + excluded.stopped, moved = moved + excluded.moved;
END;
CREATE TRIGGER sunset_people_lifted AFTER UPDATE OF lifted_at ON sunset_people WHEN old.lifted_at IS NULL AND new.lifted_at IS NOT NULL AND new.action = 'stop' BEGIN
  INSERT INTO sunset_days (user_id, day, lifted) VALUES (new.user_id, substr(new.lifted_at, 1, 10), 1)
    ON CONFLICT (user_id, day) DO UPDATE SET lifted = lifted + 1;
END;

-- Who becomes a contact, confirms a form or changes what they get is not inactive, whichever code writes it down.
CREATE TRIGGER sunset_joined AFTER INSERT ON contacts
  WHEN EXISTS (SELECT 1 FROM sunset_people WHERE address_id = new.address_id AND lifted_at IS NULL) BEGIN
  UPDATE sunset_people SET lifted_at = new.created_at, lifted_by = 'person' WHERE address_id = new.address_id AND lifted_at IS NULL;
END;
CREATE TRIGGER sunset_chosen AFTER INSERT ON consent_log WHEN new.source IN ('one-click', 'page', 'provider', 'form')
  AND EXISTS (SELECT 1 FROM sunset_people WHERE address_id = new.address_id AND lifted_at IS NULL) BEGIN
  UPDATE sunset_people SET lifted_at = new.created_at, lifted_by = 'person' WHERE address_id = new.address_id AND lifted_at IS NULL;
END;
CREATE TRIGGER webhooks_contact_inactive AFTER INSERT ON sunset_people
  WHEN EXISTS (SELECT 1 FROM webhook_wants WHERE user_id = new.user_id AND event = 'contact.inactive') BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT new.user_id, 'contact.inactive', new.address_id,
    json_object('email', a.normalized_email, 'action', new.action,
      'inactive_since', strftime('%Y-%m-%dT%H:%M:%S.000000Z', new.cutoff / 1000, 'unixepoch'))
    FROM addresses a WHERE a.id = new.address_id;
END;
CREATE TRIGGER webhooks_contact_active AFTER UPDATE OF lifted_at ON sunset_people
  WHEN old.lifted_at IS NULL AND new.lifted_at IS NOT NULL AND EXISTS (SELECT 1 FROM webhook_wants WHERE user_id = new.user_id AND event = 'contact.active') BEGIN
  INSERT INTO webhook_events (user_id, type, lane, data) SELECT new.user_id, 'contact.active', new.address_id,
    json_object('email', a.normalized_email, 'action', new.action, 'by', new.lifted_by)
    FROM addresses a WHERE a.id = new.address_id;
END;
