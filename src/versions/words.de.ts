/** German: the versions of a mail. */

import type { Translation } from '../dashboard/words/translation.ts';
import type { versions as english } from './words.en.ts';

export const versions: Translation<typeof english> = {
  'versions.open': 'Frühere Fassungen',
  'versions.about':
    'Die letzten 20 Gestaltungen dieser Mail. Was dieselbe Person innerhalb von fünf Minuten speichert, ist eine Fassung; eine Vorlage zu wählen oder eine Fassung zurückzuholen beginnt immer eine neue.',
  'versions.empty.title': 'Noch keine früheren Fassungen',
  'versions.empty.text': 'Wenn die Gestaltung dieser Mail geändert wird, finden Sie hier, wie sie vorher war.',
  'versions.nobody': 'durch ein Programm oder mit dem Link zur Gestaltung',
  'versions.now': 'Die Mail, wie sie jetzt ist',
  'versions.restore': 'Diese Fassung zurückholen',
  'versions.restore.title': 'Diese Fassung zurückholen?',
  'versions.restore.text':
    'Die Mail bekommt ihre Gestaltung vom {when}. Die jetzige bleibt in dieser Liste, sodass Sie es rückgängig machen können.',
  'versions.restored': 'Die Fassung wurde zurückgeholt.',
  'versions.back.designer': 'Zurück zur Gestaltung',
};
