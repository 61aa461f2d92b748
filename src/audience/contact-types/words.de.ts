/** German: contact types. */
import type { Translation } from '../../dashboard/words/translation.ts';
import type { types as english } from './words.en.ts';

export const types: Translation<typeof english> = {
  'settings.types': 'Kontakttypen',
  'settings.done.typeAdded': 'Der Kontakttyp ist hinzugefügt.',
  'settings.done.typeRenamed': 'Der Kontakttyp hat einen neuen Namen.',
  'settings.done.typeDeleted': 'Der Kontakttyp und seine Personen sind gelöscht.',
  'types.none.title': 'Noch keine Kontakttypen',
  'types.none.text': 'Ein Kontakttyp ist eine Liste von Personen, zum Beispiel Leser oder Kunden.',
  'types.about':
    'Ein Kontakttyp ist eine Liste von Personen, zum Beispiel Leser oder Kunden. Jemand kann in mehreren stehen.',
  'types.add': 'Kontakttyp hinzufügen',
  'types.rename': 'Umbenennen',
  'types.delete': { one: 'Mit {count} Person löschen', other: 'Mit {count} Personen löschen' },
  'types.delete.title': '„{name}“ löschen?',
  'types.delete.people': {
    one: 'Auch die {count} Person darin wird gelöscht. Das lässt sich nicht rückgängig machen.',
    other: 'Auch die {count} Personen darin werden gelöscht. Das lässt sich nicht rückgängig machen.',
  },
  'types.delete.segments': {
    one: '{count} Segment ist ein Teil davon und wird leer.',
    other: '{count} Segmente sind Teile davon und werden leer.',
  },
};
