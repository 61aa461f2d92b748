CREATE TABLE `delivery_reasons` (
	`mailing_id` integer NOT NULL,
	`state` integer NOT NULL,
	`reason` text NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`mailing_id`, `state`, `reason`)
);
--> statement-breakpoint
CREATE TABLE `mailing_hours` (
	`mailing_id` integer NOT NULL,
	`hour` integer NOT NULL,
	`opens` integer DEFAULT 0 NOT NULL,
	`machine_opens` integer DEFAULT 0 NOT NULL,
	`clicks` integer DEFAULT 0 NOT NULL,
	`machine_clicks` integer DEFAULT 0 NOT NULL,
	`bounces` integer DEFAULT 0 NOT NULL,
	`unsubscribes` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`mailing_id`, `hour`)
);
--> statement-breakpoint
ALTER TABLE `links` ADD `clicks` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `links` ADD `machine_clicks` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
-- As src/delivery/queue/ledger/reasons.ts counts: nobody who is being sent to or has accepted, and at most so many reasons of a mailing.
INSERT INTO `delivery_reasons` (`mailing_id`, `state`, `reason`, `count`)
SELECT `mailing_id`, `state`, iif(place <= 1000, reason, 'Other replies') AS reason, sum(count) FROM (
  SELECT *, row_number() OVER (PARTITION BY `mailing_id` ORDER BY count DESC, `state`, reason) AS place FROM (
    SELECT `mailing_id`, `state`, reply_kind(`reply`) AS reason, count(*) AS count FROM `deliveries`
    WHERE `reply` IS NOT NULL AND `state` NOT IN (1, 2) GROUP BY 1, 2, 3))
GROUP BY 1, 2, 3;
--> statement-breakpoint
INSERT INTO `mailing_hours` (`mailing_id`, `hour`, `opens`, `machine_opens`, `clicks`, `machine_clicks`, `bounces`, `unsubscribes`)
SELECT `mailing_id`, `happened_at` - `happened_at` % 3600000, sum(`kind` = 'open'), sum(`kind` = 'open' AND `is_machine` = 1),
  sum(`kind` = 'click'), sum(`kind` = 'click' AND `is_machine` = 1), sum(`kind` = 'bounce'), sum(`kind` = 'unsubscribe')
FROM `events` WHERE `kind` IN ('open', 'click', 'bounce', 'unsubscribe') GROUP BY 1, 2;
--> statement-breakpoint
UPDATE `links` SET `clicks` = e.clicks, `machine_clicks` = e.machine_clicks FROM (
  SELECT `mailing_id`, `link_number`, count(*) AS clicks, sum(`is_machine`) AS machine_clicks FROM `events` WHERE `kind` = 'click' GROUP BY 1, 2) AS e
WHERE `links`.`mailing_id` = e.`mailing_id` AND `links`.`number` = e.`link_number`;
