/** German: the public archive. */

import type { Translation } from '../dashboard/words/translation.ts';
import type { archive as english } from './words.en.ts';

export const archive: Translation<typeof english> = {
  'settings.archive': 'Archiv',
  'settings.done.archiveSaved':
    'Gespeichert. Das Archiv hat seine neue Adresse; unter der bisherigen ist es nicht mehr zu finden.',
  'archive.about':
    'Mails, die Sie ins Archiv aufnehmen, kann jeder lesen, auf einer Seite mit Feed. Aufnehmen und herausnehmen können Sie sie im Bericht des Mailings.',
  'archive.page': 'Seite',
  'archive.mails': { one: 'Dort ist {count} Mail zu lesen.', other: 'Dort sind {count} Mails zu lesen.' },
  'archive.none': 'Noch gibt es keine Seite: Sie beginnt mit der ersten Mail.',
  'archive.title': 'Titel',
  'archive.title.hint': 'Er steht über der Liste. Ohne ihn heißt sie „Mail-Archiv“ in der Sprache des Lesers.',
  'archive.slug': 'Name in der Adresse',
  'archive.slug.hint':
    '3 bis 60 Kleinbuchstaben, Ziffern und Bindestriche, etwa lark-books. Links auf die bisherige Adresse führen dann ins Leere.',
  'archive.mail': 'Öffentliches Archiv',
  'archive.mail.off': 'Es ist nicht im Archiv: Nur wer es bekommen hat, kann es lesen.',
  'archive.mail.waits': 'Es ist im Archiv. Jeder kann es lesen, sobald alles verschickt ist.',
  'archive.mail.on': 'Jeder kann es lesen, ohne die Angaben einzelner Empfänger:',
  'archive.mail.add': 'Ins Archiv aufnehmen',
  'archive.mail.remove': 'Herausnehmen',
  'archive.mail.remove.title': 'Diese Mail aus dem Archiv nehmen?',
  'archive.mail.remove.text':
    'Ihre Seite ist dann nicht mehr zu finden; Zwischenspeicher können sie noch 5 Minuten haben. Nehmen Sie sie wieder auf, bekommt sie eine andere Adresse.',
  'archive.done.added': 'Es ist im Archiv.',
  'archive.done.removed': 'Es ist nicht mehr im Archiv.',
};
