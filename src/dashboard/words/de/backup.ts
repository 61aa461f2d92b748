/** German: backups and restoring, in the settings. */
import type { backup as english } from '../en/backup.ts';
import type { Translation } from '../translation.ts';

export const backup: Translation<typeof english> = {
  'settings.backup': 'Sicherung',
};
