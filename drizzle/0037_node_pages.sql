CREATE TABLE `node_pages` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`run` text NOT NULL,
	`mailing_id` integer NOT NULL,
	`deliveries` text NOT NULL
);
