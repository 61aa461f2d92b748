/** German: the public archive. */

import type { Translation } from '../../ui/words/translation.ts';
import type { archive as english } from './words.en.ts';

export const archive: Translation<typeof english> = {
  'settings.archive': 'Öffentliches Archiv',
  'settings.done.archiveSaved':
    'Gespeichert. Das öffentliche Archiv hat jetzt seine neue Adresse; die alte funktioniert nicht mehr.',
  'archive.about':
    'Kampagnen im öffentlichen Archiv kann jeder lesen, auf einer Seite mit RSS-Feed. Aufnehmen und entfernen können Sie sie im Bericht der Kampagne.',
  'archive.page': 'Seite',
  'archive.mails': { one: 'Dort ist {count} Kampagne zu lesen.', other: 'Dort sind {count} Kampagnen zu lesen.' },
  'archive.none': 'Es gibt noch keine Seite. Sie erscheint mit der ersten Kampagne, die Sie aufnehmen.',
  'archive.title': 'Titel',
  'archive.title.hint': 'Die Überschrift der Seite. Leer: „Mail-Archiv“ in der Sprache des Lesers.',
  'archive.slug': 'Name in der Adresse',
  'archive.slug.hint':
    '3 bis 60 Kleinbuchstaben, Ziffern und Bindestriche, etwa lark-books. Nach einer Änderung funktionieren Links auf die alte Adresse nicht mehr.',
  'archive.mail': 'Öffentliches Archiv',
  'archive.mail.off': 'Nicht im öffentlichen Archiv: Nur die Empfänger können die Kampagne lesen.',
  'archive.mail.waits': 'Im öffentlichen Archiv. Jeder kann die Kampagne lesen, sobald sie vollständig gesendet ist.',
  'archive.mail.on': 'Jeder kann die Kampagne lesen, ohne Daten Ihrer Kontakte:',
  'archive.mail.add': 'Ins öffentliche Archiv aufnehmen',
  'archive.mail.remove': 'Aus dem öffentlichen Archiv entfernen',
  'archive.mail.remove.title': 'Diese Kampagne aus dem öffentlichen Archiv entfernen?',
  'archive.mail.remove.text':
    'Die Seite der Kampagne ist spätestens nach 5 Minuten nicht mehr erreichbar. Nehmen Sie die Kampagne wieder auf, bekommt sie eine neue Adresse.',
  'archive.done.added': 'Die Kampagne ist im öffentlichen Archiv.',
  'archive.done.removed': 'Die Kampagne wurde aus dem öffentlichen Archiv entfernt.',
};
