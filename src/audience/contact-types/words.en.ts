/** English: contact types. */

export const types = {
  'settings.types': 'Contact types',
  'settings.done.typeAdded': 'The contact type is added.',
  'settings.done.typeRenamed': 'The contact type has a new name.',
  'settings.done.typeDeleted': 'The contact type and its people are deleted.',
  'types.none.title': 'No contact types yet',
  'types.none.text': 'A contact type is a list of people, such as readers or customers.',
  'types.about': 'A contact type is a list of people, such as readers or customers. Somebody can be in several.',
  'types.add': 'Add a contact type',
  'types.rename': 'Rename',
  'types.delete': { one: 'Delete with {count} person', other: 'Delete with {count} people' },
  'types.delete.title': 'Delete “{name}”?',
  'types.delete.people': {
    one: 'The {count} person in it is deleted too. This cannot be undone.',
    other: 'The {count} people in it are deleted too. This cannot be undone.',
  },
  'types.delete.segments': {
    one: '{count} segment is made of it and will be empty.',
    other: '{count} segments are made of it and will be empty.',
  },
} as const;
