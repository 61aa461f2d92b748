-- The reason in a rule "did not arrive because" is stored by its code, such as :suppressed_bounce or :given_up{"reply":"451 later"}. Until now
-- it was stored in English, in the texts below, which are those of all releases with such rules. A text that is none of them, such as the
-- reply of a mail server, stays as it is.
CREATE TEMP TABLE `english_reasons` (`code` text, `text` text PRIMARY KEY);
--> statement-breakpoint
INSERT INTO `english_reasons` VALUES
	('unsubscribed_all', 'unsubscribed from all mail'),
	('unsubscribed_group', 'unsubscribed from this group'),
	('excluded', 'excluded from this send'),
	('suppressed_bounce', 'suppressed after an earlier bounce'),
	('suppressed_complaint', 'suppressed after an earlier complaint'),
	('inactive', 'inactive for long'),
	('inactive', 'inactive for a long time'),
	('left_target', 'left the target'),
	('exit_step', 'reached an exit step'),
	('goal_reached', 'reached the goal'),
	('exit_rule', 'joined the segment of the exit rule'),
	('held_out', 'in the control group'),
	('held_out', 'held out, for comparison'),
	('removed_from_segment', 'removed from the segment'),
	('contact_deleted', 'the contact was deleted'),
	('readdressed', 'the address was changed'),
	('readdressed', 'their address was changed'),
	('mailing_cancelled', 'the mailing was cancelled'),
	('automation_not_live', 'the automation is not live'),
	('waits_for_cap', 'waits until the frequency cap allows another e-mail'),
	('waits_for_cap', 'waits until the frequency cap allows another mail'),
	('not_built', 'The e-mail could not be built'),
	('not_built', 'The mail could not be built'),
	('other_replies', 'Other replies'),
	('kept_in_outbox', '250 kept in the outbox'),
	('cause_address', 'The address does not exist.'),
	('cause_domain', 'The domain does not exist or takes no mail.'),
	('cause_syntax', 'The receiving server considers the address invalid.'),
	('cause_syntax', 'The receiving server does not take this as an address.'),
	('cause_disabled', 'The mailbox is disabled.'),
	('cause_full', 'The mailbox is full.'),
	('cause_busy', 'The receiving server takes no more mail for now.'),
	('cause_size', 'The e-mail is too large for the receiving server.'),
	('cause_size', 'The mail is too large for the receiving server.'),
	('cause_content', 'The receiving server does not take this kind of content.'),
	('cause_sender', 'The receiving server does not accept the sender address.'),
	('cause_policy', 'The receiving server refuses the e-mail by its rules: because of reputation, authentication or content.'),
	('cause_policy', 'The receiving server refuses the e-mail by policy: reputation, authentication or content.'),
	('cause_policy', 'The receiving server refuses the mail by policy: reputation, authentication or content.'),
	('cause_policy_for_now', 'The receiving server holds the e-mail back by its rules: because of reputation or rate, or to see a second attempt.'),
	('cause_policy_for_now', 'The receiving server holds the e-mail back by policy: greylisting, rate or reputation.'),
	('cause_policy_for_now', 'The receiving server holds the mail back by policy: greylisting, rate or reputation.'),
	('cause_route', 'The receiving server could not be reached.'),
	('cause_expired', 'The e-mail could not be delivered in time.'),
	('cause_expired', 'The mail could not be delivered in time.'),
	('cause_system', 'The receiving server has a problem of its own.'),
	('cause_other', 'The receiving server refused the e-mail.'),
	('cause_other', 'The receiving server refused the mail.'),
	('cause_other_for_now', 'The receiving server asks for a later try.'),
	('cause_other_for_now', 'The receiving server asks to try again later.');
--> statement-breakpoint
CREATE TEMP TABLE `rule_reasons` (`text` text PRIMARY KEY, `stored` text);
--> statement-breakpoint
INSERT OR IGNORE INTO `rule_reasons` (`text`)
SELECT r.value ->> '$.operands[1]' FROM `segments` s CROSS JOIN json_each(s.`rules`) r
WHERE r.value ->> 'operator' = 'did not arrive because' AND r.value ->> '$.operands[1]' NOT GLOB '::*';
--> statement-breakpoint
UPDATE `rule_reasons` SET `stored` = CASE
	-- A reply that begins with a colon has a second one in its stored form. Some rules have a code already.
	WHEN `text` GLOB ':*' THEN iif(substr(`text`, 2, instr(`text` || '{', '{') - 2) IN (SELECT `code` FROM `english_reasons` UNION ALL VALUES
			('given_up'), ('complaint'), ('over_cap_day'), ('over_cap'), ('merged_too_large'), ('merged_subject_too_long'), ('returned')),
		NULL, ':' || `text`)
	WHEN `text` IN (SELECT `text` FROM `english_reasons`)
		THEN (SELECT ':' || e.`code` FROM `english_reasons` e WHERE e.`text` = `rule_reasons`.`text`)
	WHEN `text` GLOB 'Given up after 4 days: ?*' THEN ':given_up' || json_object('reply', iif(substr(`text`, 24, 1) = ':', ':', '') || substr(`text`, 24))
	WHEN `text` GLOB 'Complaint: ?*' THEN ':complaint' || json_object('kind', iif(substr(`text`, 12, 1) = ':', ':', '') || substr(`text`, 12))
	WHEN `text` GLOB 'frequency cap reached: [1-9]* *mails on one day'
		THEN ':over_cap_day' || json_object('mails', CAST(substr(`text`, 24) AS INTEGER))
	WHEN `text` GLOB 'frequency cap reached: [1-9]* *mails in [1-9]* days'
		THEN ':over_cap' || json_object('days', CAST(substr(`text`, instr(`text`, 'mails in ') + 9) AS INTEGER),
			'mails', CAST(substr(`text`, 24) AS INTEGER))
	WHEN `text` GLOB 'With the values of this contact the *mail is larger than [1-9]* M*B'
		THEN ':merged_too_large' || json_object('size', CAST(substr(`text`, instr(`text`, ' than ') + 6) AS INTEGER))
	WHEN `text` GLOB 'With the values of this contact the subject is longer than [1-9]* characters'
		THEN ':merged_subject_too_long' || json_object('count', CAST(substr(`text`, instr(`text`, ' than ') + 6) AS INTEGER))
	ELSE (SELECT ':returned' || json_object('cause', ':' || e.`code`, 'reply',
			iif(substr(`rule_reasons`.`text`, length(e.`text`) + 3, 1) = ':', ':', '') || substr(`rule_reasons`.`text`, length(e.`text`) + 3))
		FROM `english_reasons` e WHERE e.`code` GLOB 'cause_*' AND substr(`rule_reasons`.`text`, 1, length(e.`text`) + 2) = e.`text` || ': ')
	END;
--> statement-breakpoint
DELETE FROM `rule_reasons` WHERE `stored` IS NULL;
--> statement-breakpoint
UPDATE `segments` SET `rules` = (
	SELECT json_group_array(json(ifnull(
		(SELECT json_set(r.value, '$.operands[1]', k.`stored`) FROM `rule_reasons` k
			WHERE r.value ->> 'operator' = 'did not arrive because' AND k.`text` = r.value ->> '$.operands[1]'),
		r.value)) ORDER BY r.key) FROM json_each(`rules`) r)
WHERE instr(`rules`, '"did not arrive because"') > 0;
--> statement-breakpoint
UPDATE `segments` SET `value` = (
	SELECT json_group_array(o.value ORDER BY r.key, o.key) FROM json_each(`rules`) r CROSS JOIN json_each(r.value, '$.operands') o)
WHERE instr(`rules`, '"did not arrive because"') > 0;
--> statement-breakpoint
DROP TABLE temp.`english_reasons`;
--> statement-breakpoint
DROP TABLE temp.`rule_reasons`;
