-- The rows of a database of the release before automations had steps, at 2026-01-17T14:00:00.000Z.
INSERT OR REPLACE INTO accounts (id, name, created_at, auto_hold, tracking, mail_caps, send_window, mail_caps_progress) VALUES
  (1, 'One', '2026-01-15T09:00:00.000000Z', 0, 'person', NULL, NULL, NULL),
  (2, 'Two', '2026-01-15T09:00:00.000000Z', 0, 'person', NULL, NULL, NULL);
INSERT OR REPLACE INTO addresses (id, user_id, normalized_email, tracking_choice) VALUES
  (1, 1, 'lark@example.com', 0),
  (2, 1, 'ann@example.org', 0),
  (3, 1, 'bo@example.org', 0),
  (4, 1, 'cy@example.org', 0),
  (5, 1, 'di@example.org', 0),
  (6, 1, 'ed@example.org', 0),
  (8, 1, 'fay@example.org', 0),
  (9, 1, 'gus@example.org', 0);
INSERT OR REPLACE INTO automation_schedules (id, user_id, automation_id, sender_id, subject, waiting_period, waiting_type, utr, template_id, preview_img, template_json, template_html, created_at, updated_at, tracking, preheader, position, changed_by) VALUES
  (1, 1, 1, 1, 'one', 1, 'instantly', '520aae7f-ffe8-4b93-a642-e13f24f36ba4', 1, 'blank.png', '', '<p>Hello ((first_name))</p>', '2026-01-15T09:00:00.000000Z', '2026-01-15T09:00:00.000000Z', 1, '', 6, NULL),
  (2, 1, 1, 1, 'two', 2, 'days', '80b8c57d-a79c-4f2a-b1bb-37acf49801bf', 1, 'blank.png', '', '<p>Hello ((first_name))</p>', '2026-01-15T09:00:00.000000Z', '2026-01-15T09:00:00.000000Z', 1, '', 8, NULL),
  (3, 1, 1, 1, 'three', 12, 'hours', '26ab9545-e341-45ee-8fcd-a34e6c8ce784', 1, 'blank.png', '', '<p>Hello ((first_name))</p>', '2026-01-15T09:00:00.000000Z', '2026-01-15T09:00:00.000000Z', 1, '', 7, NULL),
  (4, 1, 1, 1, 'four ((first_name))', 1, 'days', '8575af41-5210-4729-8caa-cf0c6fccd461', 1, 'blank.png', '', '<p>Hello ((first_name)), <a href="https://example.com/shop">look</a> — for you.</p>', '2026-01-15T09:00:00.000000Z', '2026-01-15T09:00:00.000000Z', 1, '', 9, NULL),
  (5, 1, 2, 1, 'offer one', 3, 'hours', 'a8627414-04a6-482c-8ac1-312621c8cba7', 1, 'blank.png', '', '<p>Hello ((first_name)), <a href="https://example.com/shop">look</a> — for you.</p>', '2026-01-15T09:00:00.000000Z', '2026-01-15T09:00:00.000000Z', 1, '', 5, NULL),
  (7, 1, 2, 1, 'offer three', 2, 'days', '4595c6e4-db85-430d-a034-6b245e315dad', 1, 'blank.png', '', '<p>Hello ((first_name)), <a href="https://example.com/shop">look</a> — for you.</p>', '2026-01-15T09:00:00.000000Z', '2026-01-15T09:00:00.000000Z', 1, '', 7, NULL),
  (8, 1, 3, 1, 'tip one', 1, 'instantly', '2cc42683-b882-4dcd-940d-2ea8a0f5d390', 1, 'blank.png', '', '<p>Hello ((first_name)), <a href="https://example.com/shop">look</a> — for you.</p>', '2026-01-15T09:00:00.000000Z', '2026-01-15T09:00:00.000000Z', 1, '', 8, NULL),
  (9, 1, 3, 1, 'tip two', 1, 'days', 'e8e3b034-0b3d-44be-8695-ccfcdfc45a3b', 1, 'blank.png', '', '<p>Hello ((first_name)), <a href="https://example.com/shop">look</a> — for you.</p>', '2026-01-15T09:00:00.000000Z', '2026-01-15T09:00:00.000000Z', 1, '', 9, NULL);
INSERT OR REPLACE INTO automations (id, user_id, automation_for, automation_for_table, automation_name, exit_criteria, unsubscribe_group_id, automation_type, utr, status, live_at, held_reason, deleted_at, created_at, updated_at, held_code, changed_by, ignores_caps) VALUES
  (1, 1, 1, 'contacts', 'Welcome', 0, '1', 1, 'ede8b7d2-18f7-41a4-afd1-13741cb8c7da', 1, '2026-01-15 09:00:00', NULL, NULL, '2026-01-15T09:00:00.000000Z', '2026-01-17T11:00:00.000000Z', NULL, NULL, 0),
  (2, 1, 1, 'contacts', 'Offers', 1, '1', 1, 'b81bfa27-bff8-45c3-8d9b-9535addd6659', 1, '2026-01-15 09:00:00', NULL, NULL, '2026-01-15T09:00:00.000000Z', '2026-01-15T09:00:00.000000Z', NULL, NULL, 0),
  (3, 1, 1, 'contacts', 'Tips', 0, '1', 1, 'cc883fe6-8d5a-417d-8f41-57e689a9b35f', 0, NULL, NULL, NULL, '2026-01-15T09:00:00.000000Z', '2026-01-16T15:00:00.000000Z', NULL, NULL, 0);
INSERT OR REPLACE INTO consent_log (id, user_id, address_id, unsubscribe_groups_id, action, source, mailing_id, created_at, form_name, consent_text, asked_at, asked_from, confirmed_from) VALUES
  (1, 1, 5, 1, 'unsubscribed', 'api', NULL, '2026-01-17T11:00:00.000000Z', NULL, NULL, NULL, NULL, NULL);
INSERT OR REPLACE INTO contact_types (id, user_id, name, contacts_count, deleted_at, created_at, updated_at) VALUES
  (1, 1, 'Readers', 6, NULL, '2026-01-15T09:00:00.000000Z', '2026-01-15T09:00:00.000000Z');
INSERT OR REPLACE INTO contacts (id, user_id, contact_type_id, address_id, first_name, last_name, email, alt_email, country_id, state, city, address_line1, address_line2, state_province_region, postal_code, custom_values, deleted_at, created_at, updated_at) VALUES
  (1, 1, 1, 2, 'ann', '', 'ann@example.org', NULL, 1, '', '', '', '', '', '', NULL, NULL, '2026-01-15T09:00:00.000000Z', '2026-01-15T09:00:00.000000Z'),
  (2, 1, 1, 3, 'bo', '', 'bo@example.org', NULL, 1, '', '', '', '', '', '', NULL, NULL, '2026-01-15T09:00:00.000000Z', '2026-01-15T09:00:00.000000Z'),
  (3, 1, 1, 4, 'cy', '', 'cy@example.org', NULL, 1, '', '', '', '', '', '', NULL, '2026-01-17T11:00:00.000000Z', '2026-01-15T19:00:00.000000Z', '2026-01-15T19:00:00.000000Z'),
  (4, 1, 1, 5, 'di', '', 'di@example.org', NULL, 1, '', '', '', '', '', '', NULL, NULL, '2026-01-15T19:00:00.000000Z', '2026-01-15T19:00:00.000000Z'),
  (5, 1, 1, 6, 'ed', '', 'ed@example.org', NULL, 1, '', '', '', '', '', '', NULL, NULL, '2026-01-16T15:00:00.000000Z', '2026-01-16T15:00:00.000000Z'),
  (6, 1, 1, 8, 'fay', '', 'fay@example.org', NULL, 1, '', '', '', '', '', '', NULL, NULL, '2026-01-17T11:00:00.000000Z', '2026-01-17T11:00:00.000000Z'),
  (7, 1, 1, 9, 'gus', '', 'gus@example.org', NULL, 1, '', '', '', '', '', '', NULL, NULL, '2026-01-17T14:00:00.000000Z', '2026-01-17T14:00:00.000000Z');
INSERT OR REPLACE INTO deliveries (id, mailing_id, address_id, contact_id, segment_recipient_id, state, attempt, due_at, first_tried_at, reply, updated_at, opened_at, opens, unsubscribed_at, clicks, by_person, variant, is_unmeasured, counts_to_caps, machine_hits, machine_until, machine_from) VALUES
  (1, 1, 1, NULL, NULL, 2, 1, 0, 1768467600000, ':kept_in_outbox', 1768467600000, NULL, 0, NULL, 0, 0, NULL, 1, 0, 0, 0, 0),
  (2, 2, 2, 1, NULL, 2, 1, 0, 1768471200000, ':kept_in_outbox', 1768471200000, NULL, 0, NULL, 0, 0, NULL, 0, 0, 0, 0, 0),
  (3, 2, 3, 2, NULL, 2, 1, 0, 1768471200000, ':kept_in_outbox', 1768471200000, NULL, 0, NULL, 0, 0, NULL, 0, 0, 0, 0, 0),
  (4, 9, 2, 1, NULL, 2, 1, 0, 1768471200000, ':kept_in_outbox', 1768471200000, NULL, 0, NULL, 0, 0, NULL, 0, 0, 0, 0, 0),
  (5, 9, 3, 2, NULL, 2, 1, 0, 1768471200000, ':kept_in_outbox', 1768471200000, NULL, 0, NULL, 0, 0, NULL, 0, 0, 0, 0, 0),
  (6, 6, 2, 1, NULL, 2, 1, 0, 1768478400000, ':kept_in_outbox', 1768478400000, NULL, 0, NULL, 0, 0, NULL, 0, 0, 0, 0, 0),
  (7, 6, 3, 2, NULL, 2, 1, 0, 1768478400000, ':kept_in_outbox', 1768478400000, NULL, 0, NULL, 0, 0, NULL, 0, 0, 0, 0, 0),
  (8, 2, 4, 3, NULL, 2, 1, 0, 1768507200000, ':kept_in_outbox', 1768507200000, NULL, 0, NULL, 0, 0, NULL, 0, 0, 0, 0, 0),
  (9, 2, 5, 4, NULL, 2, 1, 0, 1768507200000, ':kept_in_outbox', 1768507200000, NULL, 0, NULL, 0, 0, NULL, 0, 0, 0, 0, 0),
  (10, 9, 4, 3, NULL, 2, 1, 0, 1768507200000, ':kept_in_outbox', 1768507200000, NULL, 0, NULL, 0, 0, NULL, 0, 0, 0, 0, 0),
  (11, 9, 5, 4, NULL, 2, 1, 0, 1768507200000, ':kept_in_outbox', 1768507200000, NULL, 0, NULL, 0, 0, NULL, 0, 0, 0, 0, 0),
  (12, 6, 4, 3, NULL, 2, 1, 0, 1768514400000, ':kept_in_outbox', 1768514400000, NULL, 0, NULL, 0, 0, NULL, 0, 0, 0, 0, 0),
  (13, 6, 5, 4, NULL, 2, 1, 0, 1768514400000, ':kept_in_outbox', 1768514400000, NULL, 0, NULL, 0, 0, NULL, 0, 0, 0, 0, 0),
  (14, 10, 2, 1, NULL, 2, 1, 0, 1768557600000, ':kept_in_outbox', 1768557600000, NULL, 0, NULL, 0, 0, NULL, 0, 0, 0, 0, 0),
  (15, 10, 3, 2, NULL, 2, 1, 0, 1768557600000, ':kept_in_outbox', 1768557600000, NULL, 0, NULL, 0, 0, NULL, 0, 0, 0, 0, 0),
  (16, 7, 2, 1, NULL, 2, 1, 0, 1768564800000, ':kept_in_outbox', 1768564800000, NULL, 0, NULL, 0, 0, NULL, 0, 0, 0, 0, 0),
  (17, 7, 3, 2, NULL, 2, 1, 0, 1768564800000, ':kept_in_outbox', 1768564800000, NULL, 0, NULL, 0, 0, NULL, 0, 0, 0, 0, 0),
  (18, 2, 6, 5, NULL, 2, 1, 0, 1768579200000, ':kept_in_outbox', 1768579200000, NULL, 0, NULL, 0, 0, NULL, 0, 0, 0, 0, 0),
  (19, 6, 6, 5, NULL, 2, 1, 0, 1768586400000, ':kept_in_outbox', 1768586400000, NULL, 0, NULL, 0, 0, NULL, 0, 0, 0, 0, 0),
  (20, 7, 4, 3, NULL, 2, 1, 0, 1768600800000, ':kept_in_outbox', 1768600800000, NULL, 0, NULL, 0, 0, NULL, 0, 0, 0, 0, 0),
  (21, 7, 5, 4, NULL, 2, 1, 0, 1768600800000, ':kept_in_outbox', 1768600800000, NULL, 0, NULL, 0, 0, NULL, 0, 0, 0, 0, 0),
  (22, 3, 2, 1, NULL, 2, 1, 0, 1768644000000, ':kept_in_outbox', 1768644000000, NULL, 0, NULL, 0, 0, NULL, 0, 0, 0, 0, 0),
  (23, 3, 3, 2, NULL, 2, 1, 0, 1768644000000, ':kept_in_outbox', 1768644000000, NULL, 0, NULL, 0, 0, NULL, 0, 0, 0, 0, 0),
  (24, 4, 6, 5, NULL, 2, 1, 0, 1768651200000, ':kept_in_outbox', 1768651200000, NULL, 0, NULL, 0, 0, NULL, 0, 0, 0, 0, 0),
  (25, 2, 8, 6, NULL, 2, 1, 0, 1768651200000, ':kept_in_outbox', 1768651200000, NULL, 0, NULL, 0, 0, NULL, 0, 0, 0, 0, 0),
  (26, 6, 8, 6, NULL, 0, 0, 0, NULL, NULL, 0, NULL, 0, NULL, 0, 0, NULL, 0, 0, 0, 0, 0);
INSERT OR REPLACE INTO delivery_reasons (mailing_id, state, reason, count) VALUES
  (1, 2, ':kept_in_outbox', 1),
  (2, 2, ':kept_in_outbox', 6),
  (9, 2, ':kept_in_outbox', 4),
  (6, 2, ':kept_in_outbox', 5),
  (10, 2, ':kept_in_outbox', 2),
  (7, 2, ':kept_in_outbox', 4),
  (3, 2, ':kept_in_outbox', 2),
  (4, 2, ':kept_in_outbox', 1);
INSERT OR REPLACE INTO enrolment_counts (automation_id, state, reason, position, is_queued, people) VALUES
  (3, 'active', '', 0, 0, 1),
  (3, 'active', '', 0, 1, 0),
  (3, 'active', '', 8, 0, 2),
  (3, 'active', '', 8, 1, 0),
  (3, 'finished', '', 0, 0, 2),
  (2, 'active', '', 6, 0, 4),
  (1, 'active', '', 6, 0, 3),
  (2, 'left', ':left_target', 0, 0, 1),
  (1, 'active', '', 0, 0, 0),
  (2, 'active', '', 0, 0, 0),
  (1, 'left', ':contact_deleted', 0, 0, 1),
  (1, 'left', ':unsubscribed_group', 0, 0, 1),
  (1, 'active', '', 6, 1, 0),
  (1, 'active', '', 0, 1, 0),
  (1, 'active', '', 7, 0, 1),
  (2, 'active', '', 0, 1, 1);
INSERT OR REPLACE INTO enrolments (id, automation_id, address_id, contact_id, state, reason, entered_at, position, waiting_since, due_at, delivery_id) VALUES
  (1, 1, 2, 1, 'active', NULL, 1768467600000, 6, 1768644000000, 1768687200000, NULL),
  (2, 2, 2, 1, 'active', NULL, 1768467600000, 6, 1768564800000, 1768737600000, NULL),
  (3, 3, 2, 1, 'finished', NULL, 1768467600000, 9, 1768557600000, 1768557600000, NULL),
  (4, 1, 3, 2, 'active', NULL, 1768467600000, 6, 1768644000000, 1768687200000, NULL),
  (5, 2, 3, 2, 'active', NULL, 1768467600000, 6, 1768564800000, 1768737600000, NULL),
  (6, 3, 3, 2, 'finished', NULL, 1768467600000, 9, 1768557600000, 1768557600000, NULL),
  (7, 1, 4, 3, 'left', ':contact_deleted', 1768503600000, 6, 1768507200000, 1768550400000, NULL),
  (8, 2, 4, 3, 'left', ':left_target', 1768503600000, 6, 1768600800000, 1768773600000, NULL),
  (9, 3, 4, 3, 'active', NULL, 1768503600000, 8, 1768507200000, 1768593600000, NULL),
  (10, 1, 5, 4, 'left', ':unsubscribed_group', 1768503600000, 6, 1768507200000, 1768550400000, NULL),
  (11, 2, 5, 4, 'active', NULL, 1768503600000, 6, 1768600800000, 1768773600000, NULL),
  (12, 3, 5, 4, 'active', NULL, 1768503600000, 8, 1768507200000, 1768593600000, NULL),
  (13, 1, 6, 5, 'active', NULL, 1768575600000, 7, 1768651200000, 1768824000000, NULL),
  (14, 2, 6, 5, 'active', NULL, 1768575600000, 6, 1768586400000, 1768759200000, NULL),
  (15, 3, 6, 5, 'active', NULL, 1768575600000, 0, 1768575600000, 1768575600000, NULL),
  (16, 1, 8, 6, 'active', NULL, 1768647600000, 6, 1768651200000, 1768694400000, NULL),
  (17, 2, 8, 6, 'active', NULL, 1768647600000, 0, 1768647600000, 1768658400000, 26);
INSERT OR REPLACE INTO installation (name, value) VALUES
  ('unsigned_addresses_up_to', '{"deliveries":0,"mailings":0,"addresses":0}'),
  ('token_secrets', '["cMaylngT6GIcHScU-oOQ3oekxyX6IuHEnlWQrAcesRU"]'),
  ('last_seen', '1768654800000'),
  ('latest_seen', '1768654800000'),
  ('contacts_indexed_until', '6');
INSERT OR REPLACE INTO links (mailing_id, number, url, clicks, machine_clicks) VALUES
  (5, 0, 'https://example.com/shop', 0, 0),
  (6, 0, 'https://example.com/shop', 0, 0),
  (7, 0, 'https://example.com/shop', 0, 0),
  (8, 0, 'https://example.com/shop', 0, 0),
  (9, 0, 'https://example.com/shop', 0, 0),
  (10, 0, 'https://example.com/shop', 0, 0);
INSERT OR REPLACE INTO mailings (id, user_id, owner_kind, owner_id, revision, automation_id, unsubscribe_group_id, content, state, held_reason, acknowledged_state, enqueue_progress, triggered, delivered, bounces, failed, suppressed, cancelled, unique_opens, total_opens, unsubscribes, created_at, finished_at, sender_id, held_code, recipients, unique_clicks, people_opens, people_clicks, unmeasured, returned, proxied_only) VALUES
  (1, 1, 'system', 1, 1, NULL, NULL, '{"content":{"subject":"Confirm lark@example.com","html":["<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\n<meta name=\"color-scheme\" content=\"light dark\"><meta name=\"supported-color-schemes\" content=\"light dark\">\n<title>Confirm your address</title>\n<style>\n:root{color-scheme:light dark}\n@media (prefers-color-scheme:dark){\n.ground{background:#12161b!important}.card{background:#1c2229!important;border-color:#333c46!important}\n.text{color:#e9edf1!important}.quiet,.quiet a{color:#a9b4bf!important}.button{background:#8cc2ff!important;color:#08203a!important}}\n</style></head>\n<body class=\"ground\" style=\"margin:0;padding:0;background:#eef1f4\">\n<table role=\"presentation\" class=\"ground\" width=\"100%\" cellpadding=\"0\" cellspacing=\"0\" style=\"background:#eef1f4\"><tr><td align=\"center\" style=\"padding:32px 12px\">\n<table role=\"presentation\" class=\"card\" width=\"100%\" cellpadding=\"0\" cellspacing=\"0\" style=\"max-width:520px;background:#ffffff;border:1px solid #d5dbe1;border-radius:14px\"><tr>\n<td style=\"padding:32px;font-family:Arial,Helvetica,sans-serif;font-size:16px;line-height:24px\">\n<h1 class=\"text\" style=\"margin:0 0 16px;font-size:22px;line-height:28px;color:#1b2129\">Is this address yours?</h1>\n<p class=\"text\" style=\"margin:0 0 16px;color:#1b2129\">Somebody, most likely you, wants to send mail from lark@example.com with Sendlark.</p>\n<p style=\"margin:24px 0\"><a class=\"button\" href=\"http://mail.example.com/verify/WzEsImxhcmtAZXhhbXBsZS5jb20iLDE3NjkwNzI0MDAwMDBd.JZUguxZ1_VPXzgmy64RVGg\" style=\"display:inline-block;padding:14px 26px;border-radius:9px;background:#0b5cad;color:#ffffff;font-weight:bold;text-decoration:none\">Confirm this address</a></p>\n<p class=\"quiet\" style=\"margin:0 0 16px;font-size:14px;line-height:21px;color:#55606c\">The link works for 7 days. If this was not you, do nothing: without a confirmation no mail is sent from your address.</p>\n<p class=\"quiet\" style=\"margin:0;font-size:13px;line-height:20px;color:#55606c;word-break:break-all\">Does the button not work? Open <a href=\"http://mail.example.com/verify/WzEsImxhcmtAZXhhbXBsZS5jb20iLDE3NjkwNzI0MDAwMDBd.JZUguxZ1_VPXzgmy64RVGg\" style=\"color:#55606c\">http://mail.example.com/verify/WzEsImxhcmtAZXhhbXBsZS5jb20iLDE3NjkwNzI0MDAwMDBd.JZUguxZ1_VPXzgmy64RVGg</a></p>\n</td></tr></table>\n</td></tr></table>\n</body>\n</html>\n"],"text":["Is lark@example.com yours?\n\nSomebody, most likely you, wants to send mail from this address with Sendlark.\nOpen this page and press the button to confirm:\n\nhttp://mail.example.com/verify/WzEsImxhcmtAZXhhbXBsZS5jb20iLDE3NjkwNzI0MDAwMDBd.JZUguxZ1_VPXzgmy64RVGg\n\nThe link works for 7 days. If this was not you, do nothing: without a\nconfirmation no mail is sent from your address.\n"],"links":[],"placeholders":[]},"from_email":"lark@example.com","reply_to":"lark@example.com","sender_name":"Sendlark","sender_address":"","message_key":"e1e4e64ecb0f72a1d4"}', 'done', NULL, 'done', NULL, 1, 1, 0, 0, 0, 0, 0, 0, 0, '2026-01-15T09:00:00.000000Z', '2026-01-15T09:00:00.000000Z', NULL, NULL, 0, 0, 0, 0, 1, 0, 0),
  (2, 1, 'schedule', 1, 1, 1, 1, '{"content":{"subject":"one","html":["<img src=\"",{"name":"#open","fallback":"","place":"url-start"},"\" width=\"1\" height=\"1\" alt=\"\" style=\"display:block;border:0\"><p>Hello ",{"name":"first_name","fallback":"","place":"text"},"</p><div style=\"padding:16px;text-align:center;font:12px/18px Arial,Helvetica,sans-serif;background-color:#ffffff;color:#595959\">",{"name":"sender_address","fallback":"","place":"text"},"<br><a href=\"",{"name":"unsubscribe_preferences","fallback":"","place":"url-start"},"\" style=\"color:#595959\">Unsubscribe or change preferences</a></div><a href=\"",{"name":"#click","fallback":"","place":"url-start"},"999999\" rel=\"nofollow\" tabindex=\"-1\" aria-hidden=\"true\" style=\"display:none\"></a>\n"],"text":["Hello ",{"name":"first_name","fallback":"","place":"text"},"\n\n",{"name":"sender_address","fallback":"","place":"text"},"\nUnsubscribe or change preferences (",{"name":"unsubscribe_preferences","fallback":"","place":"url-start"},")\n"],"links":[],"placeholders":["first_name","sender_address","unsubscribe_preferences"]},"from_email":"lark@example.com","reply_to":"lark@example.com","sender_name":"Lark","sender_address":"1 Harbour St, Afghanistan","message_key":"2a9ba19e629446d01a"}', 'sending', NULL, 'sending', NULL, 6, 6, 0, 0, 0, 0, 0, 0, 0, '2026-01-15T09:00:00.000000Z', NULL, 1, NULL, 0, 0, 0, 0, 0, 0, 0),
  (3, 1, 'schedule', 2, 1, 1, 1, '{"content":{"subject":"two","html":["<img src=\"",{"name":"#open","fallback":"","place":"url-start"},"\" width=\"1\" height=\"1\" alt=\"\" style=\"display:block;border:0\"><p>Hello ",{"name":"first_name","fallback":"","place":"text"},"</p><div style=\"padding:16px;text-align:center;font:12px/18px Arial,Helvetica,sans-serif;background-color:#ffffff;color:#595959\">",{"name":"sender_address","fallback":"","place":"text"},"<br><a href=\"",{"name":"unsubscribe_preferences","fallback":"","place":"url-start"},"\" style=\"color:#595959\">Unsubscribe or change preferences</a></div><a href=\"",{"name":"#click","fallback":"","place":"url-start"},"999999\" rel=\"nofollow\" tabindex=\"-1\" aria-hidden=\"true\" style=\"display:none\"></a>\n"],"text":["Hello ",{"name":"first_name","fallback":"","place":"text"},"\n\n",{"name":"sender_address","fallback":"","place":"text"},"\nUnsubscribe or change preferences (",{"name":"unsubscribe_preferences","fallback":"","place":"url-start"},")\n"],"links":[],"placeholders":["first_name","sender_address","unsubscribe_preferences"]},"from_email":"lark@example.com","reply_to":"lark@example.com","sender_name":"Lark","sender_address":"1 Harbour St, Afghanistan","message_key":"b91f6c59216af21974"}', 'sending', NULL, 'sending', NULL, 2, 2, 0, 0, 0, 0, 0, 0, 0, '2026-01-15T09:00:00.000000Z', NULL, 1, NULL, 0, 0, 0, 0, 0, 0, 0),
  (4, 1, 'schedule', 3, 1, 1, 1, '{"content":{"subject":"three","html":["<img src=\"",{"name":"#open","fallback":"","place":"url-start"},"\" width=\"1\" height=\"1\" alt=\"\" style=\"display:block;border:0\"><p>Hello ",{"name":"first_name","fallback":"","place":"text"},"</p><div style=\"padding:16px;text-align:center;font:12px/18px Arial,Helvetica,sans-serif;background-color:#ffffff;color:#595959\">",{"name":"sender_address","fallback":"","place":"text"},"<br><a href=\"",{"name":"unsubscribe_preferences","fallback":"","place":"url-start"},"\" style=\"color:#595959\">Unsubscribe or change preferences</a></div><a href=\"",{"name":"#click","fallback":"","place":"url-start"},"999999\" rel=\"nofollow\" tabindex=\"-1\" aria-hidden=\"true\" style=\"display:none\"></a>\n"],"text":["Hello ",{"name":"first_name","fallback":"","place":"text"},"\n\n",{"name":"sender_address","fallback":"","place":"text"},"\nUnsubscribe or change preferences (",{"name":"unsubscribe_preferences","fallback":"","place":"url-start"},")\n"],"links":[],"placeholders":["first_name","sender_address","unsubscribe_preferences"]},"from_email":"lark@example.com","reply_to":"lark@example.com","sender_name":"Lark","sender_address":"1 Harbour St, Afghanistan","message_key":"49582a87d9365b551e"}', 'sending', NULL, 'sending', NULL, 1, 1, 0, 0, 0, 0, 0, 0, 0, '2026-01-15T09:00:00.000000Z', NULL, 1, NULL, 0, 0, 0, 0, 0, 0, 0),
  (5, 1, 'schedule', 4, 1, 1, 1, '{"content":{"subject":"four ((first_name))","html":["<img src=\"",{"name":"#open","fallback":"","place":"url-start"},"\" width=\"1\" height=\"1\" alt=\"\" style=\"display:block;border:0\"><p>Hello ",{"name":"first_name","fallback":"","place":"text"},", <a href=\"",{"name":"#click","fallback":"","place":"url-start"},"0\">look</a> — for you.</p><div style=\"padding:16px;text-align:center;font:12px/18px Arial,Helvetica,sans-serif;background-color:#ffffff;color:#595959\">",{"name":"sender_address","fallback":"","place":"text"},"<br><a href=\"",{"name":"unsubscribe_preferences","fallback":"","place":"url-start"},"\" style=\"color:#595959\">Unsubscribe or change preferences</a></div><a href=\"",{"name":"#click","fallback":"","place":"url-start"},"999999\" rel=\"nofollow\" tabindex=\"-1\" aria-hidden=\"true\" style=\"display:none\"></a>\n"],"text":["Hello ",{"name":"first_name","fallback":"","place":"text"},", look (https://example.com/shop) — for you.\n\n",{"name":"sender_address","fallback":"","place":"text"},"\nUnsubscribe or change preferences (",{"name":"unsubscribe_preferences","fallback":"","place":"url-start"},")\n"],"links":["https://example.com/shop"],"placeholders":["first_name","sender_address","unsubscribe_preferences"]},"from_email":"lark@example.com","reply_to":"lark@example.com","sender_name":"Lark","sender_address":"1 Harbour St, Afghanistan","message_key":"d7b6ef135165fa3a85"}', 'sending', NULL, 'sending', NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, '2026-01-15T09:00:00.000000Z', NULL, 1, NULL, 0, 0, 0, 0, 0, 0, 0),
  (6, 1, 'schedule', 5, 1, 2, 1, '{"content":{"subject":"offer one","html":["<img src=\"",{"name":"#open","fallback":"","place":"url-start"},"\" width=\"1\" height=\"1\" alt=\"\" style=\"display:block;border:0\"><p>Hello ",{"name":"first_name","fallback":"","place":"text"},", <a href=\"",{"name":"#click","fallback":"","place":"url-start"},"0\">look</a> — for you.</p><div style=\"padding:16px;text-align:center;font:12px/18px Arial,Helvetica,sans-serif;background-color:#ffffff;color:#595959\">",{"name":"sender_address","fallback":"","place":"text"},"<br><a href=\"",{"name":"unsubscribe_preferences","fallback":"","place":"url-start"},"\" style=\"color:#595959\">Unsubscribe or change preferences</a></div><a href=\"",{"name":"#click","fallback":"","place":"url-start"},"999999\" rel=\"nofollow\" tabindex=\"-1\" aria-hidden=\"true\" style=\"display:none\"></a>\n"],"text":["Hello ",{"name":"first_name","fallback":"","place":"text"},", look (https://example.com/shop) — for you.\n\n",{"name":"sender_address","fallback":"","place":"text"},"\nUnsubscribe or change preferences (",{"name":"unsubscribe_preferences","fallback":"","place":"url-start"},")\n"],"links":["https://example.com/shop"],"placeholders":["first_name","sender_address","unsubscribe_preferences"]},"from_email":"lark@example.com","reply_to":"lark@example.com","sender_name":"Lark","sender_address":"1 Harbour St, Afghanistan","message_key":"791307055d6bea7e16"}', 'sending', NULL, 'sending', NULL, 5, 5, 0, 0, 0, 0, 0, 0, 0, '2026-01-15T09:00:00.000000Z', NULL, 1, NULL, 0, 0, 0, 0, 0, 0, 0),
  (7, 1, 'schedule', 6, 1, 2, 1, '{"content":{"subject":"offer two","html":["<img src=\"",{"name":"#open","fallback":"","place":"url-start"},"\" width=\"1\" height=\"1\" alt=\"\" style=\"display:block;border:0\"><p>Hello ",{"name":"first_name","fallback":"","place":"text"},", <a href=\"",{"name":"#click","fallback":"","place":"url-start"},"0\">look</a> — for you.</p><div style=\"padding:16px;text-align:center;font:12px/18px Arial,Helvetica,sans-serif;background-color:#ffffff;color:#595959\">",{"name":"sender_address","fallback":"","place":"text"},"<br><a href=\"",{"name":"unsubscribe_preferences","fallback":"","place":"url-start"},"\" style=\"color:#595959\">Unsubscribe or change preferences</a></div><a href=\"",{"name":"#click","fallback":"","place":"url-start"},"999999\" rel=\"nofollow\" tabindex=\"-1\" aria-hidden=\"true\" style=\"display:none\"></a>\n"],"text":["Hello ",{"name":"first_name","fallback":"","place":"text"},", look (https://example.com/shop) — for you.\n\n",{"name":"sender_address","fallback":"","place":"text"},"\nUnsubscribe or change preferences (",{"name":"unsubscribe_preferences","fallback":"","place":"url-start"},")\n"],"links":["https://example.com/shop"],"placeholders":["first_name","sender_address","unsubscribe_preferences"]},"from_email":"lark@example.com","reply_to":"lark@example.com","sender_name":"Lark","sender_address":"1 Harbour St, Afghanistan","message_key":"4b341cb2416a584fbf"}', 'cancelled', NULL, 'cancelled', NULL, 4, 4, 0, 0, 0, 0, 0, 0, 0, '2026-01-15T09:00:00.000000Z', '2026-01-17T12:00:00.000000Z', 1, NULL, 0, 0, 0, 0, 0, 0, 0),
  (8, 1, 'schedule', 7, 1, 2, 1, '{"content":{"subject":"offer three","html":["<img src=\"",{"name":"#open","fallback":"","place":"url-start"},"\" width=\"1\" height=\"1\" alt=\"\" style=\"display:block;border:0\"><p>Hello ",{"name":"first_name","fallback":"","place":"text"},", <a href=\"",{"name":"#click","fallback":"","place":"url-start"},"0\">look</a> — for you.</p><div style=\"padding:16px;text-align:center;font:12px/18px Arial,Helvetica,sans-serif;background-color:#ffffff;color:#595959\">",{"name":"sender_address","fallback":"","place":"text"},"<br><a href=\"",{"name":"unsubscribe_preferences","fallback":"","place":"url-start"},"\" style=\"color:#595959\">Unsubscribe or change preferences</a></div><a href=\"",{"name":"#click","fallback":"","place":"url-start"},"999999\" rel=\"nofollow\" tabindex=\"-1\" aria-hidden=\"true\" style=\"display:none\"></a>\n"],"text":["Hello ",{"name":"first_name","fallback":"","place":"text"},", look (https://example.com/shop) — for you.\n\n",{"name":"sender_address","fallback":"","place":"text"},"\nUnsubscribe or change preferences (",{"name":"unsubscribe_preferences","fallback":"","place":"url-start"},")\n"],"links":["https://example.com/shop"],"placeholders":["first_name","sender_address","unsubscribe_preferences"]},"from_email":"lark@example.com","reply_to":"lark@example.com","sender_name":"Lark","sender_address":"1 Harbour St, Afghanistan","message_key":"2a1db1f63a9123b3af"}', 'sending', NULL, 'sending', NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, '2026-01-15T09:00:00.000000Z', NULL, 1, NULL, 0, 0, 0, 0, 0, 0, 0),
  (9, 1, 'schedule', 8, 1, 3, 1, '{"content":{"subject":"tip one","html":["<img src=\"",{"name":"#open","fallback":"","place":"url-start"},"\" width=\"1\" height=\"1\" alt=\"\" style=\"display:block;border:0\"><p>Hello ",{"name":"first_name","fallback":"","place":"text"},", <a href=\"",{"name":"#click","fallback":"","place":"url-start"},"0\">look</a> — for you.</p><div style=\"padding:16px;text-align:center;font:12px/18px Arial,Helvetica,sans-serif;background-color:#ffffff;color:#595959\">",{"name":"sender_address","fallback":"","place":"text"},"<br><a href=\"",{"name":"unsubscribe_preferences","fallback":"","place":"url-start"},"\" style=\"color:#595959\">Unsubscribe or change preferences</a></div><a href=\"",{"name":"#click","fallback":"","place":"url-start"},"999999\" rel=\"nofollow\" tabindex=\"-1\" aria-hidden=\"true\" style=\"display:none\"></a>\n"],"text":["Hello ",{"name":"first_name","fallback":"","place":"text"},", look (https://example.com/shop) — for you.\n\n",{"name":"sender_address","fallback":"","place":"text"},"\nUnsubscribe or change preferences (",{"name":"unsubscribe_preferences","fallback":"","place":"url-start"},")\n"],"links":["https://example.com/shop"],"placeholders":["first_name","sender_address","unsubscribe_preferences"]},"from_email":"lark@example.com","reply_to":"lark@example.com","sender_name":"Lark","sender_address":"1 Harbour St, Afghanistan","message_key":"ce3a8244c01500e336"}', 'paused', NULL, 'paused', NULL, 4, 4, 0, 0, 0, 0, 0, 0, 0, '2026-01-15T09:00:00.000000Z', NULL, 1, NULL, 0, 0, 0, 0, 0, 0, 0),
  (10, 1, 'schedule', 9, 1, 3, 1, '{"content":{"subject":"tip two","html":["<img src=\"",{"name":"#open","fallback":"","place":"url-start"},"\" width=\"1\" height=\"1\" alt=\"\" style=\"display:block;border:0\"><p>Hello ",{"name":"first_name","fallback":"","place":"text"},", <a href=\"",{"name":"#click","fallback":"","place":"url-start"},"0\">look</a> — for you.</p><div style=\"padding:16px;text-align:center;font:12px/18px Arial,Helvetica,sans-serif;background-color:#ffffff;color:#595959\">",{"name":"sender_address","fallback":"","place":"text"},"<br><a href=\"",{"name":"unsubscribe_preferences","fallback":"","place":"url-start"},"\" style=\"color:#595959\">Unsubscribe or change preferences</a></div><a href=\"",{"name":"#click","fallback":"","place":"url-start"},"999999\" rel=\"nofollow\" tabindex=\"-1\" aria-hidden=\"true\" style=\"display:none\"></a>\n"],"text":["Hello ",{"name":"first_name","fallback":"","place":"text"},", look (https://example.com/shop) — for you.\n\n",{"name":"sender_address","fallback":"","place":"text"},"\nUnsubscribe or change preferences (",{"name":"unsubscribe_preferences","fallback":"","place":"url-start"},")\n"],"links":["https://example.com/shop"],"placeholders":["first_name","sender_address","unsubscribe_preferences"]},"from_email":"lark@example.com","reply_to":"lark@example.com","sender_name":"Lark","sender_address":"1 Harbour St, Afghanistan","message_key":"21d746ef593c0253d8"}', 'paused', NULL, 'paused', NULL, 2, 2, 0, 0, 0, 0, 0, 0, 0, '2026-01-15T09:00:00.000000Z', NULL, 1, NULL, 0, 0, 0, 0, 0, 0, 0);
INSERT OR REPLACE INTO membership_changes (id, user_id, address_id, contact_id, change, happened_at, automation_id) VALUES
  (19, 1, 9, 7, 'joined', 1768658400000, 1),
  (20, 1, 9, 7, 'joined', 1768658400000, 2);
INSERT OR REPLACE INTO senders (id, user_id, from_name, from_email, reply_to_email, country_id, state_id, city_id, zip_code, company_address, company_address2, nickname, is_verified, utr, send_at, created_at, updated_at, deleted_at, relay_id) VALUES
  (1, 1, 'Lark', 'lark@example.com', 'lark@example.com', 1, 0, 0, '', '1 Harbour St', '', 'l', 0, '335fc01a-033f-42e6-b5e0-e15ace13742a', '2026-01-15 09:00:00', '2026-01-15T09:00:00.000000Z', '2026-01-15T09:00:00.000000Z', NULL, NULL);
INSERT OR REPLACE INTO steps (id, enrolment_id, schedule_id, delivery_id, taken_at) VALUES
  (1, 1, 1, 2, 1768471200000),
  (2, 4, 1, 3, 1768471200000),
  (3, 3, 8, 4, 1768471200000),
  (4, 6, 8, 5, 1768471200000),
  (5, 2, 5, 6, 1768478400000),
  (6, 5, 5, 7, 1768478400000),
  (7, 7, 1, 8, 1768507200000),
  (8, 10, 1, 9, 1768507200000),
  (9, 9, 8, 10, 1768507200000),
  (10, 12, 8, 11, 1768507200000),
  (11, 8, 5, 12, 1768514400000),
  (12, 11, 5, 13, 1768514400000),
  (13, 3, 9, 14, 1768557600000),
  (14, 6, 9, 15, 1768557600000),
  (15, 2, 6, 16, 1768564800000),
  (16, 5, 6, 17, 1768564800000),
  (17, 13, 1, 18, 1768579200000),
  (18, 14, 5, 19, 1768586400000),
  (19, 8, 6, 20, 1768600800000),
  (20, 11, 6, 21, 1768600800000),
  (21, 1, 2, 22, 1768644000000),
  (22, 4, 2, 23, 1768644000000),
  (23, 13, 3, 24, 1768651200000),
  (24, 16, 1, 25, 1768651200000),
  (25, 17, 5, 26, 1768658400000);
INSERT OR REPLACE INTO unsubscribe_groups (id, user_id, rand_id, group_name, description, is_display, unsubscribe_clients_count, created_at, updated_at, deleted_at) VALUES
  (1, 1, '9886916534', 'News', 'n', 1, 1, '2026-01-15T09:00:00.000000Z', '2026-01-15T09:00:00.000000Z', NULL);
INSERT OR REPLACE INTO unsubscribers (id, user_id, unsubscribe_groups_id, address_id, email_address, created_at, updated_at) VALUES
  (1, 1, 1, 5, 'di@example.org', '2026-01-17T11:00:00.000000Z', '2026-01-17T11:00:00.000000Z');
