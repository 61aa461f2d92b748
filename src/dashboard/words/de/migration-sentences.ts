/** German: the sentences on moving here from another service. */
import type { MIGRATION_SENTENCES } from '../../../sentences/migrations.ts';

export const migrationSentences: Readonly<Record<keyof typeof MIGRATION_SENTENCES, string>> = {
  file_not_export: 'Die Datei muss eine ZIP-, CSV- oder JSON-Datei sein.',
  archive_broken: 'Das ZIP-Archiv ist beschädigt, verschlüsselt oder von einer Art, die sich nicht lesen lässt.',
  archive_entries: 'Das ZIP-Archiv hat mehr als {count} Dateien.',
  archive_large: 'Das ZIP-Archiv ist ausgepackt größer als {count} MB.',
  export_json: 'Diese Datei ist kein JSON: {name}',
  export_json_large:
    'JSON-Dateien über {count} MB werden nicht gelesen. Exportieren Sie in Teilen, in einem ZIP-Archiv. {name}',

  export_empty: 'In der Datei wurde niemand gefunden. Ist es ein Export von {name}?',
  export_nobody_left:
    'Diese Datei nennt niemanden, der sich abgemeldet hat oder unzustellbar war. Wenn es bei {name} solche Personen gibt, exportieren Sie auch sie, bevor Sie senden: Sie bekämen sonst Mails.',
  export_lists: 'Nur die ersten {count} Listen werden zu Segmenten. Die übrigen stehen im Feld jeder Person.',
  migrated_all: 'Dort abgemeldet, und hier von allen Mails abgemeldet: {count}, davon bisher noch nicht: {added}',
  migrated_group:
    'Dort von einer Liste abgemeldet, und hier von der Gruppe {name} abgemeldet: {count}, davon bisher noch nicht: {added}',
  migrated_bounce: 'Dort unzustellbar, und hier gesperrt: {count}, davon bisher noch nicht: {added}',
  migrated_complaint: 'Dort beschwert, und hier gesperrt: {count}, davon bisher noch nicht: {added}',
  tracking_imported: 'Nach der Datei {name}, die importiert wurde',
  tracking_import_undone: 'Ein Import, der anderes sagte, wurde rückgängig gemacht',
  migrated_diagnostic: 'übernommen von {name}',
};
