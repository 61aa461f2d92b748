/** German: transactional mail. */
import type { Translation } from '../ui/words/translation.ts';
import type { transactional as english } from './words.en.ts';

export const transactional: Translation<typeof english> = {
  'transactional.title': 'Transaktionsmails',
  'transactional.empty.title': 'Noch keine Transaktionsmails',
  'transactional.empty.text':
    'Belege, Anmeldelinks und Hinweise, die Ihre Programme an einzelne Kontakte senden, erscheinen hier mit ihrem Status.',
  'transactional.search': 'Vollständige E-Mail-Adresse',
  'transactional.noneHere': 'Bisher kein Treffer. Die nächste Seite durchsucht ältere Mails.',
  'transactional.attempts': 'Versuche',
  'transactional.next': 'Nächster Versuch',
  'transactional.asked': 'Angefordert',
  'transactional.changed': 'Letzte Änderung',
  'transactional.complained': 'Als Spam gemeldet',
  'transactional.files': 'Dateien',
  'transactional.id': 'Message-ID',
  'transactional.all': 'Alle Transaktionsmails',
  'transactional.kept':
    'Text und Dateien werden entfernt, sobald eine Mail ihren endgültigen Status hat, außer wenn Sie Mails 90 Tage aufbewahren (Einstellungen › Mail-Prüfung & Links). Diese Seite bleibt 90 Tage.',
};
