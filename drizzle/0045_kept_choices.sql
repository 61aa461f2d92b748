CREATE TABLE `unpublished_choices` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`address_id` integer NOT NULL,
	`list` integer NOT NULL,
	`changed_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `unpublished_choices_place` ON `unpublished_choices` (`address_id`,`list`);--> statement-breakpoint
-- With sender nodes every change of who is on a list is written down here by the list itself, whoever changes it, until JetStream has it.
CREATE TRIGGER choices_unsubscribed AFTER INSERT ON unsubscribers
  WHEN EXISTS (SELECT 1 FROM installation WHERE name = 'applied_SENDLARK_CONSENTS') BEGIN
  DELETE FROM unpublished_choices WHERE address_id = new.address_id AND list = ifnull(new.unsubscribe_groups_id, 0);
  INSERT INTO unpublished_choices (user_id, address_id, list, changed_at)
    VALUES (new.user_id, new.address_id, ifnull(new.unsubscribe_groups_id, 0), CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;
--> statement-breakpoint
CREATE TRIGGER choices_resubscribed AFTER DELETE ON unsubscribers
  WHEN EXISTS (SELECT 1 FROM installation WHERE name = 'applied_SENDLARK_CONSENTS') BEGIN
  DELETE FROM unpublished_choices WHERE address_id = old.address_id AND list = ifnull(old.unsubscribe_groups_id, 0);
  INSERT INTO unpublished_choices (user_id, address_id, list, changed_at)
    VALUES (old.user_id, old.address_id, ifnull(old.unsubscribe_groups_id, 0), CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;
--> statement-breakpoint
CREATE TRIGGER choices_suppressed AFTER INSERT ON suppressions
  WHEN EXISTS (SELECT 1 FROM installation WHERE name = 'applied_SENDLARK_CONSENTS') BEGIN
  DELETE FROM unpublished_choices WHERE address_id = new.address_id AND list = -1;
  INSERT INTO unpublished_choices (user_id, address_id, list, changed_at)
    VALUES (new.user_id, new.address_id, -1, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;
--> statement-breakpoint
CREATE TRIGGER choices_unsuppressed AFTER DELETE ON suppressions
  WHEN EXISTS (SELECT 1 FROM installation WHERE name = 'applied_SENDLARK_CONSENTS') BEGIN
  DELETE FROM unpublished_choices WHERE address_id = old.address_id AND list = -1;
  INSERT INTO unpublished_choices (user_id, address_id, list, changed_at)
    VALUES (old.user_id, old.address_id, -1, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;
