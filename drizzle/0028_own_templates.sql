CREATE TABLE `own_templates` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`utr` text NOT NULL,
	`template_name` text NOT NULL,
	`json_code` text DEFAULT '' NOT NULL,
	`html_code` text NOT NULL,
	`size` integer NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `own_templates_utr_unique` ON `own_templates` (`utr`);--> statement-breakpoint
CREATE INDEX `own_templates_user` ON `own_templates` (`user_id`,`id`,`size`);--> statement-breakpoint
ALTER TABLE `pictures` ADD `templates` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
-- Built-in templates have the ids below.
INSERT INTO sqlite_sequence (name, seq) VALUES ('own_templates', 1000);
--> statement-breakpoint
-- What uses a picture is kept by the content itself, and counted by the uses.
CREATE TRIGGER templates_pictured AFTER INSERT ON own_templates BEGIN
  INSERT INTO picture_uses (picture_id, kind, owner_id)
  SELECT p.id, 'template', new.id
  FROM json_each(picture_ids(new.json_code || ' ' || new.html_code)) AS found
  JOIN pictures p ON p.public_id = found.value AND p.user_id = new.user_id;
END;
--> statement-breakpoint
CREATE TRIGGER templates_repictured AFTER UPDATE OF json_code, html_code ON own_templates
  WHEN old.json_code <> new.json_code OR old.html_code <> new.html_code BEGIN
  DELETE FROM picture_uses WHERE kind = 'template' AND owner_id = new.id;
  INSERT INTO picture_uses (picture_id, kind, owner_id)
  SELECT p.id, 'template', new.id
  FROM json_each(picture_ids(new.json_code || ' ' || new.html_code)) AS found
  JOIN pictures p ON p.public_id = found.value AND p.user_id = new.user_id;
END;
--> statement-breakpoint
CREATE TRIGGER templates_unpictured AFTER DELETE ON own_templates BEGIN
  DELETE FROM picture_uses WHERE kind = 'template' AND owner_id = old.id;
END;
--> statement-breakpoint
CREATE TRIGGER picture_uses_template_counted AFTER INSERT ON picture_uses WHEN new.kind = 'template' BEGIN
  UPDATE pictures SET templates = templates + 1 WHERE id = new.picture_id;
END;
--> statement-breakpoint
CREATE TRIGGER picture_uses_template_uncounted AFTER DELETE ON picture_uses WHEN old.kind = 'template' BEGIN
  UPDATE pictures SET templates = templates - 1 WHERE id = old.picture_id;
END;
