DROP INDEX `enrolments_due`;--> statement-breakpoint
ALTER TABLE `enrolments` ADD `delivery_id` integer;--> statement-breakpoint
CREATE INDEX `enrolments_delivery` ON `enrolments` (`delivery_id`) WHERE delivery_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `enrolments_due` ON `enrolments` (`automation_id`,`due_at`) WHERE state = 'active' AND delivery_id IS NULL;--> statement-breakpoint
ALTER TABLE `mailings` ADD `sender_id` integer;--> statement-breakpoint
UPDATE `mailings` SET `sender_id` = CASE `owner_kind`
  WHEN 'single' THEN (SELECT s.`sender_id` FROM `single_sends` s WHERE s.`id` = `owner_id`)
  WHEN 'schedule' THEN (SELECT s.`sender_id` FROM `automation_schedules` s WHERE s.`id` = `owner_id`) END
WHERE `finished_at` IS NULL;--> statement-breakpoint
UPDATE `mailings` SET `state` = 'cancelled' WHERE `finished_at` IS NULL AND `owner_kind` = 'schedule'
  AND `owner_id` NOT IN (SELECT `id` FROM `automation_schedules`);--> statement-breakpoint
UPDATE `enrolments` SET `state` = 'active', `delivery_id` = t.`delivery_id`,
  `schedule_id` = ifnull((SELECT max(b.`schedule_id`) FROM `steps` b
    WHERE b.`enrolment_id` = t.`enrolment_id` AND b.`schedule_id` < t.`schedule_id`), 0)
FROM `deliveries` d CROSS JOIN `mailings` m ON m.`id` = d.`mailing_id` AND m.`owner_kind` = 'schedule'
  CROSS JOIN `automations` au ON au.`id` = m.`automation_id` AND au.`deleted_at` IS NULL
  CROSS JOIN `enrolments` e ON e.`automation_id` = au.`id` AND e.`address_id` = d.`address_id`
  CROSS JOIN `steps` t ON t.`enrolment_id` = e.`id` AND t.`schedule_id` = m.`owner_id` AND t.`delivery_id` = d.`id`
WHERE d.`state` IN (0, 1) AND `enrolments`.`id` = e.`id` AND `enrolments`.`state` IN ('active', 'finished')
  AND `enrolments`.`schedule_id` = t.`schedule_id`;
