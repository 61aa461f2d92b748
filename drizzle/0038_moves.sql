CREATE TABLE `automation_moves` (
	`automation_id` integer PRIMARY KEY NOT NULL,
	`low` integer,
	`high` integer,
	`is_removal` integer NOT NULL,
	`moved_to_address` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE `moved_mails` (
	`automation_id` integer NOT NULL,
	`position` integer NOT NULL,
	`schedule_id` integer NOT NULL,
	`landing` integer NOT NULL,
	PRIMARY KEY(`automation_id`, `position`)
);
--> statement-breakpoint
DROP TRIGGER `automations_uncounted`;
--> statement-breakpoint
CREATE TRIGGER automations_uncounted AFTER DELETE ON automations BEGIN
  DELETE FROM enrolment_counts WHERE automation_id = old.id;
  DELETE FROM automation_moves WHERE automation_id = old.id;
  DELETE FROM moved_mails WHERE automation_id = old.id;
END;
