CREATE TABLE `contact_search_changes` (
	`block` integer PRIMARY KEY NOT NULL
);
--> statement-breakpoint
CREATE INDEX `contacts_type` ON `contacts` (`contact_type_id`,`id`) WHERE deleted_at IS NULL;--> statement-breakpoint
CREATE INDEX `suppressions_user` ON `suppressions` (`user_id`,`id`);
--> statement-breakpoint
-- The index of the search by parts of names and addresses (src/audience/search/search-index.ts). It holds trigrams only, no texts.
CREATE VIRTUAL TABLE contact_search USING fts5(text, content='', contentless_delete=1, detail=none, tokenize='trigram case_sensitive 1');
--> statement-breakpoint
-- Merging is done in small steps by the same code that writes: FTS5 would do it in long ones.
INSERT INTO contact_search (contact_search, rank) VALUES ('automerge', 0);
--> statement-breakpoint
INSERT INTO contact_search (contact_search, rank) VALUES ('crisismerge', 1000);
--> statement-breakpoint
-- WHERE NOT EXISTS, because OR IGNORE in a trigger gives way to the conflict clause of the statement that fires it (SQLite, CREATE TRIGGER).
CREATE TRIGGER contacts_renamed AFTER UPDATE OF email, first_name, last_name ON contacts
  WHEN old.email <> new.email OR old.first_name <> new.first_name OR old.last_name <> new.last_name BEGIN
  INSERT INTO contact_search_changes (block)
  SELECT new.id / 8 WHERE NOT EXISTS (SELECT 1 FROM contact_search_changes WHERE block = new.id / 8);
END;
--> statement-breakpoint
CREATE TRIGGER contacts_removed AFTER DELETE ON contacts BEGIN
  INSERT INTO contact_search_changes (block)
  SELECT old.id / 8 WHERE NOT EXISTS (SELECT 1 FROM contact_search_changes WHERE block = old.id / 8);
END;
