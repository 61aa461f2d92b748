/** English: custom fields. */

export const fields = {
  'settings.fields': 'Custom fields',
  'settings.done.fieldAdded': 'The field is added.',
  'settings.done.fieldRenamed': 'The field is renamed.',
  'settings.done.fieldDeleted': 'The field is deleted.',
  'fields.none.title': 'No custom fields yet',
  'fields.none.text': 'A custom field holds something you know about people, such as the day they joined.',
  'fields.add': 'Add a field',
  'fields.name.hint': 'Letters without accents, digits and _. Spaces become _.',
  'fields.kind': 'Kind',
  'fields.kind.text': 'Text',
  'fields.kind.number': 'Number',
  'fields.kind.datetime-local': 'Date',
  'fields.inMails': 'In mails',
  'fields.rename': 'Rename',
  'fields.rename.about':
    'A name can be changed while no mail that is not finished, template, saved block or segment uses it. What the field holds stays. Mails that were sent no longer show it in the browser, and files to import need the new name. The kind cannot be changed.',
  'fields.delete': 'Delete the field',
  'fields.delete.title': 'Delete “{name}”?',
  'fields.delete.values': 'What it holds about people is deleted, and mails that show it show nothing there.',
  'fields.delete.segments': {
    one: '{count} segment has a rule about it: it keeps the people it has, and nothing is sent to it.',
    other: '{count} segments have a rule about it: they keep the people they have, and nothing is sent to them.',
  },
} as const;
