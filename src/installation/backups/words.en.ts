/** English: backups and restoring, in the settings. */

export const backup = {
  'settings.backup': 'Backup',
  'settings.done.backupDropped': 'The uploaded backup was discarded. Nothing has changed.',
  'backup.make.title': 'Make a backup',
  'backup.make.text':
    'The file contains everything as it is now: contacts, e-mails, images, settings, and your DKIM keys. Store it on another disk, where nobody else can read it. The download may take a minute to start.',
  'backup.make.submit': 'Download backup',
  'restore.title': 'Restore a backup',
  'restore.text':
    'Choose a backup to see what it would bring back and what would be lost. Nothing changes before you confirm.',
  'restore.file': 'Backup',
  'restore.file.hint':
    'A file that was downloaded here or made with the command “sendlark backup”. Its name ends in .db.',
  'restore.look': 'Upload and compare',
  'restore.question': 'Restore this backup?',
  'restore.file.name': 'File',
  'restore.made': 'Made',
  'restore.unknown': 'The file does not say',
  'restore.inside': 'In the backup',
  'restore.now': 'Here now',
  'restore.both': '{people}, {mailings}',
  'restore.people': { one: '{count} contact', other: '{count} contacts' },
  'restore.mailings': { one: '{count} campaign', other: '{count} campaigns' },
  'restore.lost': 'What was added since will be lost: {lost}.',
  'restore.nothing': 'No contact and no campaign was added since. Changes to existing ones will be lost.',
  'restore.other': 'This backup is from another installation. Everything here will be lost: {lost}.',
  'restore.left': {
    one: '{count} address was unsubscribed or suppressed since. The backup does not know that: note the address now (the newest are first under “Unsubscribes & suppressions”), and unsubscribe it again after restoring, before you resume sending.',
    other:
      '{count} addresses were unsubscribed or suppressed since. The backup does not know that: note the addresses now (the newest are first under “Unsubscribes & suppressions”), and unsubscribe them again after restoring, before you resume sending.',
  },
  'restore.held': 'Sending is paused afterwards, until you resume it: the backup does not know who got mail since.',
  'restore.signIn':
    'Sendlark restarts. Everybody has to sign in again, with their password from the time of the backup.',
  'restore.kept': 'The current data is saved on the server first, in a file with the day in its name.',
  'restore.submit': 'Restore this backup',
  'restore.confirm': 'Replace everything with this backup?',
  'restore.drop': 'Discard',
  'restore.waiting.title': 'The backup is being restored',
  'restore.waiting.text': 'Sendlark restarts. This takes some seconds; then you can sign in.',
  'restore.waiting.signIn': 'Sign in',
} as const;
