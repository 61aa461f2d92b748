/** Sentences of single features, with their codes; part of those in sentences.ts. */

export const FEATURE_SENTENCES = {
  // A/B tests.
  ab_canary: 'A campaign with a first batch cannot have an A/B test.',
  ab_untracked: 'Opens and clicks of this e-mail are not counted, so no winner can be found by them.',
  ab_languages: 'A campaign cannot have an A/B test and versions in other languages.',
  ab_same: 'Two variants are the same e-mail.',
  ab_variant_problem: 'Variant {name}: {problem}',
  language_problem: 'The version in the language {name}: {problem}',
  language_same: 'A version needs a subject, a preview text or a template of its own.',
  ab_not_open: 'No A/B test of this e-mail waits for a decision.',

  // The designer of mails, and test mails.
  design_link_unknown: 'This link no longer works.',
  design_link_expired: 'This link has expired. Copy what you changed and open a new one.',
  design_link_withdrawn: 'The user for whom this link was made may no longer change e-mails. Nothing was saved.',
  design_changed:
    'This content was changed elsewhere after you opened it, so your changes are not saved. To see that content, load the page again. To replace it with yours, press “Save” again.',
  design_locked: 'This e-mail is being sent or was sent, so its content can no longer be changed.',
  design_no_contact: 'None of the recipients of this e-mail has the address {address}.',
  design_no_address: 'That is not an e-mail address.',
  design_lines: 'Subject and preview text are one line each, of at most 255 characters.',
  design_no_subject: 'The e-mail needs a subject.',
  design_empty: 'There is no design to save.',
  design_too_many_tests: 'This link has sent its {count} test e-mails. A new link sends more.',
  test_foreign_address: 'Tests go to addresses of your senders and contacts only; {address} is none of them.',
  test_refused: '{address} ({reason})',
  test_refused_more: '{who}, {more}',
  block_empty: 'There is no block to save.',
  block_too_large: 'The block is too large to be saved.',
  block_name: 'The block needs a name of one line.',

  // Faults of conditions in mails.
  content_twice: 'The template html must be empty when template json is given.',
  content_invalid: 'The {field} is invalid: {problem}',
  condition_fault: 'The condition in line {line}, column {column} ({begin}…): {fault}.',
  condition_no_name: 'the name of a merge tag is missing',
  condition_no_value: 'a value in quotes is missing after “{after}”',
  condition_many_rules: 'it has more than {count} rules',
  condition_unclear: '“{text}” is not understood',
  condition_mixed: '“and” and “or” cannot be mixed',
  condition_in_tag: 'a condition cannot be inside an HTML tag',
  condition_many: 'the conditions of this text have more than {count} rules',
  condition_deep: 'conditions are more than {count} deep',
  condition_two_else: 'the condition has an ((else)) already',
  condition_no_end: 'its ((end)) is missing',
  condition_unclosed: 'its closing )) is missing, or it contains a line break or parentheses',

  // Faults of the code of a mail.
  content_empty: 'The mail has no content.',
  content_long: 'The mail has more than 8 million characters.',
  content_nested: "The mail's HTML is nested too deeply: more than {count} levels.",
  content_placeholders: 'The mail has {count} placeholders and links: at most {most} are possible.',
  content_placeholders_over: 'The mail has more than {count} placeholders and links: at most {most} are possible.',
  content_complicated: 'The template is too large or too complicated.',
  content_not_compiled: 'The template could not be compiled: {reason}.',
  content_overflow: 'it is too large or nested too deeply',
  mjml_parts: 'The template has more than {count} parts.',
  mjml_not_json: 'The template is not valid JSON.',
  mjml_no_document: 'The template is not an MJML document: an object whose tagName is mjml.',
  mjml_no_body: 'The template has no mj-body.',
  mjml_styles: 'The template has too many styles with the attribute inline for its number of elements.',
  mjml_nested: 'The template is nested more than {count} levels deep.',
  mjml_elements: 'The template has more than {count} elements.',
  mjml_no_tag: 'The template has an element without a tagName.',
  mjml_attributes: "The template's {name} has attributes that are not an object.",
  mjml_children: "The template's {name} has children that are not a list.",
  mjml_content: "The template's {name} has content that is not a text.",
  mjml_include: 'The template uses mj-include, which has no meaning here: put the included part in its place.',
  mjml_font: 'The template names a font with characters other than letters, digits, spaces and hyphens.',
  mjml_unknown: 'The template uses an element MJML does not have: {name}.',
  design_too_large: 'The design is too large to be stored.',
  design_part: 'A part in MJML is not one element.',
  design_nested: "The design's HTML is nested more than {count} levels deep.",
  design_not_mjml: 'The design is not an MJML document.',

  // Errors of a feed's settings and actions.
  feed_address: 'Give the address of a feed, such as https://example.com/feed.xml.',
  feed_plain: 'The address must begin with https://, so that nobody can change the posts on their way.',
  feed_zone: '“{name}” is not a time zone. Give one such as Europe/Berlin.',
  feed_time: 'Give the time of day as in 08:30.',
  feeds_many: 'An account can have at most {count} feeds: delete one first',
  feed_is_held: 'The feed is held: send or skip the waiting posts first',
  feed_not_held: 'The feed is not held',

  // Why a feed could not be read.
  feed_status: 'The address answered with the status {status}.',
  feed_large: 'The feed is larger than {size} MB.',
  feed_redirects: 'The address redirects too often.',
  feed_empty: 'The feed has no posts.',
  feed_no_feed: 'The address does not answer with an RSS, Atom or JSON feed.',

  // Why a feed is held.
  feed_many_items:
    'The feed has {count} new posts at once, which is more often a mistake of the feed than news. Look at the posts, then send or skip them.',
  feed_all_unknown:
    'All {count} posts of the feed are new, as if the feed had changed the IDs of its posts. Look at the posts, then send or skip them.',
  feed_no_sender: 'The sender of the feed was deleted. Choose another one, then send or skip the waiting posts.',
  feed_no_topic: 'The topic of the feed was deleted. Choose another one, then send or skip the waiting posts.',
  feed_no_target:
    'A list or segment that the feed names was deleted. Choose the recipients again, then send or skip the waiting posts.',
  feed_no_template:
    'The template of the feed was deleted or has no content. Choose another one, then send or skip the waiting posts.',
  feed_mail_large:
    'The e-mail with the posts has more than 2 million characters. Choose a smaller template, then send or skip the waiting posts.',

  // Each rule that decides whether a contact gets a mail: its value, and what would change it.
  why_started: 'The automation is live, or the campaign was sent.',
  why_not_started: 'The automation is not live, or the campaign was not sent yet.',
  why_start: 'Start the automation, or send the campaign.',
  why_no_hold: 'Sending is not paused.',
  why_hold_change: 'End the pause, or remove its cause.',
  why_hours_open: 'Mail may be sent at this hour.',
  why_hours: 'Waits for the sending hours until {time}.',
  why_hours_change: 'Wait, or change the sending hours.',
  why_same_time: 'All contacts get the campaign at the same time.',
  why_time_came: 'The scheduled time of the contact has passed.',
  why_local_time: 'The time of the contact: {time}, which is {clock} in {zone}.',
  why_local_time_unknown:
    'The time of the contact: {time}. The time zone of the contact is not known, so it is {clock} in {zone}.',
  why_best_hour: 'The best hour of the contact: {time}.',
  why_best_hour_open: 'The best hour of the contact, within 24 hours of the start.',
  why_local_time_change: 'Wait for the time of the contact.',
  why_no_canary: 'No first batch is set.',
  why_canary_planned: 'The first batch will be {percent}% of the contacts.',
  why_canary_over: 'The first batch is over.',
  why_in_canary: 'The contact is in the first batch.',
  why_canary_choosing: 'The first batch is being chosen.',
  why_after_canary: 'Waits for the results of the first batch of {size}.',
  why_after_canary_at: 'Waits for the results of the first batch of {size}, until {time}.',
  why_canary_change: 'Wait for the results of the first batch, or send to the rest now.',
  why_no_winner_awaited: 'Does not wait for an A/B test.',
  why_awaits_winner: 'Waits for the winner of the A/B test.',
  why_test_change: 'Wait for the decision, or choose the winner.',
  why_no_warm_up: 'The domain of the sender is not being warmed up.',
  why_warm_up:
    'Warm-up of {domain}: {mails} of at most {volume} e-mails today (UTC). The e-mails are spread over the day.',
  why_warm_up_change: 'Wait until tomorrow, or change the warm-up.',
  why_no_pace: 'No limit of {group} is known.',
  why_pace: '{group} asks for fewer e-mails: {per_minute} a minute for now, faster from {time} if it accepts them.',
  why_pace_change: 'Wait: the e-mail is sent in its turn.',
  why_in: 'In: {names}',
  why_not_in_target: 'Not in: {names}',
  why_target_change: 'Add the contact to one of these lists or segments.',
  why_in_none: 'The contact is in none of these lists and segments.',
  why_none_set: 'No list or segment is chosen.',
  why_outside_change: 'The contact leaves the list or segment, or the setting is changed.',
  why_never_entered: 'Has not entered yet: {why}.',
  why_may_enter: 'May enter.',
  why_entered: 'Entered on {time} (entry {run}).',
  why_no_entry_again: 'Entered on {time} (entry {run}), and may not enter again now.',
  why_entry_change:
    'The contact joins, or its event happens, while the automation is live and its settings let the contact enter.',
  why_contact: 'The contact exists.',
  why_no_contact: 'No contact has this address.',
  why_contact_change: 'Add the contact.',
  why_not_unsubscribed: 'Not unsubscribed.',
  why_unsubscribed: 'Unsubscribed on {time}.',
  why_unsubscribed_change: 'The contact subscribes again.',
  why_not_suppressed: 'Not suppressed.',
  why_lift: 'Remove the suppression if the address takes mail again.',
  why_active: 'Not skipped as inactive.',
  why_inactive_change: 'Reactivate the contact.',
  why_no_cap: 'No frequency cap is set.',
  why_cap_ignored: 'This campaign or automation ignores the frequency caps.',
  why_cap: 'E-mails in {days} days: {used} of at most {mails}.',
  why_cap_change: 'Wait until earlier e-mails no longer count, or raise the cap.',

  // What a contact waits for at a step of an automation.
  awaits_event_until: 'Waits for the event “{event}”, at most until {time}.',
  awaits_filtered_until: 'Waits for the event “{event}” with {filter}, at most until {time}.',
  awaits_event_change:
    'If the event comes, the contact goes on at once by the path “It came in time”. If the event has not come by then, the contact goes on by the path “Timed out”.',
  awaits_date_until: 'Waits for the date in “{field}”, now {date}, in the time zone {zone}; at most until {time}.',
  awaits_date_change:
    'Another date in “{field}” counts at once. If the date comes in time, the contact goes on by the path “It came in time”. If the date has not come by then, the contact goes on by the path “Timed out”.',
  awaits_hour_until: 'Waits until {time}, in the time zone {zone}.',
  awaits_hour_change: 'The time comes by itself. It changes if the contact gets another time zone.',

  // What decided at a step of an automation.
  used_values: 'Values at that moment: {values}.',
  used_draw: 'The random number was {draw} of 100. Below {share}, the contact takes the first path.',
  used_change: '{field}: from “{before}” to “{after}”.',
  used_date: '{field} at that moment: {date}, in the time zone {zone}.',
  used_zone: 'In the time zone {zone}.',
  used_in_segment: 'In the segment “{name}”.',
  used_not_in_segment: 'Not in the segment “{name}”.',
  used_event: 'The event “{event}” came.',
  used_no_event: 'The event “{event}” did not come in time.',

  // Mails as sent.
  sent_mail_not_kept:
    'This e-mail was not kept. E-mails are kept for 90 days if the settings said so when they were sent; a transactional e-mail only up to 1 MB.',
  sent_mail_changed:
    'This e-mail can no longer be shown exactly as it was sent, because something that it was made from has changed since.',

  // Forms.
  forms_many: 'An account can have at most {count} forms: delete one first',
  form_field_twice: 'Each field can be asked for only once.',
  form_field_unknown: 'A form cannot ask for this field: {name}',
  form_address: 'Give an address that begins with https:// or http://.',
  form_segment_type: 'The segment and the form belong to different lists.',
  form_consent: 'Agreed to “{text}”. Asked for on {time} UTC from {asker}, confirmed from {confirmer}.',
  api_consent: 'Agreed to “{text}”. Asked for on {time} UTC, confirmed from {confirmer}.',
  form_busy: 'This subscription was not accepted, because there were too many within an hour. Try again in an hour.',
  list_without_form: 'The list has no form that takes subscriptions: add one, or give form_id.',
  request_closed: 'the subscription is confirmed, too old or not asked for any more',

  // Why a form takes no subscriptions.
  form_off: 'The form is closed.',
  form_type_deleted: 'The list of the form was deleted: choose another one.',
  form_sender_deleted: 'The sender of the form was deleted: choose another one.',

  // Errors of an export file.
  file_not_export: 'The file must be a file of type: zip, csv, json.',
  archive_broken: 'The ZIP archive is damaged, encrypted, or of a kind that cannot be read.',
  archive_entries: 'The ZIP archive has more than {count} files.',
  archive_large: 'The ZIP archive unpacks to more than {count} MB.',
  export_json: 'This file is not JSON: {name}',
  export_json_large: 'JSON files of more than {count} MB are not read: export in parts, in one ZIP archive. {name}',

  // The contents of an export, and the handling of its unsubscribes.
  export_empty: 'No contact was found in the file. Is the file an export of {name}?',
  export_nobody_left:
    'This file has nobody who unsubscribed or bounced. If there are such contacts at {name}, export them too, before you send: otherwise they would get mail.',
  export_values: 'Values of {name} that do not fit the field and are skipped: {count} ({values})',
  lists_left:
    'Lists that did not become segments, because the account has reached its limit of segments or rules: {count}. These lists are in a field of each contact.',
  export_lists: 'Only the first {count} lists become segments; the others are in a field of each contact.',
  migrated_all: 'Unsubscribed at the other service, and from all mail here: {count}, new here: {added}',
  migrated_group:
    'Unsubscribed from a list at the other service, and from the group {name} here: {count}, new here: {added}',
  migrated_bounce: 'Bounced at the other service, and suppressed here: {count}, new here: {added}',
  migrated_complaint: 'Complained at the other service, and suppressed here: {count}, new here: {added}',
  tracking_imported: 'As stated in the imported file {name}',
  tracking_import_undone: 'The import that had changed it was undone',
  migrated_diagnostic: 'taken over from {name}',

  // Why mail waits for sender nodes although nothing is held.
  waits_nats:
    'The service cannot reach NATS, so mail waits. Check that nats-server runs at NATS_URL and accepts the login of the service.',
  waits_no_node:
    'There is no sender node, so mail waits. Start one with “sendlark node”; if one runs, its log says why it cannot connect.',
  waits_release:
    'The sender nodes and the service are of incompatible releases, so mail waits. Upgrade all of them to the same release.',
  waits_refused:
    'The SMTP servers accept no mail from any sender node, so mail waits. The list of nodes shows their answers.',
  waits_warm_up:
    'Every sender node has sent what its warm-up allows today, so mail waits until 0:00 UTC. Another node, or a higher WARM_UP, sends more.',

  // Results of a check of the nodes, and what to do.
  nodes_well: 'sender nodes: {count}, and mail is being sent',
  nodes_silent: 'nothing heard from {names}',
  nodes_silent_cure:
    'Start the silent nodes again, or check that they reach NATS. Other nodes send their e-mails. A silent node disappears from the list after a week.',
  nodes_waits_cure: 'Settings › Nodes, or sendlark nodes, lists the nodes with what is wrong.',
  nodes_refused: 'the SMTP servers accept no mail from {names}: {reply}',
  nodes_refused_cure:
    'Check whether the IP address of this node is on a blocklist, and whether its login is right. The node tries again by itself; meanwhile the other nodes send its e-mails.',
  nodes_releases: 'not of the release of the service, {version}: {names}',
  nodes_releases_cure:
    'Upgrade these nodes to the release of the service. During an upgrade they may be one release apart.',

  // Transactional mail.
  key_used: 'This Idempotency-Key was used for another request',
  key_wrong: 'The Idempotency-Key has 1 to 255 printable ASCII characters.',
  transactional_waiting:
    'Too many transactional e-mails of the account wait to be sent, or they are too large together: try again later',
  transactional_no_relay:
    'Campaigns are sent by sender nodes, but transactional e-mail by the service itself, which has no SMTP server',
  mail_empty: 'The e-mail has no content: give text, template_html, template_json or template_id.',
  values_missing: 'The data has no value for {names}.',
  no_campaign_values: 'A transactional e-mail has no preference page and no web copy: remove {names} from it.',
  mail_too_large:
    'The e-mail is too large with these values: its text and HTML can have at most {size} MB, its subject 998 characters.',
  data_names: 'Names have letters, digits and underscores, at most 255 of them.',
  data_many: 'At most {count} values are allowed.',
  attachments_many: 'At most {count} attachments are allowed.',
  attachments_large: 'The attachments can have at most {size} MB together.',
  attachments_account:
    'The attachments of all campaigns can be at most {count} files with {size} MB together. Remove files from drafts, or delete campaigns. Files of sent campaigns stay while their e-mails are kept.',
  attachment_kind: 'Gmail refuses mail with a file of the kind {kind}. Put a link to the file into the e-mail instead.',
  attachment_name_long: 'The name of attachment {number} can have at most {most} characters.',
  attachment_not_base64: 'The content of attachment {number} is not base64 without line breaks.',

  // Errors of an endpoint.
  webhook_url: 'Give the address that receives the events, such as https://example.com/hooks/sendlark.',
  webhook_plain: 'The address must begin with https://, because events contain personal data.',
  webhook_login: 'The address must not contain a user name or a password.',
  webhook_no_events: 'Choose at least one event.',
  webhooks_many: 'An account can have at most {count} webhooks: delete one first',
  webhook_many_waiting: 'Too many events wait to be sent to this webhook again ({count}): try again later',

  // Why an endpoint did not take an event.
  webhook_status: 'HTTP {status}',
  webhook_answer: 'HTTP {status}: {reply}',
  webhook_private: 'The address is not public. Private addresses need the setting WEBHOOK_PRIVATE_ADDRESSES=allow.',
  webhook_silent: 'The address did not answer in time.',
  webhook_redirect: 'The address answered with a redirect, which is not followed.',
  webhook_no_host: 'The host name of the address was not found.',
  webhook_unreachable: 'The address cannot be reached.',
  webhook_tls: 'The TLS connection failed.',
  webhook_closed: 'The connection was closed before the answer.',

  // Why an endpoint gets no events.
  webhook_off_by_owner: 'The webhook was switched off.',
  webhook_off_failing: 'The webhook accepted no event for three days, so it was switched off.',
  webhook_off_gone: 'The webhook answered 410, which means that it wants no more events, so it was switched off.',
  webhook_off_too_many: 'Too many events waited for the webhook, so it was switched off.',

  // The health check of endpoints that were switched off automatically.
  webhooks_well: 'no webhook was switched off by itself',
  webhooks_off: 'events are no longer sent to: {name}',
  webhooks_cure:
    'Settings › Webhooks shows why the webhook is off. Repair the program behind it, then turn the webhook on again.',
} as const;
