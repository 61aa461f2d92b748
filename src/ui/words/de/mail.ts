/** German: a mail shown in a page. */
import type { mail as english } from '../en/mail.ts';
import type { Translation } from '../translation.ts';

export const mail: Translation<typeof english> = {
  'mail.note':
    'Bilder Ihrer Bibliothek werden gezeigt, andere nur auf Wunsch geladen. Links führen nirgendwohin. Nichts hier zählt als Öffnung.',
  'mail.images': 'Bilder von anderswo laden',
  'mail.desktop': 'Computer',
  'mail.phone': 'Telefon',
  'mail.plainText': 'Reiner Text',
  'mail.noText': 'Diese Mail hat keine Nur-Text-Fassung.',
  'mail.textCut': {
    one: 'Das erste von {all} Zeichen.',
    other: 'Die ersten {count} von {all} Zeichen.',
  },
};
