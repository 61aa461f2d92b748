/** German: the versions of a mail. */

import type { Translation } from '../../ui/words/translation.ts';
import type { versions as english } from './words.en.ts';

export const versions: Translation<typeof english> = {
  'versions.open': 'Frühere Fassungen',
  'versions.about':
    'Die letzten 20 Fassungen dieser Mail. Änderungen eines Benutzers innerhalb von fünf Minuten sind eine Fassung; wer eine Vorlage wählt oder eine Fassung wiederherstellt, beginnt eine neue.',
  'versions.empty.title': 'Noch keine früheren Fassungen',
  'versions.empty.text': 'Frühere Fassungen dieser Mail erscheinen hier.',
  'versions.nobody': 'durch ein Programm oder mit einem Link zum Designer',
  'versions.now': 'Jetzige Fassung',
  'versions.restore': 'Diese Fassung wiederherstellen',
  'versions.restore.title': 'Diese Fassung wiederherstellen?',
  'versions.restore.text':
    'Die Mail bekommt ihre Gestaltung vom {when} zurück. Die jetzige Gestaltung bleibt in dieser Liste, sodass Sie es rückgängig machen können.',
  'versions.restored': 'Die Fassung wurde wiederhergestellt.',
  'versions.back.designer': 'Zurück zum Designer',
};
