/** English: unsubscribed and suppressed addresses, unsubscribe groups, and the rule about inactive people. */

export const left = {
  'unsubscribes.all': 'All mail',
  'unsubscribes.topic': 'Groups',
  'unsubscribes.suppressions': 'Blocked',
  'unsubscribes.inactive': 'Inactive',
  'unsubscribes.all.about':
    'They asked for no more mail at all. Nothing is sent to them, from no mailing and no automation.',
  'unsubscribes.topic.about':
    'They left this group and get none of its mailings. Mail of other groups still reaches them.',
  'unsubscribes.suppressions.about':
    'Mail to these addresses bounced, which means that it came back for good, or the person reported it as spam. They are left out, so that your domain keeps its good name.',
  'unsubscribes.all.empty.title': 'Nobody has left',
  'unsubscribes.all.empty.text': 'Whoever unsubscribes from all mail appears here at once, with the day.',
  'unsubscribes.topic.empty.title': 'Nobody has left this group',
  'unsubscribes.topic.empty.text': 'Whoever unsubscribes from mailings of this group appears here at once.',
  'unsubscribes.suppressions.empty.title': 'No address is blocked',
  'unsubscribes.suppressions.empty.text':
    'Addresses whose mail comes back for good, and those who report spam, appear here.',
  'unsubscribes.search': 'Whole e-mail address',
  'unsubscribes.find': 'Find',
  'unsubscribes.none': '{email} is not on this list.',
  'unsubscribes.address': 'Address',
  'unsubscribes.reason': 'Reason',
  'unsubscribes.diagnostic': 'What the mail server said',
  'unsubscribes.since': 'Since',
  'unsubscribes.action': 'Action',
  'unsubscribes.kind.bounce': 'Bounced',
  'unsubscribes.kind.complaint': 'Complaint',
  'unsubscribes.lifted': '{email} can get mail again, as far as this list is concerned.',
  'unsubscribes.lift': 'Allow again',
  'unsubscribes.lift.of': 'Allow again: {email}',
  'unsubscribes.lift.cancel': 'Leave as it is',
  'unsubscribes.lift.all.title': 'Send to this person again?',
  'unsubscribes.lift.stays.all':
    'This address is also on the list of those who left all mail. Until it is taken off there, it still gets none.',
  'unsubscribes.lift.stays.suppressions': 'This address is also blocked. Until it is unblocked, it still gets no mail.',
  'unsubscribes.lift.all.means':
    'The address can get mail again: mailings to the lists and segments it is in, and automations it has not been in yet.',
  'unsubscribes.lift.all.not':
    'It stays out of the groups it left one by one and of the automations it dropped out of, and gets nothing that was sent in the meantime.',
  'unsubscribes.lift.all.text':
    'This person asked for no more mail. Do this only if they asked for it: mail to people who have unsubscribed is against the law in many countries. The consent log keeps that you did it.',
  'unsubscribes.lift.all.do': 'Take off the list',
  'unsubscribes.lift.topic.title': 'Put this person back into the group?',
  'unsubscribes.lift.topic.means':
    'The address can get the mailings of this group again, and its automations if it has not been in them yet.',
  'unsubscribes.lift.topic.not':
    'It stays out of other groups it left and of the automations it dropped out of, and gets nothing that was sent in the meantime.',
  'unsubscribes.lift.topic.text':
    'This person left the group. Bring them back only if they asked for it. The consent log keeps that you did it.',
  'unsubscribes.lift.topic.do': 'Bring back',
  'unsubscribes.lift.suppressions.title': 'Send to this address again?',
  'unsubscribes.lift.suppressions.means':
    'The next mailing to a contact type or segment it is in goes to this address again.',
  'unsubscribes.lift.suppressions.not':
    'It brings nobody back who unsubscribed, neither from all mail nor from a group, and sends nothing again that came back.',
  'unsubscribes.lift.suppressions.text':
    'If mail comes back again, the address is blocked again, and mail services may trust your domain less.',
  'unsubscribes.lift.complaint':
    'This person marked your mail as spam. Writing to them again without their wish harms the trust in your domain, and is against the law in many countries.',
  'unsubscribes.lift.asked': 'This person asked me to write to them again',
  'unsubscribes.lift.suppressions.do': 'Unblock',
  'unsubscribes.topics.name': 'Group',
  'unsubscribes.topics.description': 'Description',
  'unsubscribes.topics.count': 'People who left',
  'unsubscribes.topics.empty.title': 'No groups yet',
  'unsubscribes.topics.empty.text':
    'A group is a kind of mail that people can leave without leaving all mail, such as news or offers.',
  'unsubscribes.inactive.about':
    'They have done nothing for long, although mails arrived. Whoever opens a mail, clicks in one, confirms a form or changes a choice is taken off by itself.',
  'unsubscribes.inactive.empty.title': 'Nobody is inactive',
  'unsubscribes.inactive.empty.text':
    'Whom the rule finds appears here, with what was done. Look at the rule to see whom it would find.',
  'unsubscribes.did': 'What was done',
  'unsubscribes.lift.inactive.title': 'Send to this person again?',
  'unsubscribes.lift.inactive.means':
    'The address gets mailings again, and can enter automations it has not been in yet.',
  'unsubscribes.lift.inactive.not':
    'It is not taken out of a segment or moved back, and gets nothing that was sent in the meantime.',
  'unsubscribes.lift.inactive.text':
    'The rule counts this as something the person did today, so that it leaves them alone for as many months as it has.',
  'unsubscribes.lift.inactive.do': 'Send again',
  'inactive.rule.on': 'The rule is on.',
  'inactive.rule.off': 'The rule is off: nobody is found inactive.',
  'inactive.rule.months': {
    one: 'It finds who has done nothing for {count} month',
    other: 'It finds who has done nothing for {count} months',
  },
  'inactive.rule.mails': {
    one: 'and got at least {count} mail in that time.',
    other: 'and got at least {count} mails in that time.',
  },
  'inactive.rule.missing': 'The segment or contact type of the rule was deleted, so it does nothing. Choose another.',
  'inactive.rule.open': 'Rule and what it did',
  'inactive.rule.title': 'Rule about inactive people',
  'inactive.rule.heading': 'The rule',
  'inactive.rule.about':
    'People who never react harm the trust in your domain. This rule is applied each day. Opens and clicks of machines do not count.',
  'inactive.stopped': {
    one: '{count} person gets no mailings because of it.',
    other: '{count} people get no mailings because of it.',
  },
  'inactive.months': 'Months without doing anything',
  'inactive.mails': 'Mails they got in that time, at least',
  'inactive.mails.hint': 'Only mails in which at least one person opened or clicked.',
  'inactive.do': 'What happens with them',
  'inactive.do.stop': 'No more mailings, until they act again',
  'inactive.do.segment': 'Add to the segment {name}',
  'inactive.do.move': 'Move to the contact type {name}',
  'inactive.show': 'Show whom it finds now',
  'inactive.switchOn': 'Switch the rule on',
  'inactive.save': 'Change the rule',
  'inactive.switchOff': 'Switch the rule off',
  'inactive.owners': 'Only owners change the rule.',
  'inactive.count': { one: 'It finds {count} person now.', other: 'It finds {count} people now.' },
  'inactive.atLeast': { one: 'It finds at least {count} person now.', other: 'It finds at least {count} people now.' },
  'inactive.changed': 'The rule was changed after this was shown. Look at whom it finds now, then switch it on.',
  'inactive.days': 'What it did',
  'inactive.days.none': 'Nothing yet.',
  'inactive.day': 'Day (UTC)',
  'inactive.day.stopped': 'Stopped',
  'inactive.day.moved': 'Put elsewhere',
  'inactive.day.lifted': 'Get mail again',
  'inactive.lift.title': 'Let everybody get mail again',
  'inactive.lift.all': { one: 'Send to {count} person again', other: 'Send to {count} people again' },
  'inactive.lift.question': 'Send to all of them again?',
  'inactive.lift.means':
    'The rule counts this as something they did today. It leaves them alone for as many months as it has.',
  'inactive.done.on': 'The rule is on. It is being applied for the first time.',
  'inactive.done.off': 'The rule is off. Who was stopped stays so until they act again or you let them go.',
  'inactive.done.lifted': 'They get mail again, within seconds.',
  'topics.new': 'New group',
  'topics.change': 'Change the group',
  'topics.edit': 'Change',
  'topics.editOne': 'Change {name}',
  'topics.save': 'Save the group',
  'topics.saved': 'The group “{name}” is saved.',
  'topics.description.hint': 'People read it on the page where they choose what they get.',
  'topics.display': 'Show it on the page where people choose what they get',
  'topics.delete': 'Delete the group',
  'topics.deleted': 'The group was deleted.',
  'topics.delete.title': 'Delete the group “{name}”?',
  'topics.delete.stays':
    'It can no longer be chosen for mails. Links in mails that were sent go on working, and who left it stays recorded.',
  'topics.delete.people': {
    one: 'One person has left it.',
    other: '{count} people have left it.',
  },
  'topics.used.title': 'This group cannot be deleted yet',
  'topics.used.mailings': {
    one: 'One mailing that is not finished uses it.',
    other: '{count} mailings that are not finished use it.',
  },
  'topics.used.automations': { one: 'One automation uses it.', other: '{count} automations use it.' },
  'topics.used.cure':
    'Choose another group there, or delete them. To take this one off the page where people choose what they get, untick it above.',
} as const;
