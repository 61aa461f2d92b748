/** German: a mail shown in a page. */
import type { mailFrames as english } from '../en/mail-frames.ts';
import type { Translation } from '../translation.ts';

export const mailFrames: Translation<typeof english> = {
  'mail.note':
    'Bilder aus Ihrer Bibliothek werden angezeigt, andere auf Wunsch geladen. Links sind hier ohne Funktion, und nichts zählt als Öffnung.',
  'mail.images': 'Bilder von anderswo laden',
  'mail.desktop': 'Computer',
  'mail.phone': 'Handy',
  'mail.plainText': 'Nur Text',
  'mail.noText': 'Diese Mail hat keine Nur-Text-Fassung.',
  'mail.textCut': {
    one: 'Das erste von {all} Zeichen.',
    other: 'Die ersten {count} von {all} Zeichen.',
  },
};
