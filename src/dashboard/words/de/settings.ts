/** German: the settings. */
import type { settings as english } from '../en/settings.ts';
import type { Translation } from '../translation.ts';

export const settings: Translation<typeof english> = {
  'settings.brand': 'Marke',
  'settings.done.brandSaved': 'Die Marke ist gespeichert. Neue Bausteine und die Auswahl beim Gestalten haben sie.',
  'settings.tracking': 'Öffnungen und Klicks',
  'tracking.question': 'Was möchten Sie über Öffnungen und Klicks erfahren?',
  'tracking.off': 'Nichts',
  'tracking.off.text': 'Mails haben kein Zählpixel, und ihre Links führen direkt ans Ziel.',
  'tracking.totals': 'Nur, wie viele es waren',
  'tracking.totals.text': 'Zählpixel und Links sind für alle gleich. Es wird nichts gespeichert, was sagt, wer es war.',
  'tracking.person': 'Wer geöffnet und geklickt hat',
  'tracking.person.text': 'Bei allen, außer wer es auf der Seite mit den eigenen Einstellungen ablehnt.',
  'tracking.consent': 'Wer geöffnet und geklickt hat, bei denen, die es erlauben',
  'tracking.consent.text':
    'Erlaubt wird es auf der Seite mit den eigenen Einstellungen. Alle anderen bekommen Mails ohne Zählpixel, deren Links direkt ans Ziel führen.',
  'tracking.about':
    'Ihre Wahl gilt sofort: für Mails, die ab jetzt hinausgehen, und für Öffnungen und Klicks in Mails, die schon angekommen sind.',
  'tracking.save': 'Speichern',
};
