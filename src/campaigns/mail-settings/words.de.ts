/** German texts of what is done about mails before they are sent. */

import type { Translation } from '../../ui/words/translation.ts';
import type { mailSettings as english } from './words.en.ts';

export const mailSettings: Translation<typeof english> = {
  'settings.mails': 'Prüfung der Mails',
  'settings.done.mailsSaved': 'Gespeichert. Es gilt für Kampagnen, die ab jetzt starten.',
  'mailSettings.save': 'Speichern',
  'mailSettings.check.title': 'Prüfung vor dem Versand',
  'mailSettings.check.about':
    'Jede Kampagne wird geprüft, wenn sie startet; ihr Bericht zeigt, was gefunden wurde. Eine Kampagne aus dem Dashboard wird dadurch nie angehalten.',
  'mailSettings.check.stops':
    'Eine Kampagne anhalten, die ein anderes Programm sendet (API), wenn die Prüfung einen Fehler findet',
};
