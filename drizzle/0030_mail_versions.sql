CREATE TABLE `mail_versions` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`kind` text NOT NULL,
	`owner_id` integer NOT NULL,
	`made_by` integer,
	`is_open` integer NOT NULL,
	`content` blob NOT NULL,
	`size` integer NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `mail_versions_owner` ON `mail_versions` (`kind`,`owner_id`,`id`);--> statement-breakpoint
CREATE INDEX `mail_versions_user` ON `mail_versions` (`user_id`,`id`,`size`);--> statement-breakpoint
-- Versions are kept by the content itself. packed_content() is src/packed-content.ts. The view only gives the two tables one trigger.
CREATE VIEW content_changes (user_id, kind, owner_id, before, before_by, before_at, after, made_by, changed_at, is_replaced) AS
  SELECT 0, '', 0, x'', 0, '', x'', 0, '', 0 WHERE 0;
--> statement-breakpoint
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
--> statement-breakpoint
-- The blank template without code is no content that somebody would want back.
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
--> statement-breakpoint
CREATE TRIGGER schedules_versioned AFTER UPDATE OF template_id, template_json, template_html ON automation_schedules
  WHEN old.template_id <> new.template_id OR old.template_json <> new.template_json OR old.template_html <> new.template_html BEGIN
  INSERT INTO content_changes VALUES (new.user_id, 'automation_mail', new.id,
    iif(old.template_id = 1 AND old.template_json = '' AND old.template_html = '', NULL,
      packed_content(old.template_id, old.template_json, old.template_html)),
    old.changed_by, old.updated_at, packed_content(new.template_id, new.template_json, new.template_html), new.changed_by, new.updated_at,
    old.template_id <> new.template_id OR (old.template_json = '') <> (new.template_json = '')
      OR (old.template_html = '') <> (new.template_html = ''));
END;
--> statement-breakpoint
CREATE TRIGGER single_sends_unversioned AFTER DELETE ON single_sends BEGIN
  DELETE FROM mail_versions WHERE kind = 'single_send' AND owner_id = old.id;
END;
--> statement-breakpoint
CREATE TRIGGER schedules_unversioned AFTER DELETE ON automation_schedules BEGIN
  DELETE FROM mail_versions WHERE kind = 'automation_mail' AND owner_id = old.id;
END;
