/** German: mails as sent. */

import type { Translation } from '../../ui/words/translation.ts';
import type { sentMails as english } from './words.en.ts';

export const sentMails: Translation<typeof english> = {
  'sentMails.title': 'Mail, wie sie gesendet wurde',
  'sentMails.about': 'Genau diese Mail wurde an diesen Kontakt gesendet. Das Ansehen zählt nicht als Öffnung.',
  'sentMails.back': 'Zurück zur Mail',
  'sentMails.download': 'Herunterladen (.eml)',
  'sentMails.views': 'Ansichten der Mail',
};
