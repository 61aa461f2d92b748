CREATE TABLE `enrolment_counts` (
	`automation_id` integer NOT NULL,
	`state` text NOT NULL,
	`people` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`automation_id`, `state`)
);
--> statement-breakpoint
INSERT INTO enrolment_counts (automation_id, state, people) SELECT automation_id, state, count(*) FROM enrolments GROUP BY automation_id, state;
--> statement-breakpoint
CREATE TRIGGER enrolments_counted AFTER INSERT ON enrolments BEGIN
  INSERT INTO enrolment_counts (automation_id, state, people) VALUES (new.automation_id, new.state, 1)
    ON CONFLICT (automation_id, state) DO UPDATE SET people = people + 1;
END;
--> statement-breakpoint
CREATE TRIGGER enrolments_uncounted AFTER DELETE ON enrolments BEGIN
  UPDATE enrolment_counts SET people = people - 1 WHERE automation_id = old.automation_id AND state = old.state;
END;
--> statement-breakpoint
CREATE TRIGGER enrolments_recounted AFTER UPDATE OF state ON enrolments WHEN old.state <> new.state BEGIN
  UPDATE enrolment_counts SET people = people - 1 WHERE automation_id = old.automation_id AND state = old.state;
  INSERT INTO enrolment_counts (automation_id, state, people) VALUES (new.automation_id, new.state, 1)
    ON CONFLICT (automation_id, state) DO UPDATE SET people = people + 1;
END;
--> statement-breakpoint
CREATE TRIGGER automations_uncounted AFTER DELETE ON automations BEGIN
  DELETE FROM enrolment_counts WHERE automation_id = old.id;
END;
