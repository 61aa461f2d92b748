/** English: backups and restoring, in the settings. */

export const backup = {
  'settings.backup': 'Backup',
  'settings.done.backupDropped': 'The uploaded backup was dropped. Nothing has changed.',
  'backup.make.title': 'Make a backup',
  'backup.make.text':
    'The file holds everything as it is at this moment: people, mails, pictures, settings, and the keys that sign mail. Keep it on another disk, as safe as this service. It may take a minute until the download begins.',
  'backup.make.submit': 'Make and download a backup',
  'restore.title': 'Restore a backup',
  'restore.text':
    'Choose a backup to see what it would bring back and what would be lost. Nothing changes before you confirm it.',
  'restore.file': 'Backup',
  'restore.file.hint': 'A file that was downloaded here or made by sendlark backup. Its name ends in .db.',
  'restore.look': 'Upload and compare',
  'restore.question': 'Restore this backup?',
  'restore.file.name': 'File',
  'restore.made': 'Made',
  'restore.unknown': 'The file does not say',
  'restore.inside': 'In the backup',
  'restore.now': 'Here now',
  'restore.both': '{people}, {mailings}',
  'restore.people': { one: '{count} person', other: '{count} people' },
  'restore.mailings': { one: '{count} mailing', other: '{count} mailings' },
  'restore.lost': 'What was added since will be lost: {lost}.',
  'restore.nothing': 'No person and no mailing was added since. Changes to those there are will be lost.',
  'restore.other': 'This backup is of another installation. Everything here will be lost: {lost}.',
  'restore.left': {
    one: '{count} address has unsubscribed or was blocked since. The backup does not know that: unsubscribe it again before you let sending go on.',
    other:
      '{count} addresses have unsubscribed or were blocked since. The backup does not know that: unsubscribe them again before you let sending go on.',
  },
  'restore.held': 'Sending is held afterwards, until you let it go on: the backup does not know who got mail since.',
  'restore.signIn': 'The service starts again. Everybody has to sign in again, with the password of that time.',
  'restore.kept': 'What is here now is kept in a file beside the database, with the day in its name.',
  'restore.submit': 'Restore this backup',
  'restore.confirm': 'Replace everything by this backup?',
  'restore.drop': 'Do not restore it',
  'restore.waiting.title': 'The backup is being restored',
  'restore.waiting.text': 'The service starts again. This takes some seconds; then you can sign in.',
  'restore.waiting.signIn': 'Sign in',
} as const;
