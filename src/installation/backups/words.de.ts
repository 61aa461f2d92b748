/** German: backups and restoring, in the settings. */

import type { Translation } from '../../ui/words/translation.ts';
import type { backup as english } from './words.en.ts';

export const backup: Translation<typeof english> = {
  'settings.backup': 'Sicherung',
  'settings.done.backupDropped': 'Die hochgeladene Sicherung wurde verworfen. Nichts hat sich geändert.',
  'backup.make.title': 'Sicherung erstellen',
  'backup.make.text':
    'Die Datei enthält alles, wie es jetzt ist: Kontakte, Mails, Bilder, Einstellungen und Ihre DKIM-Schlüssel. Bewahren Sie sie auf einer anderen Festplatte auf, wo niemand sonst sie lesen kann. Der Download beginnt womöglich erst nach einer Minute.',
  'backup.make.submit': 'Sicherung herunterladen',
  'restore.title': 'Sicherung wiederherstellen',
  'restore.text':
    'Wählen Sie eine Sicherung, um zu sehen, was sie zurückbringt und was verloren geht. Nichts ändert sich, bevor Sie bestätigen.',
  'restore.file': 'Sicherung',
  'restore.file.hint':
    'Eine Datei, die hier heruntergeladen oder mit dem Befehl „sendlark backup“ erstellt wurde. Der Dateiname endet auf .db.',
  'restore.look': 'Hochladen und vergleichen',
  'restore.question': 'Diese Sicherung wiederherstellen?',
  'restore.file.name': 'Datei',
  'restore.made': 'Erstellt',
  'restore.unknown': 'Steht nicht in der Datei',
  'restore.inside': 'In der Sicherung',
  'restore.now': 'Jetzt hier',
  'restore.both': '{people}, {mailings}',
  'restore.people': { one: '{count} Kontakt', other: '{count} Kontakte' },
  'restore.mailings': { one: '{count} Kampagne', other: '{count} Kampagnen' },
  'restore.lost': 'Was seither dazukam, geht verloren: {lost}.',
  'restore.nothing': 'Seither kamen kein Kontakt und keine Kampagne dazu. Änderungen an vorhandenen gehen verloren.',
  'restore.other': 'Diese Sicherung stammt von einer anderen Installation. Alles hier geht verloren: {lost}.',
  'restore.left': {
    one: '{count} Adresse wurde seither abgemeldet oder gesperrt. Die Sicherung weiß das nicht: Notieren Sie die Adresse jetzt (unter „Abmeldungen & Sperren“ stehen die neuesten zuerst), und melden Sie sie nach dem Wiederherstellen wieder ab, bevor Sie den Versand fortsetzen.',
    other:
      '{count} Adressen wurden seither abgemeldet oder gesperrt. Die Sicherung weiß das nicht: Notieren Sie die Adressen jetzt (unter „Abmeldungen & Sperren“ stehen die neuesten zuerst), und melden Sie sie nach dem Wiederherstellen wieder ab, bevor Sie den Versand fortsetzen.',
  },
  'restore.held':
    'Danach ist der Versand pausiert, bis Sie ihn fortsetzen: Die Sicherung weiß nicht, wer seither Mails bekam.',
  'restore.signIn': 'Sendlark startet neu. Alle müssen sich neu anmelden, mit dem Passwort aus der Zeit der Sicherung.',
  'restore.kept': 'Die jetzigen Daten werden vorher auf dem Server gesichert, in einer Datei mit dem Tag im Namen.',
  'restore.submit': 'Diese Sicherung wiederherstellen',
  'restore.confirm': 'Alles durch diese Sicherung ersetzen?',
  'restore.drop': 'Verwerfen',
  'restore.waiting.title': 'Die Sicherung wird wiederhergestellt',
  'restore.waiting.text': 'Sendlark startet neu. Das dauert einige Sekunden; dann können Sie sich anmelden.',
  'restore.waiting.signIn': 'Anmelden',
};
