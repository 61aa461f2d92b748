/** English: those sentences of the service whose API terms differ from the dashboard's. The others are shown unchanged. */
import type { SentenceCode } from '../../../errors/sentences.ts';

export const sentences: Readonly<Partial<Record<SentenceCode, string>>> = {
  nodes_waits_cure: 'Settings › Sender nodes, or sendlark nodes, lists the nodes with what is wrong.',
  suppression_complaint: 'spam complaint: {diagnostic}',
  left_target: 'no longer in the list or segment',
  not_in_target: 'not in the list or segment',
  kept_in_outbox: 'kept in the test outbox',
  returned: '{cause} {reply}',
  held_missed_time: 'The scheduled time was missed by {minutes} min: {cause}',
  group_used:
    'Unfinished campaigns ({single_sends}) and automations ({automations}) use the topic: choose another one there first',
  field_used:
    'Unfinished campaigns ({single_sends}), automations ({automations}), templates ({templates}), saved blocks ({blocks}) and segments ({segments}) use the field: remove it there first',
  live_no_group: 'Choose a topic first',
  live_no_target: 'Choose a trigger first',
  live_no_mail: 'Add an e-mail first',
  live_no_segment: 'The automation cannot be started: {problem}',
  live_mail_broken: 'The automation cannot be started because of the e-mail “{subject}”: {problem}',
  dkim_none_cure: 'Create a key for {domain} here, unless your SMTP server signs.',
  dkim_make: 'Create a DKIM key for {domain},',
  not_cancellable: 'Only a scheduled or sending campaign can be cancelled',
  not_pausable: 'Only a sending campaign can be paused',
  not_resumable: 'Only a paused campaign can be resumed',
  only_cancellable: 'The sender was deleted: the campaign can only be cancelled',
  not_retriable: 'Only a finished campaign that failed for some contacts can be sent to them again',
  not_changeable: 'A campaign that is sending or was sent cannot be changed',
  unsubscribed_group: 'unsubscribed from this topic',
  excluded: 'excluded from this campaign',
  mailing_cancelled: 'the campaign was cancelled',
  found_in_version: 'in the version in {language}: {error}',
  found_foreign_tags: 'merge tags of other services are sent as they are: {names}',
  held_not_prepared: 'The campaign could not be prepared: {problem}',
  missed_held: 'sending was paused',
  held_copy: 'This is a copy: save it to schedule it',
  held_type_deleted: 'A list of the campaign was deleted',
  held_own_type_deleted: 'The chosen list was deleted',
  held_segment_deleted: 'A segment of the campaign was deleted',
  held_own_segment_deleted: 'The chosen segment was deleted',
  held_type_of_segment_deleted: 'The list of a segment of the campaign was deleted',
  held_type_of_own_segment_deleted: 'The list of the chosen segment was deleted',
  content_empty: 'The e-mail has no content.',
  content_long: 'The e-mail has more than 8 million characters.',
  content_nested:
    'The HTML of the e-mail has more than {count} elements inside each other. Simplify it, for example with fewer tables inside tables.',
  content_not_compiled: 'The template could not be processed: {reason}.',
  content_overflow: 'it is too large, or too many elements are inside each other',
  design_nested: 'The HTML of the design has more than {count} elements inside each other. Simplify it.',
  design_part: 'The code of a block must be a single MJML element.',
  design_link_expired: 'This link has expired. Copy what you changed and open the designer again.',
  design_too_many_tests: '{count} test e-mails were sent already. To send more, open the designer again.',
  feed_status:
    'The website answered with the error {status}. Open the address in your browser to see whether it is right.',
  content_placeholders: 'The e-mail has {count} merge tags and links: at most {most} are possible.',
  content_placeholders_over: 'The e-mail has more than {count} merge tags and links: at most {most} are possible.',
  content_twice: 'Give either HTML or MJML, not both.',
  segment_mails_rules_most: 'A segment may not have more than {count} rules about e-mails received.',
  held_settings: 'There is no tracking domain, so unsubscribe links would work on this computer only',
  operators_only:
    'Only whoever runs Sendlark here (an owner of its first account) may do this, signed in to the dashboard',
  field_email: 'The {field} must be a valid e-mail address.',
  field_maximum: 'The {field} can have at most {count} characters.',
  field_most: 'The {field} can be at most {count}.',
  field_items: 'The {field} can have at most {count} entries.',
  field_erased: 'The {field} belongs to a contact who was deleted permanently, and is not accepted again.',
  settings_address:
    'Set a tracking domain, under Settings › SMTP servers or as PUBLIC_URL; sending is paused until then.',
  settings_no_address: 'There is no tracking domain: links in e-mails work on this computer only.',
  settings_no_https: 'The tracking domain is not https: one-click unsubscribe needs https.',
  settings_no_proxy: 'The tracking domain is https and TRUST_PROXY is off: name the reverse proxy that ends TLS.',
  sending_on: 'not paused',
  sending_held: 'paused. {reason}',
  address_none: 'There is no tracking domain',
  feed_is_held: 'The feed is paused: send or skip the waiting posts first',
  feed_not_held: 'The feed is not paused',
  migrated_group:
    'Unsubscribed from a list at the other service, and from the topic {name} here: {count}, new here: {added}',
  joined_unfinished: 'Only a finished campaign can be sent to new contacts',
  joined_tested: 'A campaign with an A/B test cannot be sent to new contacts',
  resend_unfinished: 'Only a finished campaign can be resent to non-openers',
  resend_nobody: 'The lists that the campaign was sent to were deleted',
  resend_many_types: 'The campaign was sent to more than {count} lists',
  re_entry_without_keys:
    'With this trigger, choose “Never” or “Some days after the last entry”: it has no new events or dates.',
  group_of_live: 'Pause the automation to change its topic.',
  address_redirects_cure:
    'Set the target of the redirect as your tracking domain, or remove the redirect from the reverse proxy.',
  inactive: 'inactive for a long time',
  cause_policy_for_now:
    'The receiving server does not accept the e-mail yet: because of your domain’s reputation, because too many e-mails came at once, or because it accepts e-mails of new senders only at the second attempt.',
  cause_other_for_now: 'The receiving server asks to try again later.',
  held_cancelled: 'Cancelled before it was sent',
  held_mail: 'The e-mail “{subject}” cannot be sent: {problem}',
  held_rule_field_deleted: 'A rule of the segment “{segment}” uses the custom field {field}, which was deleted',
  held_rule_field_changed:
    'A rule of the segment “{segment}” does not fit the custom field {field}, which is of type {type} now',
  content_none: 'The e-mail has no content: choose a template, or paste HTML',
  changed_meanwhile: 'This was changed in the meantime: load the page again',
  cap_wrong:
    '“{given}” is not a valid cap: enter e-mails and days, such as 3 e-mails in 7 days, at most {mails} e-mails and {days} days.',
  column_email: 'One column must be the e-mail address.',
  role_too_low: 'Your role does not allow this',
  viewers_change_nothing: 'Your role is read-only',
  payload_too_large: 'What you sent is too large',
  not_found: 'This does not exist, or was deleted',
  field_integer: 'The {field} must be a whole number.',
  field_string: 'The {field} must be text.',
  field_array: 'The {field} must be a list.',
  field_one_line: 'The {field} must be on one line, without special characters such as tabs.',
  file_not_csv: 'The file must be a CSV file.',
  file_not_export: 'The file must be a ZIP, CSV or JSON file.',
  file_too_large: 'The file can be at most {count}.',
  file_zip:
    'The file is an Excel workbook (.xlsx) or a ZIP archive, not a CSV file. Save the workbook as CSV in your spreadsheet program, or unpack the archive.',
  file_xls: 'The file is an Excel workbook (.xls), not a CSV file. Save it as CSV in your spreadsheet program.',
  file_gzip: 'The file is a compressed archive (gzip), not a CSV file. Unpack it first.',
  file_nul:
    'The file is not a CSV file, or has a text format that cannot be read. Save it in your spreadsheet program as “CSV UTF-8”.',
  file_separator:
    'After “sep=” comes the one character that separates the columns, such as a semicolon. Correct this line or delete it.',
  file_header_text:
    'In the row with the column names, text follows a closing quotation mark. Correct that row, or save the file as CSV again in your spreadsheet program.',
  file_header_long:
    'The row with the column names is longer than {count} characters. Perhaps a closing quotation mark is missing in it.',
  file_quote:
    'A quotation mark (") is opened but never closed. Add the missing one, or save the file as CSV again in your spreadsheet program.',
  file_cell_unclosed: 'A cell is longer than {count} characters, or a closing quotation mark is missing.',
  row_text: 'Text follows a closing quotation mark.',
  archive_broken:
    'The ZIP archive is damaged, encrypted, or of a kind that cannot be read. Make a new one without a password.',
  export_json: 'The file {name} cannot be read, because it is not valid JSON. Export it again from the other service.',
  file_windows: 'The file has an older text format (Windows-1252). Check that letters such as é and ö look right.',
  column_zones:
    'Values of {name} that are not a time zone such as Europe/Berlin: {count} ({values}). For these contacts, campaigns in each contact’s own time zone use country and state.',
  alignment_spf: 'SPF (bounces go to {domain})',
  alignment_none: 'SPF counts only for {domain}, the domain that bounces go to, and Sendlark does not sign',
  alignment_none_strict:
    'SPF counts only for {domain}, the domain that bounces go to (aspf=s), and Sendlark does not sign',
  address_invalid: 'Enter a web address such as https://mail.example.com, with nothing after it.',
  found_no_one_click: 'one-click unsubscribe is missing or wrong: {names}',
  held_by_refusal:
    'The SMTP server refuses mail because of the sender or this computer, not because of the recipient. The e-mail to this recipient waits: {reply}',
  held_by_refusals:
    'The SMTP server refuses mail because of the sender or this computer, not because of the recipients. The e-mails to {count} recipients in a row wait: {reply}',
  condition_deep: 'more than {count} conditions are inside each other',
  no_campaign_values: 'A transactional e-mail has no preferences page and no web version: remove {names} from it.',
  dkim_present:
    'Mail from {domain} is signed already. Whoever runs Sendlark here (an owner of its first account) can replace its key.',
  replay_replaced: 'Another trial run replaced this result: start the trial run again',
  replay_too_large: 'The trial run takes too much memory: choose fewer days',
  providers_many: 'There can be at most {count} addresses for reports of SMTP providers: delete one first',
  why_entered: 'Entered on {time}. Times entered so far: {run}.',
  why_no_entry_again: 'Entered on {time}, and may not enter again now. Times entered so far: {run}.',
  other_site: 'This came from a page of another website',
  held_clock:
    'The clock of this computer is {days} days ahead of when Sendlark last ran: nothing is sent until you resume sending or set the clock right',
  address_loopback:
    'This address leads everybody to their own computer. Recipients need an address that leads here from everywhere.',
  address_other_cure:
    'Have the reverse proxy pass everything for {host} to Sendlark, and check whether the DNS of {host} leads to this computer.',
  address_unknown_cure:
    'Where the domain is managed, add an A or AAAA record for {host} with the address of this computer.',
  address_refused_cure:
    'Start the reverse proxy, let the firewall pass port {port}, and check whether the DNS of {host} leads to this computer.',
  address_silent_cure:
    'Check whether the DNS of {host} leads to this computer and the firewall passes port {port}. Some networks do not let a computer reach itself from outside: then open {url} from another network.',
  returns_dns_cure: 'Where the domain is managed, add an MX record for {domain} that names this computer.',
  returns_silent_cure:
    'Check whether the MX record of {domain} names this computer, Sendlark runs, and the firewall passes port 25. Some networks do not let a computer reach itself from outside: then try that port from another network.',
  returns_refused_cure:
    'Another mail server answers there, or another installation of Sendlark. Let the MX record of {domain} name this computer.',
  returns_lost_cure:
    'Another mail server receives this e-mail. Have it pass on mail to {domain} to {listen}, or let the MX record name this computer. Perhaps the mail server was only slow: then test again.',
  relay_plain: 'Without encryption, mail may only go to this computer or within a private network.',
  relay_test_no_host_cure:
    'Check the spelling of the server. If it is right, the DNS of this computer does not answer.',
  relay_test_unreachable: 'The server cannot be reached from this computer.',
  relay_test_closed_cure:
    'Check port and encryption. If they are right, the server refuses connections from this computer.',
  relay_test_greeting: 'The server refuses to talk to this computer.',
  relay_test_expired_cure: 'Its operator has to renew it. Check the clock of this computer, too.',
  relay_test_not_yet_valid_cure: 'Check the clock of this computer.',
  relay_test_unknown_issuer: 'The certificate of the server comes from an authority that this computer does not trust.',
  relay_test_no_login_cure:
    'Check port and encryption, or leave the user name empty if the server knows this computer.',
  relay_test_recipient_cure:
    'If its answer is that relaying is denied, the server wants a login or has to know this computer. Otherwise check the address.',
  missed_stopped: 'Sendlark was not running',
  clock_behind: '{time}, a day or more before Sendlark last ran',
  background_cure: 'Read the server’s log, then restart Sendlark. Nothing is lost: what is due is in the database.',
  address_fixed: 'The tracking domain is set on the server (PUBLIC_URL): change it there, and restart Sendlark.',
  backup_foreign: '{file} is not a backup of Sendlark',
  column_folded: 'Addresses of several lines, written in one line: {count}',
  why_no_pace: '{group} has not asked for fewer e-mails.',
  cause_domain: 'The domain does not exist or accepts no mail.',
  cause_busy: 'The receiving server accepts no more mail for now.',
  cause_content: 'The receiving server does not accept this kind of content.',
  cause_policy:
    'The receiving server refuses the e-mail because of your domain’s reputation, its authentication or the content.',
  not_built: 'The e-mail could not be created',
  held_too_many_refusals:
    'Of the first {results} e-mails, {failed} were refused permanently. More than 5% is a sign that receivers do not trust the sender or the content.',
  held_canary_unclear:
    'The first batch went to {size} contacts, and only {results} e-mails were accepted or refused permanently. The servers of the other contacts have not accepted the e-mail yet.',
  why_lift: 'Remove the suppression if the address accepts mail again.',
  returns_silent: 'no server accepts mail to {domain} at {host}, port {port}: {reason}',
  relay_test_passed: 'The server would accept this e-mail. Nothing was sent.',
  relay_test_no_login: 'The server accepts no user name and password here.',
  relay_test_busy: 'The server accepts no login for now.',
  relay_test_sender: 'The server does not accept mail from this sender.',
  relay_test_recipient: 'The server does not accept mail to your address.',
  clock_before_release: '{time}, before this version of Sendlark was made',
  backup_newer: '{file} is from a newer version: upgrade Sendlark',
  backup_fresh: 'the last backup was made on {day}',
  background_stalled: 'stopped: nothing is sent, and segments are not updated',
  address_elsewhere: '{url} leads to another installation of Sendlark, or to an older version',
  waits_release:
    'The sender nodes and Sendlark are of versions that do not work together, so mail waits. Upgrade all of them to the same version.',
  nodes_releases: 'not of the version of Sendlark, {version}: {names}',
  nodes_releases_cure:
    'Upgrade these nodes to the version of Sendlark. During an upgrade they may be one version apart.',
  feed_address: 'Enter the address of a feed, such as https://example.com/feed.xml.',
  feed_zone: '“{name}” is not a time zone. Enter one such as Europe/Berlin.',
  feed_time: 'Enter the time as in 08:30.',
  form_address: 'Enter an address that begins with https:// or http://.',
  window_hours: 'Enter two times such as 09:00 and 18:00, the second after the first.',
  relay_host: 'Enter the name of a mail server, such as smtp.example.com, without smtp:// and without the port.',
  webhook_url: 'Enter the address that receives the events, such as https://example.com/hooks/sendlark.',
  warm_up_day: 'Enter a day that is at most a year away, such as 2026-03-01',
  warm_up_until: 'Enter a number above that of the first day',
  migrated_diagnostic: 'imported from {name}',
  transactional_no_relay:
    'Campaigns are sent by sender nodes, but transactional e-mail by Sendlark itself, which has no SMTP server',
  waits_nats:
    'Sendlark cannot reach NATS, so mail waits. Check that nats-server runs at NATS_URL and accepts the login of Sendlark.',
  spf_cure: 'or what your SMTP provider tells you.',
};
