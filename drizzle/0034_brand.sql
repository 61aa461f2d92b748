CREATE TABLE `brands` (
	`user_id` integer PRIMARY KEY NOT NULL,
	`logo_picture_id` integer,
	`colours` text NOT NULL,
	`text_font` text NOT NULL,
	`heading_font` text NOT NULL,
	`button_shape` text NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`logo_picture_id`) REFERENCES `pictures`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `saved_blocks` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`block_name` text NOT NULL,
	`json_code` text NOT NULL,
	`size` integer NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `saved_blocks_user` ON `saved_blocks` (`user_id`,`id`,`size`);--> statement-breakpoint
ALTER TABLE `pictures` ADD `blocks` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `pictures` ADD `brands` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
-- What uses a picture is kept by the content itself, and counted by the uses.
CREATE TRIGGER saved_blocks_pictured AFTER INSERT ON saved_blocks BEGIN
  INSERT INTO picture_uses (picture_id, kind, owner_id)
  SELECT p.id, 'block', new.id
  FROM json_each(picture_ids(new.json_code)) AS found
  JOIN pictures p ON p.public_id = found.value AND p.user_id = new.user_id;
END;
--> statement-breakpoint
CREATE TRIGGER saved_blocks_repictured AFTER UPDATE OF json_code ON saved_blocks WHEN old.json_code <> new.json_code BEGIN
  DELETE FROM picture_uses WHERE kind = 'block' AND owner_id = new.id;
  INSERT INTO picture_uses (picture_id, kind, owner_id)
  SELECT p.id, 'block', new.id
  FROM json_each(picture_ids(new.json_code)) AS found
  JOIN pictures p ON p.public_id = found.value AND p.user_id = new.user_id;
END;
--> statement-breakpoint
CREATE TRIGGER saved_blocks_unpictured AFTER DELETE ON saved_blocks BEGIN
  DELETE FROM picture_uses WHERE kind = 'block' AND owner_id = old.id;
END;
--> statement-breakpoint
CREATE TRIGGER brands_pictured AFTER INSERT ON brands WHEN new.logo_picture_id IS NOT NULL BEGIN
  INSERT INTO picture_uses (picture_id, kind, owner_id) VALUES (new.logo_picture_id, 'brand', new.user_id);
END;
--> statement-breakpoint
CREATE TRIGGER brands_repictured AFTER UPDATE OF logo_picture_id ON brands
  WHEN old.logo_picture_id IS NOT new.logo_picture_id BEGIN
  DELETE FROM picture_uses WHERE kind = 'brand' AND owner_id = new.user_id;
  INSERT INTO picture_uses (picture_id, kind, owner_id)
  SELECT new.logo_picture_id, 'brand', new.user_id WHERE new.logo_picture_id IS NOT NULL;
END;
--> statement-breakpoint
CREATE TRIGGER brands_unpictured AFTER DELETE ON brands BEGIN
  DELETE FROM picture_uses WHERE kind = 'brand' AND owner_id = old.user_id;
END;
--> statement-breakpoint
CREATE TRIGGER picture_uses_brand_counted AFTER INSERT ON picture_uses WHEN new.kind IN ('block', 'brand') BEGIN
  UPDATE pictures SET blocks = blocks + (new.kind = 'block'), brands = brands + (new.kind = 'brand')
  WHERE id = new.picture_id;
END;
--> statement-breakpoint
CREATE TRIGGER picture_uses_brand_uncounted AFTER DELETE ON picture_uses WHEN old.kind IN ('block', 'brand') BEGIN
  UPDATE pictures SET blocks = blocks - (old.kind = 'block'), brands = brands - (old.kind = 'brand')
  WHERE id = old.picture_id;
END;
