/** English: backups and restoring, in the settings. */

export const backup = {
  'settings.backup': 'Backup',
} as const;
