/** English: the frequency cap, the sending hours, the best hour and local time of a contact, and auto-pause. */

export const times = {
  'settings.times': 'Frequency cap & sending hours',
  'settings.done.windowSaved': 'The sending hours were saved and apply from now on.',
  'settings.done.capsSaved': 'The frequency cap was saved and applies from the next e-mail on.',
  'caps.title': 'Frequency cap',
  'caps.about':
    'A contact gets at most this many e-mails from all campaigns and automations together. A campaign skips contacts who reached the cap; an e-mail of an automation waits up to a week and is then skipped. Transactional e-mail does not count.',
  'caps.number': 'Cap {number}',
  'caps.mails': 'E-mails, at most',
  'caps.days': 'In how many days',
  'caps.hint': 'Today counts as a day. Empty: no cap.',
  'caps.save': 'Save frequency cap',
  'caps.field': 'Frequency cap',
  'caps.holds': 'Skip contacts who reached the cap',
  'caps.ignored': 'Ignore the cap',
  'caps.holds.automation': 'Wait until the cap allows another e-mail',
  'caps.ignored.automation': 'Ignore the cap',
  'window.title': 'Sending hours',
  'window.about':
    'Campaigns and automations send only on these days, at these hours ({zone}). Anything due at another time waits. If no day is chosen, mail is sent at any time. Transactional e-mail, tests and confirmations are always sent.',
  'window.days': 'Days',
  'window.from': 'From',
  'window.to': 'Until',
  'window.save': 'Save sending hours',
  'window.waits': 'Waiting for the sending hours: sending continues {time} ({zone}).',
  'window.now': 'This is outside the sending hours. Sending continues {time} ({zone}).',
  'window.booked': '{time} ({zone}) is outside the sending hours. Sending starts {opens}.',
  'local.option': 'Each contact’s own time zone',
  'local.known':
    'Time zone known: {known}. Unknown or ambiguous: {others}; these contacts get the campaign at that time in {zone}.',
  'local.about':
    'The content and the recipients can no longer change once it is that time anywhere in the world. Contacts whose time has passed by then get the campaign at once.',
  'local.is': 'Scheduled for {time} in each contact’s own time zone.',
  'local.done':
    'Scheduled for {time} in each contact’s own time zone. You can change the campaign until {first} ({zone}), when the first contacts reach that time.',
  'local.doneNow':
    'Scheduled for {time} in each contact’s own time zone. Contacts whose time has passed get the campaign now.',
  'local.waits': {
    one: '{count} contact gets the campaign at their own time: {last} ({zone}).',
    other: '{count} contacts get the campaign at their own times: the next {next}, the last {last} ({zone}).',
  },
  'best.option': 'Each contact’s best hour, within 24 hours',
  'best.unknown':
    'No opens or clicks are known yet, so everybody gets the campaign at the time above. Later campaigns can use what is recorded until then.',
  'best.known': {
    one: 'Within 24 hours of the time above, each contact gets the campaign at the hour at which they usually read. Opened or clicked recent e-mails: {known} of {count} contact; the others get the usual hour of their list. Most frequent hours ({zone}): {hours}. One in ten gets it at the time above, so that the report can say whether the hours helped.',
    other:
      'Within 24 hours of the time above, each contact gets the campaign at the hour at which they usually read. Opened or clicked recent e-mails: {known} of the first {count} contacts; the others get the usual hour of their list. Most frequent hours ({zone}): {hours}. One in ten gets it at the time above, so that the report can say whether the hours helped.',
  },
  'best.hour': '{hour} ({share})',
  'best.is': 'Scheduled for {time} ({zone}); each contact gets the campaign at their best hour within 24 hours.',
  'best.done':
    'Scheduled for {time} ({zone}). Each contact gets the campaign at their best hour in the 24 hours after that.',
  'best.title': 'Best hour compared with the scheduled time',
  'best.atHour': { one: 'Best hour ({count} contact)', other: 'Best hour ({count} contacts)' },
  'best.atStart': { one: 'Scheduled time ({count} contact)', other: 'Scheduled time ({count} contacts)' },
  'best.difference': 'Difference',
  'best.early': 'Too early: the comparison starts on {day}',
  'best.more': 'Between {low} and {high} percentage points more at the best hour',
  'best.less': 'Between {low} and {high} percentage points less at the best hour',
  'best.none': 'No difference seen: between {low} percentage points less and {high} percentage points more',
  'holding.title': 'Auto-pause',
  'holding.on': 'Every campaign pauses automatically when its results are bad.',
  'holding.off': 'Only campaigns with a first batch pause automatically.',
  'holding.about': 'A campaign pauses and waits for your decision after too many:',
  'holding.bounces': 'bounces: more than {share}, at least {least}',
  'holding.failed': 'failed e-mails: more than {share}, at least {least}',
  'holding.complaints': 'complaints: more than {share}, at least {least}',
  'holding.chance':
    'A campaign is checked once {least} of its e-mails were delivered, bounced or failed. It pauses only if the high share cannot be chance.',
  'holding.switchOn': 'Turn on for every campaign',
  'holding.switchOff': 'Limit to campaigns with a first batch',
  'holding.isOn': 'From now on every campaign pauses when its results are bad.',
  'holding.isOff': 'From now on only campaigns with a first batch pause automatically.',
  'holding.refused': 'Not changed: {reason}',
} as const;
