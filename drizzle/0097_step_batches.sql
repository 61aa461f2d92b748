CREATE TABLE `batch_moves` (
	`automation_id` integer PRIMARY KEY NOT NULL
);
--> statement-breakpoint
DROP INDEX `enrolments_due`;