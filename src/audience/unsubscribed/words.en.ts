/** English: unsubscribed and suppressed addresses, topics, and the rule about inactive contacts. */

export const unsubscribed = {
  'unsubscribes.all': 'All mail',
  'unsubscribes.topic': 'Topics',
  'unsubscribes.suppressions': 'Suppressions',
  'unsubscribes.inactive': 'Inactive',
  'unsubscribes.all.about': 'These contacts unsubscribed from all mail. No campaign and no automation sends to them.',
  'unsubscribes.topic.about': 'These contacts unsubscribed from this topic. They still get mail about other topics.',
  'unsubscribes.suppressions.about':
    'Mail to these addresses bounced or was reported as spam. They are skipped to protect your domain’s reputation.',
  'unsubscribes.all.empty.title': 'Nobody has unsubscribed',
  'unsubscribes.all.empty.text': 'Contacts who unsubscribe from all mail appear here.',
  'unsubscribes.topic.empty.title': 'Nobody has unsubscribed from this topic',
  'unsubscribes.topic.empty.text': 'Contacts who unsubscribe from this topic appear here.',
  'unsubscribes.suppressions.empty.title': 'No suppressed addresses',
  'unsubscribes.suppressions.empty.text': 'Addresses appear here when mail to them bounces or is reported as spam.',
  'unsubscribes.search': 'Full e-mail address',
  'unsubscribes.find': 'Find',
  'unsubscribes.none': '{email} is not here.',
  'unsubscribes.address': 'Address',
  'unsubscribes.reason': 'Reason',
  'unsubscribes.diagnostic': 'Answer of the mail server',
  'unsubscribes.since': 'Since',
  'unsubscribes.action': 'Action',
  'unsubscribes.kind.bounce': 'Bounce',
  'unsubscribes.kind.complaint': 'Complaint',
  'unsubscribes.lifted':
    '{email} can get mail again, unless the address is unsubscribed or suppressed for another reason.',
  'unsubscribes.lift.of': '{action}: {email}',
  'unsubscribes.lift.cancel': 'Cancel',
  'unsubscribes.lift.all.title': 'Resubscribe this contact?',
  'unsubscribes.lift.stays.all':
    'This address is also unsubscribed from all mail. Until you resubscribe it under “All mail”, it still gets no mail.',
  'unsubscribes.lift.stays.suppressions':
    'This address is also suppressed. Until you remove the suppression under “Suppressions”, it still gets no mail.',
  'unsubscribes.lift.all.means':
    'The address can get mail again: from campaigns to its lists and segments, and from automations it has not been in yet.',
  'unsubscribes.lift.all.not':
    'The address stays unsubscribed from individual topics, does not return to automations it has exited, and gets nothing that was sent in the meantime.',
  'unsubscribes.lift.all.text':
    'This contact asked for no more mail. Resubscribe them only if they asked for it: in many countries mail to unsubscribed contacts is against the law. The consent log records that you did it.',
  'unsubscribes.lift.all.do': 'Resubscribe',
  'unsubscribes.lift.topic.title': 'Resubscribe this contact to the topic?',
  'unsubscribes.lift.topic.means':
    'The address can get campaigns of this topic again, and automations of this topic that it has not been in yet.',
  'unsubscribes.lift.topic.not':
    'The address stays unsubscribed from other topics, does not return to automations it has exited, and gets nothing that was sent in the meantime.',
  'unsubscribes.lift.topic.text':
    'This contact unsubscribed from the topic. Resubscribe them only if they asked for it. The consent log records that you did it.',
  'unsubscribes.lift.topic.do': 'Resubscribe',
  'unsubscribes.lift.suppressions.title': 'Remove this suppression?',
  'unsubscribes.lift.suppressions.means':
    'The address can get mail again, beginning with the next campaign to one of its lists or segments.',
  'unsubscribes.lift.suppressions.not':
    'Contacts who unsubscribed from all mail or a topic stay unsubscribed, and e-mails that bounced are not sent again.',
  'unsubscribes.lift.suppressions.text':
    'If mail bounces again, the address is suppressed again, and mail providers may trust your domain less.',
  'unsubscribes.lift.complaint':
    'This contact marked your e-mail as spam. Writing to them again unasked harms your domain’s reputation, and is against the law in many countries.',
  'unsubscribes.lift.asked': 'This contact asked me to send e-mails again',
  'unsubscribes.lift.suppressions.do': 'Remove suppression',
  'unsubscribes.topics.name': 'Topic',
  'unsubscribes.topics.description': 'Description',
  'unsubscribes.topics.count': 'Unsubscribed',
  'unsubscribes.topics.empty.title': 'No topics yet',
  'unsubscribes.topics.empty.text':
    'A topic is a kind of mail, such as news or offers. Contacts can unsubscribe from it without unsubscribing from everything.',
  'unsubscribes.inactive.about':
    'These contacts did nothing for a long time, although e-mails arrived. Whoever opens or clicks an e-mail, confirms a sign-up with a form or changes a preference is active again.',
  'unsubscribes.inactive.empty.title': 'No inactive contacts',
  'unsubscribes.inactive.empty.text':
    'Contacts the rule finds appear here. Open the rule to preview whom it would find.',
  'unsubscribes.did': 'What was done',
  'unsubscribes.lift.inactive.title': 'Reactivate this contact?',
  'unsubscribes.lift.inactive.means':
    'The address gets campaigns again, and can enter automations it has not been in yet.',
  'unsubscribes.lift.inactive.not':
    'The address is not removed from a segment or moved back, and gets nothing that was sent in the meantime.',
  'unsubscribes.lift.inactive.text':
    'For the rule the contact counts as active today, so the months without activity start over.',
  'unsubscribes.lift.inactive.do': 'Reactivate',
  'inactive.rule.on': 'The rule is on.',
  'inactive.rule.off': 'The rule is off: nobody counts as inactive.',
  'inactive.rule.months': {
    one: 'It finds contacts who did nothing for {count} month',
    other: 'It finds contacts who did nothing for {count} months',
  },
  'inactive.rule.mails': {
    one: 'and received at least {count} e-mail in that time.',
    other: 'and received at least {count} e-mails in that time.',
  },
  'inactive.rule.missing': 'The rule’s segment or list was deleted, so it does nothing. Choose another.',
  'inactive.rule.open': 'Rule and history',
  'inactive.rule.title': 'Inactive contacts: rule',
  'inactive.rule.heading': 'Rule',
  'inactive.rule.about':
    'Contacts who never react hurt your domain’s reputation. The rule runs every day. Opens and clicks by bots do not count.',
  'inactive.stopped': {
    one: '{count} contact gets no campaigns because of the rule.',
    other: '{count} contacts get no campaigns because of the rule.',
  },
  'inactive.months': 'Months without activity',
  'inactive.mails': 'Minimum number of e-mails received in that time',
  'inactive.mails.hint': 'Counts only e-mails that at least one contact opened or clicked.',
  'inactive.do': 'What happens to inactive contacts',
  'inactive.do.stop': 'Send no campaigns until the contact is active again',
  'inactive.do.segment': 'Add to the segment {name}',
  'inactive.do.move': 'Move to the list {name}',
  'inactive.show': 'Preview whom the rule finds',
  'inactive.switchOn': 'Turn on',
  'inactive.save': 'Save',
  'inactive.switchOff': 'Turn off',
  'inactive.owners': 'Only owners can change the rule.',
  'inactive.count': { one: 'The rule finds {count} contact now.', other: 'The rule finds {count} contacts now.' },
  'inactive.soFar': {
    one: 'The rule has found {count} contact so far.',
    other: 'The rule has found {count} contacts so far.',
  },
  'inactive.changed': 'The rule was changed after this preview. Check whom the rule finds now, then turn it on.',
  'inactive.days': 'History',
  'inactive.days.none': 'Nothing yet.',
  'inactive.day': 'Day (UTC)',
  'inactive.day.stopped': 'No more campaigns',
  'inactive.day.moved': 'Moved',
  'inactive.day.lifted': 'Active again',
  'inactive.lift.title': 'Reactivate all',
  'inactive.lift.all': { one: 'Reactivate {count} contact', other: 'Reactivate {count} contacts' },
  'inactive.lift.question': 'Reactivate all of them?',
  'inactive.lift.means':
    'For the rule these contacts count as active today, so the months without activity start over.',
  'inactive.done.on': 'The rule is on and runs for the first time now.',
  'inactive.done.off':
    'The rule is off. Contacts who got no campaigns because of the rule still get none until they are active again or you reactivate them.',
  'inactive.done.lifted': 'Within seconds these contacts can get mail again.',
  'topics.new': 'New topic',
  'topics.change': 'Edit topic',
  'topics.edit': 'Edit',
  'topics.editOne': 'Edit {name}',
  'topics.save': 'Save topic',
  'topics.saved': 'The topic “{name}” was saved.',
  'topics.name': 'Name',
  'topics.name.hint':
    'Conditions in e-mails find the topic by its name. If you change the name, change it in these conditions, too.',
  'topics.description.hint': 'Shown on the preferences page.',
  'topics.display': 'Show on the preferences page',
  'topics.delete': 'Delete topic',
  'topics.deleted': 'The topic was deleted.',
  'topics.delete.title': 'Delete the topic “{name}”?',
  'topics.delete.stays':
    'The topic can no longer be chosen for e-mails. Links in sent e-mails keep working, and unsubscribes from the topic stay recorded.',
  'topics.delete.people': {
    one: 'One contact has unsubscribed from this topic.',
    other: '{count} contacts have unsubscribed from this topic.',
  },
  'topics.used.title': 'This topic cannot be deleted yet',
  'topics.used.mailings': {
    one: 'One unfinished campaign uses this topic.',
    other: '{count} unfinished campaigns use this topic.',
  },
  'topics.used.automations': { one: 'One automation uses this topic.', other: '{count} automations use this topic.' },
  'topics.used.cure':
    'Choose another topic for these campaigns and automations, or delete them. To hide this topic from the preferences page, untick the box above.',
} as const;
