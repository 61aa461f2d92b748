ALTER TABLE `form_requests` ADD `tracking_text` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `forms` ADD `asks_tracking` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `forms` ADD `tracking_text` text DEFAULT '' NOT NULL;--> statement-breakpoint
-- The usual text of the box, as forms that are added now have it.
UPDATE forms SET tracking_text = CASE language
  WHEN 'de' THEN 'Sie dürfen erfassen, welche Mails ich öffne und welchen Links ich folge. Das kann ich später in jeder Mail ablehnen.'
  ELSE 'You may record which mails I open and which links I follow. I can refuse it later, in every mail.' END;
