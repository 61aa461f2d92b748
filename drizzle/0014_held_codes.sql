-- A code beside the sentence that says why something is held. Until now programs compared the sentences.
DROP INDEX `single_sends_held`;--> statement-breakpoint
ALTER TABLE `single_sends` ADD `held_code` text;--> statement-breakpoint
CREATE INDEX `single_sends_held` ON `single_sends` (`held_code`) WHERE status = 0 AND held_code IS NOT NULL;--> statement-breakpoint
ALTER TABLE `automations` ADD `held_code` text;--> statement-breakpoint
ALTER TABLE `mailings` ADD `held_code` text;--> statement-breakpoint
UPDATE `single_sends` SET `held_code` = CASE
  WHEN held_reason = 'Cancelled before it ran' THEN 'cancelled'
  WHEN held_reason LIKE 'A copy:%' THEN 'copy'
  WHEN held_reason = 'The sender was deleted' THEN 'sender_deleted'
  WHEN held_reason = 'The sender is not verified yet' THEN 'sender_unverified'
  WHEN held_reason LIKE 'Missed its time by %' THEN 'missed_time'
  WHEN held_reason LIKE 'A % it names was deleted' OR held_reason = 'The contact type of a segment it names was deleted' THEN 'target_missing'
  WHEN held_reason LIKE 'A rule of the segment %' THEN 'segment_broken'
  WHEN held_reason LIKE 'Nobody to send to%' THEN 'no_audience'
  WHEN held_reason LIKE 'It could not be launched:%' THEN 'internal_error'
  ELSE 'content_invalid' END
WHERE held_reason IS NOT NULL;--> statement-breakpoint
UPDATE `automations` SET `held_code` = CASE
  WHEN held_reason LIKE 'It could not go on:%' THEN 'internal_error'
  WHEN held_reason LIKE 'A rule of the segment %' THEN 'segment_broken'
  WHEN held_reason LIKE 'Its %' THEN 'target_missing'
  WHEN held_reason LIKE '%sender%was deleted' THEN 'sender_deleted'
  WHEN held_reason LIKE '%its sender is not verified yet' THEN 'sender_unverified'
  ELSE 'content_invalid' END
WHERE held_reason IS NOT NULL;--> statement-breakpoint
UPDATE `mailings` SET `held_code` = CASE held_reason
  WHEN 'The sender was deleted' THEN 'sender_deleted'
  WHEN 'The sender is not verified yet' THEN 'sender_unverified'
  ELSE iif(held_reason LIKE 'The mailing could not be prepared:%', 'internal_error', 'relay_refused') END
WHERE held_reason IS NOT NULL;
