-- Collection counts that lists show are kept by the rows themselves: counting a million contacts on each request would block it.
CREATE TRIGGER contacts_counted AFTER INSERT ON contacts WHEN new.deleted_at IS NULL BEGIN
  UPDATE contact_types SET contacts_count = contacts_count + 1 WHERE id = new.contact_type_id;
END;
--> statement-breakpoint
CREATE TRIGGER contacts_uncounted AFTER UPDATE OF deleted_at ON contacts WHEN old.deleted_at IS NULL AND new.deleted_at IS NOT NULL BEGIN
  UPDATE contact_types SET contacts_count = contacts_count - 1 WHERE id = old.contact_type_id;
END;
--> statement-breakpoint
CREATE TRIGGER contacts_moved AFTER UPDATE OF contact_type_id ON contacts WHEN old.contact_type_id <> new.contact_type_id AND new.deleted_at IS NULL BEGIN
  UPDATE contact_types SET contacts_count = contacts_count - 1 WHERE id = old.contact_type_id;
  UPDATE contact_types SET contacts_count = contacts_count + 1 WHERE id = new.contact_type_id;
END;
--> statement-breakpoint
CREATE TRIGGER unsubscribers_counted AFTER INSERT ON unsubscribers WHEN new.unsubscribe_groups_id IS NOT NULL BEGIN
  UPDATE unsubscribe_groups SET unsubscribe_clients_count = unsubscribe_clients_count + 1 WHERE id = new.unsubscribe_groups_id;
END;
--> statement-breakpoint
CREATE TRIGGER unsubscribers_uncounted AFTER DELETE ON unsubscribers WHEN old.unsubscribe_groups_id IS NOT NULL BEGIN
  UPDATE unsubscribe_groups SET unsubscribe_clients_count = unsubscribe_clients_count - 1 WHERE id = old.unsubscribe_groups_id;
END;
--> statement-breakpoint
CREATE TRIGGER segment_recipients_counted AFTER INSERT ON segment_recipients WHEN new.is_removed = 0 BEGIN
  UPDATE segments SET segment_emails_count = segment_emails_count + 1 WHERE id = new.segment_id;
END;
--> statement-breakpoint
CREATE TRIGGER segment_recipients_uncounted AFTER DELETE ON segment_recipients WHEN old.is_removed = 0 BEGIN
  UPDATE segments SET segment_emails_count = segment_emails_count - 1 WHERE id = old.segment_id;
END;
--> statement-breakpoint
CREATE TRIGGER segment_recipients_marked AFTER UPDATE OF is_removed ON segment_recipients WHEN old.is_removed <> new.is_removed BEGIN
  UPDATE segments SET segment_emails_count = segment_emails_count + old.is_removed - new.is_removed WHERE id = new.segment_id;
END;
