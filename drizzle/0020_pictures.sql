CREATE TABLE `picture_parts` (
	`public_id` text NOT NULL,
	`number` integer NOT NULL,
	`bytes` blob NOT NULL,
	PRIMARY KEY(`public_id`, `number`)
);
--> statement-breakpoint
CREATE TABLE `picture_uses` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`picture_id` integer NOT NULL,
	`kind` text NOT NULL,
	`owner_id` integer NOT NULL,
	`subject` text DEFAULT '' NOT NULL,
	FOREIGN KEY (`picture_id`) REFERENCES `pictures`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `picture_uses_owner` ON `picture_uses` (`kind`,`owner_id`,`picture_id`);--> statement-breakpoint
CREATE INDEX `picture_uses_picture` ON `picture_uses` (`picture_id`);--> statement-breakpoint
CREATE TABLE `pictures` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`public_id` text NOT NULL,
	`hash` text NOT NULL,
	`kind` text NOT NULL,
	`width` integer NOT NULL,
	`height` integer NOT NULL,
	`size` integer NOT NULL,
	`file_name` text NOT NULL,
	`name` text NOT NULL,
	`alt` text DEFAULT '' NOT NULL,
	`single_sends` integer DEFAULT 0 NOT NULL,
	`automation_mails` integer DEFAULT 0 NOT NULL,
	`sent_mails` integer DEFAULT 0 NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `pictures_public_id_unique` ON `pictures` (`public_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `pictures_hash` ON `pictures` (`user_id`,`hash`);--> statement-breakpoint
CREATE INDEX `pictures_user` ON `pictures` (`user_id`,`id`,`size`);
--> statement-breakpoint
-- What uses a picture is kept by the content itself, so that no list has to search the HTML of every mail. picture_ids() is src/picture-ids.ts.
CREATE TRIGGER single_sends_pictured AFTER INSERT ON single_sends BEGIN
  INSERT INTO picture_uses (picture_id, kind, owner_id)
  SELECT p.id, 'single_send', new.id
  FROM json_each(picture_ids(ifnull(new.template_json, '') || ' ' || ifnull(new.template_html, ''))) AS found
  JOIN pictures p ON p.public_id = found.value AND p.user_id = new.user_id;
END;
--> statement-breakpoint
CREATE TRIGGER single_sends_repictured AFTER UPDATE OF template_json, template_html ON single_sends
  WHEN old.template_json IS NOT new.template_json OR old.template_html IS NOT new.template_html BEGIN
  DELETE FROM picture_uses WHERE kind = 'single_send' AND owner_id = new.id;
  INSERT INTO picture_uses (picture_id, kind, owner_id)
  SELECT p.id, 'single_send', new.id
  FROM json_each(picture_ids(ifnull(new.template_json, '') || ' ' || ifnull(new.template_html, ''))) AS found
  JOIN pictures p ON p.public_id = found.value AND p.user_id = new.user_id;
END;
--> statement-breakpoint
CREATE TRIGGER single_sends_unpictured AFTER DELETE ON single_sends BEGIN
  DELETE FROM picture_uses WHERE kind = 'single_send' AND owner_id = old.id;
END;
--> statement-breakpoint
CREATE TRIGGER schedules_pictured AFTER INSERT ON automation_schedules BEGIN
  INSERT INTO picture_uses (picture_id, kind, owner_id)
  SELECT p.id, 'automation_mail', new.id
  FROM json_each(picture_ids(new.template_json || ' ' || new.template_html)) AS found
  JOIN pictures p ON p.public_id = found.value AND p.user_id = new.user_id;
END;
--> statement-breakpoint
CREATE TRIGGER schedules_repictured AFTER UPDATE OF template_json, template_html ON automation_schedules
  WHEN old.template_json <> new.template_json OR old.template_html <> new.template_html BEGIN
  DELETE FROM picture_uses WHERE kind = 'automation_mail' AND owner_id = new.id;
  INSERT INTO picture_uses (picture_id, kind, owner_id)
  SELECT p.id, 'automation_mail', new.id
  FROM json_each(picture_ids(new.template_json || ' ' || new.template_html)) AS found
  JOIN pictures p ON p.public_id = found.value AND p.user_id = new.user_id;
END;
--> statement-breakpoint
CREATE TRIGGER schedules_unpictured AFTER DELETE ON automation_schedules BEGIN
  DELETE FROM picture_uses WHERE kind = 'automation_mail' AND owner_id = old.id;
END;
--> statement-breakpoint
-- A deleted automation keeps its mails until `sendlark purge`, but nobody can open or send them again.
CREATE TRIGGER automations_unpictured AFTER UPDATE OF deleted_at ON automations WHEN old.deleted_at IS NULL AND new.deleted_at IS NOT NULL BEGIN
  DELETE FROM picture_uses
  WHERE kind = 'automation_mail' AND owner_id IN (SELECT id FROM automation_schedules WHERE automation_id = new.id);
END;
--> statement-breakpoint
-- Mailings stay when their campaign is deleted, and so do the pictures in the mails that people have. Tests are no mailings of a campaign.
CREATE TRIGGER mailings_pictured AFTER INSERT ON mailings WHEN new.owner_kind IN ('single', 'schedule') BEGIN
  INSERT INTO picture_uses (picture_id, kind, owner_id, subject)
  SELECT p.id, 'sent_mail', new.id, ifnull(new.content ->> '$.content.subject', '')
  FROM json_each(picture_ids(new.content)) AS found
  JOIN pictures p ON p.public_id = found.value AND p.user_id = new.user_id;
END;
--> statement-breakpoint
CREATE TRIGGER mailings_unpictured AFTER DELETE ON mailings BEGIN
  DELETE FROM picture_uses WHERE kind = 'sent_mail' AND owner_id = old.id;
END;
--> statement-breakpoint
CREATE TRIGGER picture_uses_counted AFTER INSERT ON picture_uses BEGIN
  UPDATE pictures SET single_sends = single_sends + (new.kind = 'single_send'),
    automation_mails = automation_mails + (new.kind = 'automation_mail'), sent_mails = sent_mails + (new.kind = 'sent_mail')
  WHERE id = new.picture_id;
END;
--> statement-breakpoint
CREATE TRIGGER picture_uses_uncounted AFTER DELETE ON picture_uses BEGIN
  UPDATE pictures SET single_sends = single_sends - (old.kind = 'single_send'),
    automation_mails = automation_mails - (old.kind = 'automation_mail'), sent_mails = sent_mails - (old.kind = 'sent_mail')
  WHERE id = old.picture_id;
END;
