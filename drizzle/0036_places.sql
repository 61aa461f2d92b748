DROP TRIGGER `enrolments_counted`;--> statement-breakpoint
DROP TRIGGER `enrolments_uncounted`;--> statement-breakpoint
DROP TRIGGER `enrolments_recounted`;--> statement-breakpoint
DROP TRIGGER `automations_uncounted`;--> statement-breakpoint
DROP TABLE `enrolment_counts`;--> statement-breakpoint
CREATE TABLE `enrolment_counts` (
	`automation_id` integer NOT NULL,
	`state` text NOT NULL,
	`reason` text DEFAULT '' NOT NULL,
	`position` integer DEFAULT 0 NOT NULL,
	`is_queued` integer DEFAULT 0 NOT NULL,
	`people` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`automation_id`, `state`, `reason`, `position`, `is_queued`)
);
--> statement-breakpoint
INSERT INTO enrolment_counts (automation_id, state, reason, position, is_queued, people)
SELECT automation_id, state, ifnull(reason, ''), iif(state = 'active', position, 0), state = 'active' AND delivery_id IS NOT NULL, count(*)
FROM enrolments GROUP BY 1, 2, 3, 4, 5;
--> statement-breakpoint
CREATE INDEX `enrolments_place` ON `enrolments` (`automation_id`,`position`,`due_at`) WHERE state = 'active' AND delivery_id IS NULL;
--> statement-breakpoint
CREATE TRIGGER enrolments_counted AFTER INSERT ON enrolments BEGIN
  INSERT INTO enrolment_counts (automation_id, state, reason, position, is_queued, people)
    VALUES (new.automation_id, new.state, ifnull(new.reason, ''), iif(new.state = 'active', new.position, 0),
      new.state = 'active' AND new.delivery_id IS NOT NULL, 1)
    ON CONFLICT DO UPDATE SET people = people + 1;
END;
--> statement-breakpoint
CREATE TRIGGER enrolments_uncounted AFTER DELETE ON enrolments BEGIN
  UPDATE enrolment_counts SET people = people - 1
  WHERE automation_id = old.automation_id AND state = old.state AND reason = ifnull(old.reason, '')
    AND position = iif(old.state = 'active', old.position, 0) AND is_queued = (old.state = 'active' AND old.delivery_id IS NOT NULL);
END;
--> statement-breakpoint
CREATE TRIGGER enrolments_recounted AFTER UPDATE OF state, reason, position, delivery_id ON enrolments
WHEN old.state <> new.state OR old.reason IS NOT new.reason
  OR (new.state = 'active' AND (old.position <> new.position OR (old.delivery_id IS NULL) <> (new.delivery_id IS NULL))) BEGIN
  UPDATE enrolment_counts SET people = people - 1
  WHERE automation_id = old.automation_id AND state = old.state AND reason = ifnull(old.reason, '')
    AND position = iif(old.state = 'active', old.position, 0) AND is_queued = (old.state = 'active' AND old.delivery_id IS NOT NULL);
  INSERT INTO enrolment_counts (automation_id, state, reason, position, is_queued, people)
    VALUES (new.automation_id, new.state, ifnull(new.reason, ''), iif(new.state = 'active', new.position, 0),
      new.state = 'active' AND new.delivery_id IS NOT NULL, 1)
    ON CONFLICT DO UPDATE SET people = people + 1;
END;
--> statement-breakpoint
CREATE TRIGGER automations_uncounted AFTER DELETE ON automations BEGIN
  DELETE FROM enrolment_counts WHERE automation_id = old.id;
END;
