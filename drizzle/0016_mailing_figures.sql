ALTER TABLE `deliveries` ADD `by_person` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `deliveries_unaccepted` ON `deliveries` (`mailing_id`,`state`,`id`) WHERE state > 2;--> statement-breakpoint
ALTER TABLE `mailings` ADD `recipients` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `mailings` ADD `unique_clicks` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `mailings` ADD `people_opens` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `mailings` ADD `people_clicks` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `events_link` ON `events` (`mailing_id`,`link_number`,`delivery_id`) WHERE kind = 'click';--> statement-breakpoint
UPDATE `deliveries` SET `by_person` = 1 WHERE `id` IN (SELECT `delivery_id` FROM `events` WHERE `kind` = 'open' AND `is_machine` = 0);--> statement-breakpoint
UPDATE `deliveries` SET `by_person` = `by_person` + 2 WHERE `id` IN (SELECT `delivery_id` FROM `events` WHERE `kind` = 'click' AND `is_machine` = 0);--> statement-breakpoint
UPDATE `mailings` SET
  `recipients` = CASE WHEN `owner_kind` <> 'single' THEN 0
    WHEN `finished_at` IS NOT NULL THEN `delivered` + `bounces` + `failed` + `suppressed` + `cancelled`
    ELSE (SELECT count(*) FROM `deliveries` WHERE `mailing_id` = `mailings`.`id`) END,
  `unique_clicks` = (SELECT count(DISTINCT `delivery_id`) FROM `events` WHERE `mailing_id` = `mailings`.`id` AND `kind` = 'click'),
  `people_opens` = (SELECT count(DISTINCT e.`delivery_id`) FROM `events` e JOIN `deliveries` d ON d.`id` = e.`delivery_id` AND d.`state` = 2
    WHERE e.`mailing_id` = `mailings`.`id` AND e.`kind` = 'open' AND e.`is_machine` = 0),
  `people_clicks` = (SELECT count(DISTINCT `delivery_id`) FROM `events`
    WHERE `mailing_id` = `mailings`.`id` AND `kind` = 'click' AND `is_machine` = 0);
