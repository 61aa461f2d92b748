/** English: holding mailings because of their results. */

export const holding = {
  'holding.title': 'When results are bad',
  'holding.on': 'Every mailing is held by itself when its results are bad.',
  'holding.off': 'Only a mailing that goes to a first part of its people before the others is held by itself.',
  'holding.about': 'Nobody else gets it until you have decided. It is held when there are too many:',
  'holding.bounces': 'bounces: more than {share}, {least} at least',
  'holding.failed': 'refusals: more than {share}, {least} at least',
  'holding.complaints': 'complaints: more than {share}, {least} at least',
  'holding.chance': 'Results count from the first {least} on, and a share must be too high beyond chance.',
  'holding.switchOn': 'Hold every mailing with bad results',
  'holding.switchOff': 'Hold only mailings with a first part',
  'holding.isOn': 'From now on every mailing is held when its results are bad.',
  'holding.isOff': 'From now on only mailings with a first part are held.',
  'holding.refused': 'Not changed: {reason}',
} as const;
