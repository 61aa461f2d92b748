CREATE TABLE `unfinished_writes` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`kind` text NOT NULL,
	`given` text NOT NULL
);
