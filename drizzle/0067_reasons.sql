-- What the service says is stored as its code and values, such as :left_target or :given_up{"reply":"451 later"}. Until now it was stored in
-- English, whose texts at that time are below. What is none of them stays the text that it is; a text of others that begins with the mark
-- gets the mark twice.
CREATE TEMP TABLE plain_sentences (code text, text text PRIMARY KEY, is_mail integer);
--> statement-breakpoint
INSERT OR IGNORE INTO plain_sentences VALUES
  ('unsubscribed_all', 'unsubscribed from all mail', 1),
  ('unsubscribed_group', 'unsubscribed from this group', 1),
  ('excluded', 'excluded from this send', 1),
  ('suppressed_bounce', 'suppressed after an earlier bounce', 1),
  ('suppressed_complaint', 'suppressed after an earlier complaint', 1),
  ('inactive', 'inactive for long', 1),
  ('left_target', 'left the target', 1),
  ('removed_from_segment', 'removed from the segment', 1),
  ('contact_deleted', 'contact was deleted', 1),
  ('readdressed', 'their address was changed', 1),
  ('mailing_cancelled', 'the mailing was cancelled', 1),
  ('automation_not_live', 'the automation is not live', 1),
  ('joined_outside_live', 'joined before it went live, or while it was paused', 0),
  ('not_in_target', 'not in the target', 0),
  ('waits_for_cap', 'waits until the limit of mails per person allows another', 1),
  ('cause_address', 'The address does not exist.', 1),
  ('cause_domain', 'The domain does not exist or takes no mail.', 1),
  ('cause_syntax', 'The receiving server does not take this as an address.', 1),
  ('cause_disabled', 'The mailbox is disabled.', 1),
  ('cause_full', 'The mailbox is full.', 1),
  ('cause_busy', 'The receiving server takes no more mail for now.', 1),
  ('cause_size', 'The mail is too large for the receiving server.', 1),
  ('cause_content', 'The receiving server does not take this kind of content.', 1),
  ('cause_sender', 'The receiving server does not accept the sender address.', 1),
  ('cause_policy', 'The receiving server refuses the mail by policy: reputation, authentication or content.', 1),
  ('cause_policy_for_now', 'The receiving server holds the mail back by policy: greylisting, rate or reputation.', 1),
  ('cause_route', 'The receiving server could not be reached.', 1),
  ('cause_expired', 'The mail could not be delivered in time.', 1),
  ('cause_system', 'The receiving server has a problem of its own.', 1),
  ('cause_other', 'The receiving server refused the mail.', 1),
  ('cause_other_for_now', 'The receiving server asks for a later try.', 1),
  ('not_built', 'The mail could not be built', 1),
  ('other_replies', 'Other replies', 1),
  ('kept_in_outbox', '250 kept in the outbox', 1),
  ('held_cancelled', 'Cancelled before it ran', 0),
  ('held_copy', 'A copy: update it to queue it', 0),
  ('held_no_audience', 'Nobody to send to: the audience is empty, or everyone in it has unsubscribed, bounced or is excluded', 0),
  ('held_sender_deleted', 'The sender was deleted', 1),
  ('held_sender_unverified', 'The sender is not verified yet', 1),
  ('held_mails_sender_deleted', 'A sender of its mails was deleted', 0),
  ('missed_held', 'sending was held', 0),
  ('missed_stopped', 'the service was not running', 0),
  ('missed_unverified', 'its sender was not verified', 0),
  ('held_type_deleted', 'A contact type it names was deleted', 0),
  ('held_own_type_deleted', 'Its contact type was deleted', 0),
  ('held_segment_deleted', 'A segment it names was deleted', 0),
  ('held_own_segment_deleted', 'Its segment was deleted', 0),
  ('held_type_of_segment_deleted', 'The contact type of a segment it names was deleted', 0),
  ('held_type_of_own_segment_deleted', 'Its segment''s contact type was deleted', 0),
  ('held_restored', 'Restored from a backup, which does not know who was mailed after it was made', 0),
  ('held_settings', 'Mail goes to a relay or to sender nodes and the public address is not set: links to unsubscribe would lead to this machine only', 0),
  ('mail_sender_deleted', 'its sender was deleted', 0),
  ('mail_sender_unverified', 'its sender is not verified yet', 0),
  ('content_none', 'It has no content: the blank template needs template code', 0),
  ('file_empty', 'The file is empty.', 0),
  ('file_windows', 'The file is not valid UTF-8, so it was read as Windows-1252.', 0),
  ('files_private', 'nobody but their owner can read them', 0),
  ('files_open_one', 'others can read a file with personal data, keys and secrets', 0),
  ('dns_silent_cure', 'Try again.', 0),
  ('dns_no_record', 'no record', 0),
  ('spf_cure', 'or what the operator of your relay tells you.', 0),
  ('spf_many_cure', 'Join them into one.', 0),
  ('spf_open', 'It allows everybody: end it with ~all or -all.', 0),
  ('spf_neutral', 'It says nothing about others: end it with ~all or -all.', 0),
  ('dkim_none', 'no key: Sendlark does not sign this mail', 0),
  ('dmarc_none', 'no record: large receivers ask for one', 0),
  ('dmarc_many_cure', 'Keep one.', 0),
  ('dmarc_policy', 'It needs p=none, quarantine or reject.', 0),
  ('alignment_fails_cure', 'Fix what is reported about it above.', 0),
  ('address_none', 'The public address is not set', 0),
  ('address_invalid', 'This must be an http or https address without a path, such as https://mail.example.com.', 0),
  ('address_loopback', 'This leads everybody to their own machine. Recipients need an address that leads here from everywhere.', 0),
  ('address_fixed', 'PUBLIC_URL in the environment says the public address: change it there, and restart the service.', 0),
  ('certificate_renewal', 'Look why the reverse proxy did not renew it, and renew it: browsers warn people who click a link otherwise.', 0),
  ('certificate_untrusted_cure', 'Have the reverse proxy get one from Let''s Encrypt, as Caddy does by itself. If it has one, it must send the intermediate certificate too.', 0),
  ('address_redirects_cure', 'Set the public address to where it leads on to, or take the redirect out of the reverse proxy.', 0),
  ('returns_not_here', 'Returned mail is not taken in here: BOUNCE_DOMAIN and BOUNCE_LISTEN are not set.', 0),
  ('ab_canary', 'A mail that begins with a first part of its recipients cannot be tested as well.', 0),
  ('ab_untracked', 'Opens and clicks of this mail are not counted, so no winner can be found by them.', 0),
  ('ab_same', 'Two variants are the same mail.', 0),
  ('ab_not_open', 'There is no test of this mail that waits for a decision.', 0),
  ('feed_address', 'Give the address of a feed, such as https://example.com/feed.xml.', 0),
  ('feed_plain', 'The address must begin with https://, because on its way nobody may change what is sent to people.', 0),
  ('feed_time', 'The time of day has the form 08:30.', 0),
  ('feed_is_held', 'The feed is held: send or skip what waits first', 0),
  ('feed_not_held', 'The feed is not held', 0),
  ('feed_redirects', 'It redirects too often.', 0),
  ('feed_empty', 'The feed has no items.', 0),
  ('feed_no_feed', 'What is there is no RSS, Atom or JSON feed.', 0),
  ('feed_no_template', 'The template of its mails was deleted or has no content. Choose another one, then send or skip what waits.', 0),
  ('feed_mail_large', 'The mail of its items has more than 2 million characters. Choose a smaller template, then send or skip what waits.', 0),
  ('request_closed', 'the subscription is confirmed, too old or not asked for any more', 1),
  ('archive_broken', 'The ZIP archive is damaged, encrypted, or of a kind that cannot be read.', 0),
  ('tracking_import_undone', 'An import that said otherwise was undone', 0),
  ('waits_nats', 'The service cannot reach NATS, so mail waits. Look whether nats-server runs at NATS_URL and lets the service in.', 0),
  ('waits_no_node', 'There is no sender node, so mail waits. Start one with “sendlark node”; if one runs, its log says why it does not come.', 0),
  ('waits_release', 'The sender nodes and the service are of releases that do not understand each other, so mail waits. Bring all to the same release.', 0),
  ('waits_refused', 'The relays take no mail from any sender node, so mail waits. The list of nodes says what the relays answer.', 0),
  ('waits_warm_up', 'Every sender node has sent what its warm-up allows today, so mail waits until 0:00 UTC. Another node, or a higher WARM_UP, sends more.', 0),
  ('webhook_private', 'The address is not public, and private ones are not allowed here.', 0),
  ('webhook_silent', 'It did not answer in time.', 0),
  ('webhook_redirect', 'It redirects elsewhere, which is not followed.', 0),
  ('webhook_no_host', 'Its name leads to no server.', 0),
  ('webhook_unreachable', 'Nothing answers there.', 0),
  ('webhook_tls', 'No encryption could be agreed on with it.', 0),
  ('webhook_closed', 'The connection was closed before the answer.', 0),
  ('archive_slug', 'The slug has 3 to 60 small letters, digits and single hyphens between them.', 0),
  ('import_stopped', 'The import was stopped, because it is being undone', 0),
  ('dkim_none_to_change', 'The domain has no key yet', 0);
--> statement-breakpoint
CREATE TEMP TABLE sentences (code text, is_mail integer, p0 text, n1 text, p1 text, n2 text, p2 text, n3 text, p3 text);
--> statement-breakpoint
INSERT INTO sentences VALUES
  ('over_cap_day', 1, 'already had the most mails allowed on one day: ', 'mails', '', NULL, NULL, NULL, NULL),
  ('over_cap', 1, 'already had the most mails allowed in a ', 'days', '-day period: ', 'mails', '', NULL, NULL),
  ('complaint', 1, 'Complaint: ', 'kind', '', NULL, NULL, NULL, NULL),
  ('given_up', 1, 'Given up after 4 days: ', 'reply', '', NULL, NULL, NULL, NULL),
  ('merged_too_large', 1, 'With the values of this person the mail is larger than ', 'size', ' MiB', NULL, NULL, NULL, NULL),
  ('merged_subject_too_long', 1, 'With the values of this person the subject is longer than ', 'count', ' characters', NULL, NULL, NULL, NULL),
  ('held_not_prepared', 0, 'The mailing could not be prepared: ', 'problem', '', NULL, NULL, NULL, NULL),
  ('held_not_launched', 0, 'It could not be launched: ', 'problem', '', NULL, NULL, NULL, NULL),
  ('held_missed_time', 0, 'Missed its time by ', 'minutes', ' minutes: ', 'cause', '', NULL, NULL),
  ('held_mail', 0, 'The mail "', 'subject', '" cannot be sent: ', 'problem', '', NULL, NULL),
  ('held_by_relay', 0, 'The relay refuses mail: ', 'reply', '', NULL, NULL, NULL, NULL),
  ('held_by_refusal', 0, 'The relay refuses this sender or server, not the recipients (one recipient, now back in the queue): ', 'reply', '', NULL, NULL, NULL, NULL),
  ('held_by_refusals', 0, 'The relay refuses this sender or server, not the recipients (', 'count', ' recipients in a row, now back in the queue): ', 'reply', '', NULL, NULL),
  ('held_too_many_bounces', 0, 'Among the first ', 'results', ' mails ', 'bounces', ' bounced. More than 5 % is a sign that addresses are old or invented, and harms the trust in the sender.', NULL, NULL),
  ('held_too_many_refusals', 0, 'Among the first ', 'results', ' mails ', 'failed', ' were refused for good. More than 5 % is a sign that receivers do not trust the sender or the content.', NULL, NULL),
  ('held_too_many_complaints', 0, 'After the first ', 'results', ' mails ', 'complaints', ' people complained. More than 0.1 % is a sign that people do not know why they get the mail.', NULL, NULL),
  ('held_canary_unclear', 0, 'The first part went to ', 'size', ' people, and only ', 'results', ' mails were accepted or refused for good. The servers of the others put it off.', NULL, NULL),
  ('held_rule_field_deleted', 0, 'A rule of the segment "', 'segment', '" names the custom field ', 'field', ', which was deleted', NULL, NULL),
  ('held_rule_field_changed', 0, 'A rule of the segment "', 'segment', '" does not suit the custom field ', 'field', ', which is of type ', 'type', ' now'),
  ('held_clock', 0, 'The clock is ', 'days', ' days past when the service last ran: nothing is sent before a release, or before the clock is set right', NULL, NULL, NULL, NULL),
  ('content_broken', 0, 'Its content does not compile: ', 'problem', '', NULL, NULL, NULL, NULL),
  ('field_required', 0, 'The ', 'field', ' field is required.', NULL, NULL, NULL, NULL),
  ('field_selected', 0, 'The selected ', 'field', ' is invalid.', NULL, NULL, NULL, NULL),
  ('field_email', 0, 'The ', 'field', ' must be a valid email address.', NULL, NULL, NULL, NULL),
  ('field_erased', 0, 'The ', 'field', ' belongs to a person who was erased, and is not accepted again.', NULL, NULL, NULL, NULL),
  ('column_unknown', 0, 'Column not known: ', 'name', '', NULL, NULL, NULL, NULL),
  ('files_open', 0, 'others can read ', 'count', ' files with personal data, keys and secrets', NULL, NULL, NULL, NULL),
  ('files_cure', 0, 'Make it private: chmod 600 ''', 'file', '''', NULL, NULL, NULL, NULL),
  ('dns_silent', 0, 'DNS gives no answer (', 'code', ')', NULL, NULL, NULL, NULL),
  ('spf_many', 0, '', 'count', ' records, so none counts', NULL, NULL, NULL, NULL),
  ('spf_closed', 0, 'It allows nobody: put ', 'mechanisms', ' before all.', NULL, NULL, NULL, NULL),
  ('dkim_none_cure', 0, 'Unless your relay signs: sendlark dkim create ', 'domain', '', NULL, NULL, NULL, NULL),
  ('dkim_make', 0, 'sendlark dkim create ', 'domain', '', NULL, NULL, NULL, NULL),
  ('dkim_missing', 0, 'no record at ', 'name', '', NULL, NULL, NULL, NULL),
  ('dkim_other', 0, 'another key at ', 'name', '', NULL, NULL, NULL, NULL),
  ('dkim_next', 0, 'the next key waits for its record at ', 'name', '', NULL, NULL, NULL, NULL),
  ('dkim_published', 0, 'published and the same as ours: ', 'names', '', NULL, NULL, NULL, NULL),
  ('dmarc_many', 0, '', 'count', ' records at ', 'name', '', NULL, NULL),
  ('alignment_fails', 0, '', 'ways', ' would speak for the domain, but fails', NULL, NULL, NULL, NULL),
  ('alignment_none', 0, 'SPF speaks for the return path ', 'domain', ' only, and Sendlark does not sign', NULL, NULL, NULL, NULL),
  ('alignment_none_strict', 0, 'SPF speaks for the return path ', 'domain', ' only (aspf=s), and Sendlark does not sign', NULL, NULL, NULL, NULL),
  ('alignment_none_cure', 0, 'or make BOUNCE_DOMAIN a domain below ', 'domain', '.', NULL, NULL, NULL, NULL),
  ('address_leads_here', 0, '', 'url', ' leads here', NULL, NULL, NULL, NULL),
  ('address_certified', 0, '', 'url', ' leads here, with a certificate until ', 'day', '', NULL, NULL),
  ('address_ends_soon', 0, '', 'url', ' leads here, but its certificate ends on ', 'day', '', NULL, NULL),
  ('certificate_expired', 0, 'the certificate of ', 'host', ' expired on ', 'day', '', NULL, NULL),
  ('certificate_name', 0, 'the certificate at ', 'host', ' is for other names: ', 'names', '', NULL, NULL),
  ('certificate_name_cure', 0, 'Have the reverse proxy get a certificate for ', 'host', '.', NULL, NULL, NULL, NULL),
  ('certificate_untrusted', 0, 'browsers do not trust the certificate of ', 'host', ' (', 'code', ')', NULL, NULL),
  ('address_redirects', 0, '', 'url', ' leads on to ', 'where', '', NULL, NULL),
  ('address_other', 0, '', 'url', ' leads to something else (', 'status', ')', NULL, NULL),
  ('address_elsewhere', 0, '', 'url', ' leads to another installation of Sendlark, or to an older release', NULL, NULL, NULL, NULL),
  ('address_other_cure', 0, 'Have the reverse proxy pass everything for ', 'host', ' to this service, and look whether its DNS leads to this machine.', NULL, NULL, NULL, NULL),
  ('address_unknown', 0, 'the DNS has no address for ', 'host', '', NULL, NULL, NULL, NULL),
  ('address_unknown_cure', 0, 'Where its domain is managed, add an A or AAAA record for ', 'host', ' with the address of this machine.', NULL, NULL, NULL, NULL),
  ('address_refused', 0, 'nobody listens at ', 'host', ', port ', 'port', '', NULL, NULL),
  ('address_refused_cure', 0, 'Start the reverse proxy, let the firewall pass port ', 'port', ', and look whether the DNS of ', 'host', ' leads to this machine.', NULL, NULL),
  ('address_silent', 0, '', 'host', ' gives no answer on port ', 'port', '', NULL, NULL),
  ('address_silent_cure', 0, 'Look whether the DNS of ', 'host', ' leads to this machine and the firewall passes port ', 'port', '. Some networks keep a machine from its own public address: then open ', 'url', ' from another one.'),
  ('address_broken', 0, '', 'url', ' cannot be reached: ', 'reason', '', NULL, NULL),
  ('returns_arrive', 0, 'a test mail to ', 'domain', ' arrived over ', 'host', '', NULL, NULL),
  ('returns_dns', 0, 'the DNS names no server for mail to ', 'domain', ' (', 'code', ')', NULL, NULL),
  ('returns_dns_cure', 0, 'Where its domain is managed, add an MX record for ', 'domain', ' that names this machine.', NULL, NULL, NULL, NULL),
  ('returns_silent_cure', 0, 'Look whether the MX record of ', 'domain', ' names this machine, the service runs, and the firewall passes port 25. Some networks keep a machine from its own public address: then try that port from another one.', NULL, NULL, NULL, NULL),
  ('returns_refused', 0, 'a test mail to ', 'domain', ' was refused at ', 'host', ': ', 'reply', ''),
  ('returns_refused_cure', 0, 'Another mail server answers there, or another installation of Sendlark. Let the MX record of ', 'domain', ' name this machine.', NULL, NULL, NULL, NULL),
  ('returns_lost', 0, 'a test mail to ', 'domain', ' was taken at ', 'host', ', but did not arrive here', NULL, NULL),
  ('returns_lost_cure', 0, 'Another mail server takes this mail. Have it pass on mail to ', 'domain', ' to ', 'listen', ', or let the MX record name this machine. If it only took its time, test again.', NULL, NULL),
  ('ab_variant_problem', 0, 'Variant ', 'name', ': ', 'problem', '', NULL, NULL),
  ('feed_zone', 0, '', 'name', ' is no time zone such as Europe/Berlin.', NULL, NULL, NULL, NULL),
  ('feed_status', 0, 'It answered with the status ', 'status', '.', NULL, NULL, NULL, NULL),
  ('feed_large', 0, 'It is larger than ', 'size', ' MiB.', NULL, NULL, NULL, NULL),
  ('feed_many_items', 0, 'It turned up ', 'count', ' new items at once, which is more often a mistake of the feed than news. Look at them, then send or skip them.', NULL, NULL, NULL, NULL),
  ('feed_all_unknown', 0, 'All ', 'count', ' items of it are new, as when a feed gives its items other ids. Look at them, then send or skip them.', NULL, NULL, NULL, NULL),
  ('archive_entries', 0, 'The ZIP archive has more than ', 'count', ' files.', NULL, NULL, NULL, NULL),
  ('archive_large', 0, 'The ZIP archive unpacks to more than ', 'count', ' MB.', NULL, NULL, NULL, NULL),
  ('export_json', 0, 'This file is not JSON: ', 'name', '', NULL, NULL, NULL, NULL),
  ('export_json_large', 0, 'JSON files of more than ', 'count', ' MB are not read: export in parts, in one ZIP archive. ', 'name', '', NULL, NULL),
  ('export_empty', 0, 'Nobody was found in the file. Is it an export of ', 'name', '?', NULL, NULL, NULL, NULL),
  ('export_nobody_left', 0, 'This file names nobody who unsubscribed or bounced. If there are such people at ', 'name', ', export them too, before you send: they would get mail.', NULL, NULL, NULL, NULL),
  ('export_lists', 0, 'Only the first ', 'count', ' lists become segments; the others are in the field of each person.', NULL, NULL, NULL, NULL),
  ('migrated_all', 0, 'Left there, and unsubscribed from all mail here: ', 'count', ', of them not yet before: ', 'added', '', NULL, NULL),
  ('migrated_group', 0, 'Left a list there, and unsubscribed from the group ', 'name', ' here: ', 'count', ', of them not yet before: ', 'added', ''),
  ('migrated_bounce', 0, 'Bounced there, and suppressed here: ', 'count', ', of them not yet before: ', 'added', '', NULL, NULL),
  ('migrated_complaint', 0, 'Complained there, and suppressed here: ', 'count', ', of them not yet before: ', 'added', '', NULL, NULL),
  ('tracking_imported', 0, 'As the file ', 'name', ' says, which was imported', NULL, NULL, NULL, NULL),
  ('migrated_diagnostic', 0, 'taken over from ', 'name', '', NULL, NULL, NULL, NULL),
  ('archive_full', 0, 'The archive of an account can have ', 'count', ' mails: take some out first', NULL, NULL, NULL, NULL);
--> statement-breakpoint
CREATE TEMP TABLE said (text text PRIMARY KEY, is_mail integer, code text, n1 text, v1 text, n2 text, v2 text, n3 text, v3 text, stored text);
--> statement-breakpoint
INSERT OR IGNORE INTO said (text, is_mail)
  SELECT DISTINCT reply, 1 FROM deliveries WHERE reply GLOB '[A-Za-z:]*' OR reply = '250 kept in the outbox'
  UNION ALL SELECT DISTINCT reply, 1 FROM transactional_mails WHERE reply GLOB '[A-Za-z:]*' OR reply = '250 kept in the outbox'
  UNION ALL SELECT DISTINCT reason, 1 FROM delivery_reasons WHERE reason GLOB '[A-Za-z:]*' OR reason = '250 kept in the outbox'
  UNION ALL SELECT DISTINCT reason, 1 FROM enrolments WHERE reason IS NOT NULL;
--> statement-breakpoint
INSERT INTO said (text, is_mail)
  SELECT text, 0 FROM (
    SELECT diagnostic AS text FROM suppressions UNION SELECT held_reason FROM single_sends UNION SELECT held_reason FROM automations
    UNION SELECT held_reason FROM mailings UNION SELECT held_reason FROM feeds UNION SELECT failure FROM feeds UNION SELECT reply FROM webhook_log
    UNION SELECT consent_text FROM consent_log WHERE source = 'import' UNION SELECT value FROM contact_imports, json_each(notes)
    UNION SELECT value ->> 'text' FROM contact_imports, json_each(errors) e WHERE e.type = 'object'
    UNION SELECT value FROM installation WHERE name IN ('sending_held', 'sending_held_by_clock', 'sending_held_by_settings', 'mail_waits')
    UNION SELECT t.atom FROM installation i, json_tree(i.value) t WHERE i.name IN ('doctor_findings', 'public_address_seen', 'returned_mail_seen') AND t.type = 'text')
  WHERE text <> '' ON CONFLICT DO UPDATE SET is_mail = 0;
--> statement-breakpoint
UPDATE said SET code = 'returned', n1 = 'cause', v1 = p.text, n2 = 'reply', v2 = substr(said.text, length(p.text) + 3)
  FROM plain_sentences p WHERE p.code GLOB 'cause_*' AND said.text GLOB 'The *' AND substr(said.text, 1, length(p.text) + 2) = p.text || ': ';
--> statement-breakpoint
UPDATE said SET stored = ':' || (SELECT code FROM plain_sentences p WHERE p.text = said.text)
  WHERE stored IS NULL AND text IN (SELECT text FROM plain_sentences);
--> statement-breakpoint
UPDATE said SET (code, n1, v1, n2, v2, n3, v3) = (
    SELECT code, n1, v1, n2, iif(n2 IS NULL, NULL, v2), n3, v3 FROM (
      SELECT *, iif(n3 IS NULL, substr(r2, 1, length(r2) - length(p2)), substr(r2, 1, i2 - 1)) AS v2,
        iif(n3 IS NULL, NULL, substr(r3, 1, length(r3) - length(p3))) AS v3
      FROM (SELECT *, iif(n3 IS NULL, NULL, substr(r2, i2 + length(p2))) AS r3
      FROM (SELECT *, iif(n3 IS NULL, NULL, instr(r2, p2)) AS i2
      FROM (SELECT *, iif(n2 IS NULL, substr(r1, 1, length(r1) - length(p1)), substr(r1, 1, i1 - 1)) AS v1,
        iif(n2 IS NULL, NULL, substr(r1, i1 + length(p1))) AS r2
      FROM (SELECT *, iif(n2 IS NULL, NULL, instr(r1, p1)) AS i1
      FROM (SELECT s.*, substr(said.text, length(p0) + 1) AS r1 FROM sentences s
        WHERE s.is_mail >= said.is_mail AND substr(said.text, 1, length(p0)) = p0))))))
    WHERE v1 <> '' AND (n1 NOT IN ('count', 'minutes', 'days', 'size', 'mails', 'results', 'bounces', 'failed', 'complaints', 'added', 'port', 'status') OR v1 NOT GLOB '*[^0-9.]*')
      AND CASE WHEN n2 IS NULL THEN substr(r1, length(r1) - length(p1) + 1) = p1 AND length(r1) > length(p1)
        WHEN n3 IS NULL THEN i1 > 1 AND substr(r2, length(r2) - length(p2) + 1) = p2 AND v2 <> '' AND (n2 NOT IN ('count', 'minutes', 'days', 'size', 'mails', 'results', 'bounces', 'failed', 'complaints', 'added', 'port', 'status') OR v2 NOT GLOB '*[^0-9.]*')
        ELSE i1 > 1 AND i2 > 1 AND substr(r3, length(r3) - length(p3) + 1) = p3 AND v2 <> '' AND v3 <> ''
          AND (n2 NOT IN ('count', 'minutes', 'days', 'size', 'mails', 'results', 'bounces', 'failed', 'complaints', 'added', 'port', 'status') OR v2 NOT GLOB '*[^0-9.]*') AND (n3 NOT IN ('count', 'minutes', 'days', 'size', 'mails', 'results', 'bounces', 'failed', 'complaints', 'added', 'port', 'status') OR v3 NOT GLOB '*[^0-9.]*') END
    ORDER BY length(p0) + length(p1) + ifnull(length(p2), 0) + ifnull(length(p3), 0) DESC LIMIT 1)
  WHERE stored IS NULL AND code IS NULL;
--> statement-breakpoint
INSERT OR IGNORE INTO said (text, is_mail)
  SELECT v1, 0 FROM said WHERE n1 IN ('problem', 'cause') UNION SELECT v2, 0 FROM said WHERE n2 IN ('problem', 'cause') UNION SELECT v3, 0 FROM said WHERE n3 IN ('problem', 'cause');
--> statement-breakpoint
UPDATE said SET stored = ':' || (SELECT code FROM plain_sentences p WHERE p.text = said.text)
  WHERE stored IS NULL AND text IN (SELECT text FROM plain_sentences);
--> statement-breakpoint
UPDATE said SET (code, n1, v1, n2, v2, n3, v3) = (
    SELECT code, n1, v1, n2, iif(n2 IS NULL, NULL, v2), n3, v3 FROM (
      SELECT *, iif(n3 IS NULL, substr(r2, 1, length(r2) - length(p2)), substr(r2, 1, i2 - 1)) AS v2,
        iif(n3 IS NULL, NULL, substr(r3, 1, length(r3) - length(p3))) AS v3
      FROM (SELECT *, iif(n3 IS NULL, NULL, substr(r2, i2 + length(p2))) AS r3
      FROM (SELECT *, iif(n3 IS NULL, NULL, instr(r2, p2)) AS i2
      FROM (SELECT *, iif(n2 IS NULL, substr(r1, 1, length(r1) - length(p1)), substr(r1, 1, i1 - 1)) AS v1,
        iif(n2 IS NULL, NULL, substr(r1, i1 + length(p1))) AS r2
      FROM (SELECT *, iif(n2 IS NULL, NULL, instr(r1, p1)) AS i1
      FROM (SELECT s.*, substr(said.text, length(p0) + 1) AS r1 FROM sentences s
        WHERE s.is_mail >= said.is_mail AND substr(said.text, 1, length(p0)) = p0))))))
    WHERE v1 <> '' AND (n1 NOT IN ('count', 'minutes', 'days', 'size', 'mails', 'results', 'bounces', 'failed', 'complaints', 'added', 'port', 'status') OR v1 NOT GLOB '*[^0-9.]*')
      AND CASE WHEN n2 IS NULL THEN substr(r1, length(r1) - length(p1) + 1) = p1 AND length(r1) > length(p1)
        WHEN n3 IS NULL THEN i1 > 1 AND substr(r2, length(r2) - length(p2) + 1) = p2 AND v2 <> '' AND (n2 NOT IN ('count', 'minutes', 'days', 'size', 'mails', 'results', 'bounces', 'failed', 'complaints', 'added', 'port', 'status') OR v2 NOT GLOB '*[^0-9.]*')
        ELSE i1 > 1 AND i2 > 1 AND substr(r3, length(r3) - length(p3) + 1) = p3 AND v2 <> '' AND v3 <> ''
          AND (n2 NOT IN ('count', 'minutes', 'days', 'size', 'mails', 'results', 'bounces', 'failed', 'complaints', 'added', 'port', 'status') OR v2 NOT GLOB '*[^0-9.]*') AND (n3 NOT IN ('count', 'minutes', 'days', 'size', 'mails', 'results', 'bounces', 'failed', 'complaints', 'added', 'port', 'status') OR v3 NOT GLOB '*[^0-9.]*') END
    ORDER BY length(p0) + length(p1) + ifnull(length(p2), 0) + ifnull(length(p3), 0) DESC LIMIT 1)
  WHERE stored IS NULL AND code IS NULL;
--> statement-breakpoint
INSERT OR IGNORE INTO said (text, is_mail)
  SELECT v1, 0 FROM said WHERE n1 IN ('problem', 'cause') UNION SELECT v2, 0 FROM said WHERE n2 IN ('problem', 'cause') UNION SELECT v3, 0 FROM said WHERE n3 IN ('problem', 'cause');
--> statement-breakpoint
UPDATE said SET stored = ':' || (SELECT code FROM plain_sentences p WHERE p.text = said.text)
  WHERE stored IS NULL AND text IN (SELECT text FROM plain_sentences);
--> statement-breakpoint
UPDATE said SET (code, n1, v1, n2, v2, n3, v3) = (
    SELECT code, n1, v1, n2, iif(n2 IS NULL, NULL, v2), n3, v3 FROM (
      SELECT *, iif(n3 IS NULL, substr(r2, 1, length(r2) - length(p2)), substr(r2, 1, i2 - 1)) AS v2,
        iif(n3 IS NULL, NULL, substr(r3, 1, length(r3) - length(p3))) AS v3
      FROM (SELECT *, iif(n3 IS NULL, NULL, substr(r2, i2 + length(p2))) AS r3
      FROM (SELECT *, iif(n3 IS NULL, NULL, instr(r2, p2)) AS i2
      FROM (SELECT *, iif(n2 IS NULL, substr(r1, 1, length(r1) - length(p1)), substr(r1, 1, i1 - 1)) AS v1,
        iif(n2 IS NULL, NULL, substr(r1, i1 + length(p1))) AS r2
      FROM (SELECT *, iif(n2 IS NULL, NULL, instr(r1, p1)) AS i1
      FROM (SELECT s.*, substr(said.text, length(p0) + 1) AS r1 FROM sentences s
        WHERE s.is_mail >= said.is_mail AND substr(said.text, 1, length(p0)) = p0))))))
    WHERE v1 <> '' AND (n1 NOT IN ('count', 'minutes', 'days', 'size', 'mails', 'results', 'bounces', 'failed', 'complaints', 'added', 'port', 'status') OR v1 NOT GLOB '*[^0-9.]*')
      AND CASE WHEN n2 IS NULL THEN substr(r1, length(r1) - length(p1) + 1) = p1 AND length(r1) > length(p1)
        WHEN n3 IS NULL THEN i1 > 1 AND substr(r2, length(r2) - length(p2) + 1) = p2 AND v2 <> '' AND (n2 NOT IN ('count', 'minutes', 'days', 'size', 'mails', 'results', 'bounces', 'failed', 'complaints', 'added', 'port', 'status') OR v2 NOT GLOB '*[^0-9.]*')
        ELSE i1 > 1 AND i2 > 1 AND substr(r3, length(r3) - length(p3) + 1) = p3 AND v2 <> '' AND v3 <> ''
          AND (n2 NOT IN ('count', 'minutes', 'days', 'size', 'mails', 'results', 'bounces', 'failed', 'complaints', 'added', 'port', 'status') OR v2 NOT GLOB '*[^0-9.]*') AND (n3 NOT IN ('count', 'minutes', 'days', 'size', 'mails', 'results', 'bounces', 'failed', 'complaints', 'added', 'port', 'status') OR v3 NOT GLOB '*[^0-9.]*') END
    ORDER BY length(p0) + length(p1) + ifnull(length(p2), 0) + ifnull(length(p3), 0) DESC LIMIT 1)
  WHERE stored IS NULL AND code IS NULL;
--> statement-breakpoint
UPDATE said SET stored = ':' || code || (
    SELECT json_group_object(name, CASE WHEN name IN ('count', 'minutes', 'days', 'size', 'mails', 'results', 'bounces', 'failed', 'complaints', 'added', 'port', 'status') AND value NOT GLOB '*[^0-9]*' THEN CAST(value AS INTEGER)
      WHEN name IN ('problem', 'cause') THEN ifnull((SELECT x.stored FROM said x WHERE x.text = value), value)
      ELSE iif(value GLOB ':*', ':' || value, value) END)
    FROM (SELECT n1 AS name, v1 AS value UNION ALL SELECT n2, v2 WHERE n2 IS NOT NULL UNION ALL SELECT n3, v3 WHERE n3 IS NOT NULL ORDER BY 1))
  WHERE code IS NOT NULL;
--> statement-breakpoint
UPDATE said SET stored = ':' || code || (
    SELECT json_group_object(name, CASE WHEN name IN ('count', 'minutes', 'days', 'size', 'mails', 'results', 'bounces', 'failed', 'complaints', 'added', 'port', 'status') AND value NOT GLOB '*[^0-9]*' THEN CAST(value AS INTEGER)
      WHEN name IN ('problem', 'cause') THEN ifnull((SELECT x.stored FROM said x WHERE x.text = value), value)
      ELSE iif(value GLOB ':*', ':' || value, value) END)
    FROM (SELECT n1 AS name, v1 AS value UNION ALL SELECT n2, v2 WHERE n2 IS NOT NULL UNION ALL SELECT n3, v3 WHERE n3 IS NOT NULL ORDER BY 1))
  WHERE code IS NOT NULL;
--> statement-breakpoint
UPDATE said SET stored = ':' || code || (
    SELECT json_group_object(name, CASE WHEN name IN ('count', 'minutes', 'days', 'size', 'mails', 'results', 'bounces', 'failed', 'complaints', 'added', 'port', 'status') AND value NOT GLOB '*[^0-9]*' THEN CAST(value AS INTEGER)
      WHEN name IN ('problem', 'cause') THEN ifnull((SELECT x.stored FROM said x WHERE x.text = value), value)
      ELSE iif(value GLOB ':*', ':' || value, value) END)
    FROM (SELECT n1 AS name, v1 AS value UNION ALL SELECT n2, v2 WHERE n2 IS NOT NULL UNION ALL SELECT n3, v3 WHERE n3 IS NOT NULL ORDER BY 1))
  WHERE code IS NOT NULL;
--> statement-breakpoint
UPDATE said SET stored = ':' || text WHERE stored IS NULL AND text GLOB ':*';
--> statement-breakpoint
DELETE FROM said WHERE stored IS NULL;
--> statement-breakpoint
UPDATE deliveries SET reply = (SELECT stored FROM said WHERE text = reply) WHERE (reply GLOB '[A-Za-z:]*' OR reply = '250 kept in the outbox') AND reply IN (SELECT text FROM said);
--> statement-breakpoint
UPDATE transactional_mails SET reply = (SELECT stored FROM said WHERE text = reply) WHERE (reply GLOB '[A-Za-z:]*' OR reply = '250 kept in the outbox') AND reply IN (SELECT text FROM said);
--> statement-breakpoint
CREATE TEMP TABLE counted (mailing_id integer PRIMARY KEY);
--> statement-breakpoint
INSERT OR IGNORE INTO counted SELECT mailing_id FROM delivery_reasons WHERE reason IN (SELECT text FROM said WHERE n1 IS NOT NULL) OR reason GLOB 'already had the most mails allowed*';
--> statement-breakpoint
DELETE FROM delivery_reasons WHERE reason IN (SELECT text FROM said WHERE n1 IS NOT NULL) OR reason GLOB 'already had the most mails allowed*';
--> statement-breakpoint
UPDATE delivery_reasons SET reason = (SELECT stored FROM said WHERE text = reason) WHERE reason IN (SELECT text FROM said);
--> statement-breakpoint
INSERT INTO delivery_reasons (mailing_id, state, reason, count)
  SELECT mailing_id, state, reply_kind(reply) AS reason, count(*) FROM deliveries
  WHERE mailing_id IN (SELECT mailing_id FROM counted) AND state NOT IN (1, 2) AND reply GLOB ':[a-z]*{*' GROUP BY 1, 2, 3
  ON CONFLICT DO UPDATE SET count = count + excluded.count;
--> statement-breakpoint
UPDATE enrolments SET reason = (SELECT stored FROM said WHERE text = reason) WHERE reason IN (SELECT text FROM said);
--> statement-breakpoint
UPDATE enrolment_counts SET reason = (SELECT stored FROM said WHERE text = reason) WHERE reason IN (SELECT text FROM said);
--> statement-breakpoint
UPDATE suppressions SET diagnostic = (SELECT stored FROM said WHERE text = diagnostic) WHERE diagnostic IN (SELECT text FROM said);
--> statement-breakpoint
UPDATE single_sends SET held_reason = (SELECT stored FROM said WHERE text = held_reason) WHERE held_reason IN (SELECT text FROM said);
--> statement-breakpoint
UPDATE automations SET held_reason = (SELECT stored FROM said WHERE text = held_reason) WHERE held_reason IN (SELECT text FROM said);
--> statement-breakpoint
UPDATE mailings SET held_reason = (SELECT stored FROM said WHERE text = held_reason) WHERE held_reason IN (SELECT text FROM said);
--> statement-breakpoint
UPDATE feeds SET held_reason = (SELECT stored FROM said WHERE text = held_reason) WHERE held_reason IN (SELECT text FROM said);
--> statement-breakpoint
UPDATE feeds SET failure = (SELECT stored FROM said WHERE text = failure) WHERE failure IN (SELECT text FROM said);
--> statement-breakpoint
UPDATE webhook_log SET reply = (SELECT stored FROM said WHERE text = reply) WHERE reply IN (SELECT text FROM said);
--> statement-breakpoint
UPDATE consent_log SET consent_text = (SELECT stored FROM said WHERE text = consent_text) WHERE (source = 'import') AND consent_text IN (SELECT text FROM said);
--> statement-breakpoint
UPDATE contact_imports SET notes = (SELECT json_group_array(ifnull((SELECT stored FROM said WHERE text = value), value)) FROM json_each(notes)) WHERE notes <> '[]';
--> statement-breakpoint
UPDATE contact_imports SET errors = (
    SELECT json_group_array(json(json_set(value, '$.text', ifnull((SELECT stored FROM said WHERE text = value ->> 'text'), value ->> 'text'))))
    FROM json_each(errors))
  WHERE errors <> '[]' AND NOT EXISTS (SELECT 1 FROM json_each(errors) e WHERE e.type <> 'object');
--> statement-breakpoint
UPDATE installation SET value = (SELECT stored FROM said WHERE text = value) WHERE (name IN ('sending_held', 'sending_held_by_clock', 'sending_held_by_settings', 'mail_waits')) AND value IN (SELECT text FROM said);
--> statement-breakpoint
UPDATE installation SET value = (
    WITH RECURSIVE leaves AS (
      SELECT row_number() OVER () AS number, t.fullkey, s.stored FROM json_tree(installation.value) t CROSS JOIN said s ON s.text = t.atom
      WHERE t.type = 'text' AND (t.key = 'found' OR t.path GLOB '*.advice')),
    done AS (SELECT 0 AS number, installation.value AS json
      UNION ALL SELECT l.number, json_set(d.json, l.fullkey, l.stored) FROM done d CROSS JOIN leaves l ON l.number = d.number + 1)
    SELECT json FROM done ORDER BY number DESC LIMIT 1)
  WHERE name IN ('doctor_findings', 'public_address_seen', 'returned_mail_seen');
--> statement-breakpoint
UPDATE audit_log SET actor = CASE actor WHEN 'command line' THEN ':actor_command_line' WHEN 'operator' THEN ':actor_operator' ELSE ':' || actor END
  WHERE actor IN ('command line', 'operator') OR actor GLOB ':*';
--> statement-breakpoint
UPDATE audit_log SET subject = CASE WHEN action = 'login_link_made' AND subject = 'first owner' THEN ':subject_first_owner'
    WHEN action = 'recovery_code_used' AND subject GLOB '[0-9]* left' THEN ':subject_codes_left{"count":' || CAST(subject AS INTEGER) || '}' ELSE ':' || subject END
  WHERE action = 'login_link_made' AND subject = 'first owner' OR action = 'recovery_code_used' AND subject GLOB '[0-9]* left' OR subject GLOB ':*';
--> statement-breakpoint
DROP TABLE temp.plain_sentences;
--> statement-breakpoint
DROP TABLE temp.sentences;
--> statement-breakpoint
DROP TABLE temp.said;
--> statement-breakpoint
DROP TABLE temp.counted;
