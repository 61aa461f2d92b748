DROP INDEX `deliveries_variant`;--> statement-breakpoint
ALTER TABLE `deliveries` ADD `is_unmeasured` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `deliveries_variant` ON `deliveries` (`mailing_id`,`variant`,`state`,`by_person`,`is_unmeasured`) WHERE variant IS NOT NULL;--> statement-breakpoint
DROP INDEX `mailings_automation`;--> statement-breakpoint
ALTER TABLE `mailings` ADD `unmeasured` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `mailings_automation` ON `mailings` (`automation_id`,`state`,`triggered`,`delivered`,`unmeasured`,`bounces`,`failed`,`suppressed`,`cancelled`,`people_opens`,`people_clicks`,`unsubscribes`) WHERE automation_id IS NOT NULL;--> statement-breakpoint
ALTER TABLE `accounts` ADD `tracking` text DEFAULT 'person' NOT NULL;--> statement-breakpoint
ALTER TABLE `addresses` ADD `tracking_choice` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `addresses_choices` ON `addresses` (`id`) WHERE tracking_choice <> 0;--> statement-breakpoint
-- With sender nodes, what somebody chose is written down until JetStream has it, like the lists that they left.
CREATE TRIGGER choices_tracking AFTER UPDATE OF tracking_choice ON addresses
  WHEN new.tracking_choice <> old.tracking_choice AND EXISTS (SELECT 1 FROM installation WHERE name = 'applied_SENDLARK_CONSENTS') BEGIN
  DELETE FROM unpublished_choices WHERE address_id = new.id AND list = -2;
  INSERT INTO unpublished_choices (user_id, address_id, list, changed_at)
    VALUES (new.user_id, new.id, -2, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;
