CREATE TABLE `import_added` (
	`import_id` integer NOT NULL,
	`first_id` integer NOT NULL,
	`last_id` integer NOT NULL,
	PRIMARY KEY(`import_id`, `first_id`)
);
--> statement-breakpoint
CREATE TABLE `import_changes` (
	`import_id` integer NOT NULL,
	`address_id` integer NOT NULL,
	`kind` text NOT NULL,
	`row_id` integer NOT NULL,
	`before` text,
	PRIMARY KEY(`import_id`, `address_id`, `kind`, `row_id`)
);
--> statement-breakpoint
CREATE TABLE `import_kept` (
	`import_id` integer NOT NULL,
	`contact_id` integer NOT NULL,
	`reason` text NOT NULL,
	PRIMARY KEY(`import_id`, `contact_id`)
);
--> statement-breakpoint
ALTER TABLE `contact_imports` ADD `state` text DEFAULT 'done' NOT NULL;--> statement-breakpoint
ALTER TABLE `contact_imports` ADD `undo_until` text;--> statement-breakpoint
ALTER TABLE `contact_imports` ADD `removed` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `contact_imports` ADD `restored` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `contact_imports` ADD `kept` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `contact_imports_undoing` ON `contact_imports` (`id`) WHERE state = 'undoing';--> statement-breakpoint
CREATE INDEX `contact_imports_kept` ON `contact_imports` (`undo_until`) WHERE undo_until IS NOT NULL;