/** German: what is learnt of opens and clicks. */
import type { Translation } from '../../dashboard/words/translation.ts';
import type { tracking as english } from './words.en.ts';

export const tracking: Translation<typeof english> = {
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
