/** German: a mail shown in a page. */
import type { mail as english } from '../en/mail.ts';
import type { Translation } from '../translation.ts';

export const mail: Translation<typeof english> = {
  'mail.note':
    'Bilder Ihrer Bibliothek sind zu sehen; solche von anderswo werden nur auf Wunsch geladen, und Links führen nirgendwohin. Nichts hier zählt als Öffnung.',
  'mail.images': 'Bilder von anderswo laden',
  'mail.desktop': 'Am Schreibtisch',
  'mail.phone': 'Am Telefon',
  'mail.plainText': 'Reiner Text',
  'mail.noText': 'Diese Mail hat keinen reinen Text.',
  'mail.textCut': {
    one: 'Das erste von {all} Zeichen.',
    other: 'Die ersten {count} von {all} Zeichen.',
  },
};
