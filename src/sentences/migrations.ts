/** The sentences on moving here from another service, with their codes; part of those in sentences.ts. */

export const MIGRATION_SENTENCES = {
  // What is wrong with the file of an export.
  file_not_export: 'The file must be a file of type: zip, csv, json.',
  archive_broken: 'The ZIP archive is damaged, encrypted, or of a kind that cannot be read.',
  archive_entries: 'The ZIP archive has more than {count} files.',
  archive_large: 'The ZIP archive unpacks to more than {count} MB.',
  export_json: 'This file is not JSON: {name}',
  export_json_large: 'JSON files of more than {count} MB are not read: export in parts, in one ZIP archive. {name}',

  // What an export has, and what was done with those who left.
  export_empty: 'Nobody was found in the file. Is it an export of {name}?',
  export_nobody_left:
    'This file names nobody who unsubscribed or bounced. If there are such people at {name}, export them too, before you send: they would get mail.',
  export_lists: 'Only the first {count} lists become segments; the others are in the field of each person.',
  migrated_all: 'Left there, and unsubscribed from all mail here: {count}, of them not yet before: {added}',
  migrated_group:
    'Left a list there, and unsubscribed from the group {name} here: {count}, of them not yet before: {added}',
  migrated_bounce: 'Bounced there, and suppressed here: {count}, of them not yet before: {added}',
  migrated_complaint: 'Complained there, and suppressed here: {count}, of them not yet before: {added}',
  tracking_imported: 'As the file {name} says, which was imported',
  tracking_import_undone: 'An import that said otherwise was undone',
  migrated_diagnostic: 'taken over from {name}',
} as const;
