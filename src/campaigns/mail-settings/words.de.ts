/** German: the settings for the check, the language and the links of mails, and for keeping mails as they were sent. */

import type { Translation } from '../../ui/words/translation.ts';
import type { mailSettings as english } from './words.en.ts';

export const mailSettings: Translation<typeof english> = {
  'settings.mails': 'Mail-Prüfung & Links',
  'settings.done.mailsSaved': 'Gespeichert. Die Änderung gilt für Kampagnen, die ab jetzt starten.',
  'settings.done.sentMailsSaved': 'Gespeichert. Die Änderung gilt für Mails, die ab jetzt gesendet werden.',
  'mailSettings.save': 'Speichern',
  'mailSettings.check.title': 'Prüfung vor dem Versand',
  'mailSettings.check.about':
    'Jede Kampagne wird geprüft, wenn sie startet; ihr Bericht zeigt, was gefunden wurde. Eine Kampagne aus dem Dashboard wird dadurch nie angehalten.',
  'mailSettings.check.stops':
    'Eine Kampagne anhalten, die ein anderes Programm sendet (API), wenn die Prüfung einen Fehler findet',
  'mailSettings.language.title': 'Sprache',
  'mailSettings.language.about':
    'Die Sprache Ihrer Mails. Hat eine Kampagne Fassungen in mehreren Sprachen, bekommen Kontakte, deren Sprache nicht bekannt ist, die Fassung in dieser Sprache.',
  'mailSettings.links.title': 'Link-Parameter (UTM)',
  'mailSettings.links.about':
    'An diesen Parametern erkennt Ihre Webstatistik, etwa Google Analytics, welche Besuche von einer Kampagne kommen. Links, die schon solche Parameter haben oder mit ihnen nicht mehr funktionieren würden, und Links auf Seiten von Sendlark bleiben, wie sie sind. Berichte zeigen Links ohne diese Parameter.',
  'mailSettings.links.source.hint': 'Zum Beispiel newsletter. Leer: Links bekommen keine Parameter.',
  'mailSettings.sent.about':
    'Sendlark kann jede Mail 90 Tage lang aufbewahren, sodass Sie sie genau so ansehen und herunterladen können, wie sie an einen Kontakt ging. Von Mails aus Kampagnen und Automationen bewahrt Sendlark dann die Werte des Kontakts auf, die darin standen, von Transaktionsmails den ganzen Text mit allen Links, auch solchen zum Anmelden. Alles wird nach 90 Tagen gelöscht oder sobald der Kontakt endgültig gelöscht wird.',
  'mailSettings.sent.keep': 'Mails 90 Tage so aufbewahren, wie sie gesendet wurden',
};
