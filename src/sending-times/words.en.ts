/** English: how often and when mail leaves. */

export const times = {
  'settings.times': 'How often and when',
  'settings.done.windowSaved': 'The times were saved. They hold from now on.',
  'settings.done.capsSaved': 'The limits were saved. They hold from the next mail on.',
  'caps.title': 'Mails per person',
  'caps.about':
    'A person gets at most as many mails as you allow here, all mailings and automations together. A mailing leaves out whoever has had that many, and its report says so. A mail of an automation waits for up to a week and is then skipped. Transactional mail is neither limited nor counted.',
  'caps.number': 'Limit {number}',
  'caps.mails': 'Mails at most',
  'caps.days': 'Within so many days',
  'caps.hint': 'The present day counts as one. Empty: no limit.',
  'caps.save': 'Save limits',
  'caps.field': 'Limit of mails per person',
  'caps.holds': 'Leave out whoever has had that many',
  'caps.ignored': 'Send it to them, too',
  'caps.holds.automation': 'Wait until it allows another mail',
  'caps.ignored.automation': 'Send all mails at their time',
  'window.title': 'When mail leaves',
  'window.about':
    'Mailings and mails of automations leave only on these days, within these hours ({zone}). What is due at another time waits. Without a day, mail leaves at any time. Transactional mail, tests and confirmations always leave.',
  'window.days': 'Days',
  'window.from': 'From',
  'window.to': 'Until',
  'window.save': 'Save times',
  'window.waits': 'Mail leaves only at the times that the settings allow. It goes on {time} ({zone}).',
  'window.now': 'At this time mail does not leave. It goes on {time} ({zone}).',
  'window.booked': 'Scheduled for {time} ({zone}), when mail does not leave. It leaves from {opens} on.',
  'local.option': 'Own time zone of each person',
  'local.known':
    'Own time zone known: {known}. Not known, or a place with several: {others}; these get it by the clock of {zone}.',
  'local.about':
    'With own time zones, the mail and its people are fixed when the first place on earth reaches the time. Whoever is past it by then gets the mail at once.',
  'local.is': 'It is scheduled for {time}, by the own time zone of each person.',
  'local.done':
    'Scheduled for {time}, by the own time zone of each person. It can be changed until {first} ({zone}), when the first ones reach it.',
  'local.doneNow': 'Scheduled for {time}, by the own time zone of each person. Whoever is past it gets the mail now.',
  'local.waits': {
    one: '{count} person gets it later, by their own time zone: {last} ({zone}).',
    other: '{count} people get it later, by their own time zones: the next {next}, the last {last} ({zone}).',
  },
} as const;
