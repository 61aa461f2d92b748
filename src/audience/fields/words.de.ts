/** German: custom fields. */
import type { Translation } from '../../dashboard/words/translation.ts';
import type { fields as english } from './words.en.ts';

export const fields: Translation<typeof english> = {
  'settings.fields': 'Eigene Felder',
  'settings.done.fieldAdded': 'Das Feld ist hinzugefügt.',
  'settings.done.fieldRenamed': 'Das Feld ist umbenannt.',
  'settings.done.fieldDeleted': 'Das Feld ist gelöscht.',
  'fields.none.title': 'Noch keine eigenen Felder',
  'fields.none.text':
    'In einem eigenen Feld steht, was Sie über Personen wissen, zum Beispiel seit wann jemand Kunde ist.',
  'fields.add': 'Feld hinzufügen',
  'fields.name.hint': 'Buchstaben ohne Umlaute und Akzente, Ziffern und _. Leerzeichen werden zu _.',
  'fields.kind': 'Art',
  'fields.kind.text': 'Text',
  'fields.kind.number': 'Zahl',
  'fields.kind.datetime-local': 'Datum',
  'fields.inMails': 'In Mails',
  'fields.rename': 'Umbenennen',
  'fields.rename.about':
    'Der Name lässt sich ändern, solange ihn keine unfertige Mail, keine Vorlage, kein aufgehobener Baustein und kein Segment verwendet. Der Inhalt des Feldes bleibt. Gesendete Mails zeigen ihn im Browser nicht mehr, und Dateien für den Import brauchen den neuen Namen. Die Art lässt sich nicht ändern.',
  'fields.delete': 'Feld löschen',
  'fields.delete.title': '„{name}“ löschen?',
  'fields.delete.values':
    'Was darin über Personen steht, wird gelöscht. Mails, die es zeigen, zeigen an dieser Stelle nichts mehr.',
  'fields.delete.segments': {
    one: '{count} Segment hat eine Regel dazu: Es behält seine Personen, und an es wird nichts gesendet.',
    other: '{count} Segmente haben eine Regel dazu: Sie behalten ihre Personen, und an sie wird nichts gesendet.',
  },
};
