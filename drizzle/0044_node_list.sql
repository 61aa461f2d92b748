CREATE TABLE `node_days` (
	`name` text NOT NULL,
	`day` text NOT NULL,
	`ceiling` integer,
	`given` integer DEFAULT 0 NOT NULL,
	`accepted` integer DEFAULT 0 NOT NULL,
	`deferred` integer DEFAULT 0 NOT NULL,
	`refused` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`name`, `day`)
);
--> statement-breakpoint
CREATE TABLE `sender_nodes` (
	`run` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`version` text DEFAULT '' NOT NULL,
	`state` text NOT NULL,
	`refusal` text DEFAULT '' NOT NULL,
	`rate` integer DEFAULT 0 NOT NULL,
	`capacity` integer DEFAULT 0 NOT NULL,
	`load` integer DEFAULT 0 NOT NULL,
	`heard_at` integer NOT NULL,
	`lease_until` integer DEFAULT 0 NOT NULL
);
