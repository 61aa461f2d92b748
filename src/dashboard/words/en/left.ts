/** English: Left and blocked. */

export const left = {
  'left.all': 'All mail',
  'left.group': 'Groups',
  'left.blocked': 'Blocked',
  'left.all.about': 'They asked for no more mail at all. Nothing is sent to them, from no mailing and no automation.',
  'left.group.about': 'They left this group and get none of its mailings. Mail of other groups still reaches them.',
  'left.blocked.about':
    'Mail to these addresses bounced, which means that it came back for good, or the person reported it as spam. They are left out, so that your domain keeps its good name.',
  'left.all.empty.title': 'Nobody has left',
  'left.all.empty.text': 'Whoever unsubscribes from all mail appears here at once, with the day.',
  'left.group.empty.title': 'Nobody has left this group',
  'left.group.empty.text': 'Whoever unsubscribes from mailings of this group appears here at once.',
  'left.blocked.empty.title': 'No address is blocked',
  'left.blocked.empty.text': 'Addresses whose mail comes back for good, and those who report spam, appear here.',
  'left.search': 'Whole e-mail address',
  'left.find': 'Find',
  'left.none': '{email} is not on this list.',
  'left.address': 'Address',
  'left.reason': 'Reason',
  'left.diagnostic': 'What the mail server said',
  'left.since': 'Since',
  'left.action': 'Action',
  'left.kind.bounce': 'Bounced',
  'left.kind.complaint': 'Complaint',
  'left.lifted': '{email} can get mail again, as far as this list is concerned.',
  'left.lift': 'Allow again',
  'left.lift.of': 'Allow again: {email}',
  'left.lift.cancel': 'Leave as it is',
  'left.lift.all.title': 'Send to this person again?',
  'left.lift.stays.all':
    'This address is also on the list of those who left all mail. Until it is taken off there, it still gets none.',
  'left.lift.stays.blocked': 'This address is also blocked. Until it is unblocked, it still gets no mail.',
  'left.lift.all.means':
    'The address can get mail again: mailings to the lists and segments it is in, and automations it has not been in yet.',
  'left.lift.all.not':
    'It stays out of the groups it left one by one and of the automations it dropped out of, and gets nothing that was sent in the meantime.',
  'left.lift.all.text':
    'This person asked for no more mail. Do this only if they asked for it: mail to people who have unsubscribed is against the law in many countries. The consent log keeps that you did it.',
  'left.lift.all.do': 'Take off the list',
  'left.lift.group.title': 'Put this person back into the group?',
  'left.lift.group.means':
    'The address can get the mailings of this group again, and its automations if it has not been in them yet.',
  'left.lift.group.not':
    'It stays out of other groups it left and of the automations it dropped out of, and gets nothing that was sent in the meantime.',
  'left.lift.group.text':
    'This person left the group. Bring them back only if they asked for it. The consent log keeps that you did it.',
  'left.lift.group.do': 'Bring back',
  'left.lift.blocked.title': 'Send to this address again?',
  'left.lift.blocked.means': 'The next mailing to a contact type or segment it is in goes to this address again.',
  'left.lift.blocked.not':
    'It brings nobody back who unsubscribed, neither from all mail nor from a group, and sends nothing again that came back.',
  'left.lift.blocked.text':
    'If mail comes back again, the address is blocked again, and mail services may trust your domain less.',
  'left.lift.blocked.do': 'Unblock',
  'left.groups.name': 'Group',
  'left.groups.description': 'Description',
  'left.groups.count': 'People who left',
  'left.groups.empty.title': 'No groups yet',
  'left.groups.empty.text':
    'A group is a kind of mail that people can leave without leaving all mail, such as news or offers.',
} as const;
