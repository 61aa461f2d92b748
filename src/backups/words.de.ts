/** German: backups and restoring, in the settings. */

import type { Translation } from '../dashboard/words/translation.ts';
import type { backup as english } from './words.en.ts';

export const backup: Translation<typeof english> = {
  'settings.backup': 'Sicherung',
  'settings.done.backupDropped': 'Die hochgeladene Sicherung wurde verworfen. Nichts hat sich geändert.',
  'backup.make.title': 'Sicherung machen',
  'backup.make.text':
    'Die Datei enthält alles, wie es in diesem Moment ist: Personen, Mails, Bilder, Einstellungen und die Schlüssel, die Mails unterschreiben. Bewahren Sie sie auf einer anderen Platte auf, so sicher wie diesen Dienst. Es kann eine Minute dauern, bis der Download beginnt.',
  'backup.make.submit': 'Sicherung machen und herunterladen',
  'restore.title': 'Sicherung zurückspielen',
  'restore.text':
    'Wählen Sie eine Sicherung, um zu sehen, was sie zurückbringt und was verloren geht. Nichts ändert sich, bevor Sie es bestätigen.',
  'restore.file': 'Sicherung',
  'restore.file.hint':
    'Eine Datei, die hier heruntergeladen oder mit sendlark backup gemacht wurde. Ihr Name endet auf .db.',
  'restore.look': 'Hochladen und vergleichen',
  'restore.question': 'Diese Sicherung zurückspielen?',
  'restore.file.name': 'Datei',
  'restore.made': 'Gemacht',
  'restore.unknown': 'Steht nicht in der Datei',
  'restore.inside': 'In der Sicherung',
  'restore.now': 'Jetzt hier',
  'restore.both': '{people}, {mailings}',
  'restore.people': { one: '{count} Person', other: '{count} Personen' },
  'restore.mailings': { one: '{count} Mailing', other: '{count} Mailings' },
  'restore.lost': 'Was seither dazukam, geht verloren: {lost}.',
  'restore.nothing':
    'Seither kamen keine Person und kein Mailing dazu. Änderungen an denen, die es gibt, gehen verloren.',
  'restore.other': 'Diese Sicherung stammt von einer anderen Installation. Alles hier geht verloren: {lost}.',
  'restore.left': {
    one: '{count} Adresse hat sich seither abgemeldet oder wurde gesperrt. Die Sicherung weiß das nicht: Melden Sie sie wieder ab, bevor Sie den Versand freigeben.',
    other:
      '{count} Adressen haben sich seither abgemeldet oder wurden gesperrt. Die Sicherung weiß das nicht: Melden Sie sie wieder ab, bevor Sie den Versand freigeben.',
  },
  'restore.held':
    'Danach ist der Versand angehalten, bis Sie ihn freigeben: Die Sicherung weiß nicht, wer seither Mail bekam.',
  'restore.signIn': 'Der Dienst startet neu. Alle müssen sich neu anmelden, mit dem Passwort von damals.',
  'restore.kept': 'Was jetzt hier ist, bleibt in einer Datei neben der Datenbank, mit dem Tag im Namen.',
  'restore.submit': 'Diese Sicherung zurückspielen',
  'restore.confirm': 'Alles durch diese Sicherung ersetzen?',
  'restore.drop': 'Nicht zurückspielen',
  'restore.waiting.title': 'Die Sicherung wird zurückgespielt',
  'restore.waiting.text': 'Der Dienst startet neu. Das dauert einige Sekunden; dann können Sie sich anmelden.',
  'restore.waiting.signIn': 'Anmelden',
};
