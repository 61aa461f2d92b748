/** German: the image library. */

import type { Translation } from '../../ui/words/translation.ts';
import type { pictures as english } from './words.en.ts';

export const pictures: Translation<typeof english> = {
  'images.file': 'Bilder hinzufügen',
  'images.file.hint':
    'PNG, JPEG, GIF oder WebP, je bis zu 5 MB. Wählen Sie Dateien, ziehen Sie sie hierher oder fügen Sie sie ein. Breite Bilder werden auf 1.600 Pixel verkleinert. Nicht jedes Mailprogramm zeigt WebP.',
  'images.add': 'Hinzufügen',
  'images.added': '„{name}“ wurde hinzugefügt.',
  'images.known': 'Dieses Bild gibt es in der Bibliothek schon, als „{name}“.',
  'images.sending': 'Wird hinzugefügt:',
  'images.failed': 'Das Hochladen schlug fehl. Bitte versuchen Sie es noch einmal.',
  'images.done': 'Die Bilder wurden hinzugefügt.',
  'images.some': 'Nicht alle Bilder wurden hinzugefügt. Die Gründe stehen unter dem Formular.',
  'images.empty.title': 'Noch keine Bilder',
  'images.empty.text': 'Bilder, die Sie hier hinzufügen, können Sie in jeder Mail verwenden.',
  'images.search': 'Name oder Alternativtext',
  'images.none': 'Kein Bild passt dazu.',
  'images.copy': 'Adresse kopieren',
  'images.copied': 'Kopiert',
  'images.uses.none': 'Nicht verwendet',
  'images.uses.mailings': { one: 'In {count} Kampagne', other: 'In {count} Kampagnen' },
  'images.uses.automations': { one: 'In {count} Mail einer Automation', other: 'In {count} Mails von Automationen' },
  'images.uses.blocks': { one: 'In {count} gespeicherten Baustein', other: 'In {count} gespeicherten Bausteinen' },
  'images.uses.brand': 'Logo',
  'images.uses.templates': { one: 'In {count} Vorlage', other: 'In {count} Vorlagen' },
  'images.uses.sent': { one: '{count}-mal gesendet', other: '{count}-mal gesendet' },
  'images.uses.first': {
    one: 'Die erste Verwendung ist aufgeführt.',
    other: 'Die ersten {count} sind aufgeführt.',
  },
  'images.use.single_send': 'Kampagne, aktuelle Fassung',
  'images.use.automation_mail': 'Automation, aktuelle Fassung',
  'images.use.template': 'Vorlage, aktuelle Fassung',
  'images.use.block': 'gespeicherter Baustein',
  'images.use.brand': 'als Logo',
  'images.use.sent_mail': 'gesendet',
  'images.use.sent': 'gesendet am {day}',
  'images.one': 'Bild',
  'images.address': 'Webadresse zur Verwendung in Mails',
  'images.address.hint': 'Wer diese Adresse hat, kann das Bild sehen. Sie ändert sich nie.',
  'images.texts': 'Name und Alternativtext',
  'images.alt': 'Alternativtext',
  'images.alt.hint': 'Wird vorgelesen und erscheint, wo das Bild nicht geladen wird.',
  'images.saved': 'Das Bild wurde gespeichert.',
  'images.where': 'Verwendet in',
  'images.keep.sent':
    'Dieses Bild wurde gesendet und kann deshalb nicht gelöscht werden: Empfänger laden es weiterhin von hier, auch wenn Sie die Kampagne löschen.',
  'images.keep.used': 'Dieses Bild kann gelöscht werden, sobald keine Mail und keine Vorlage es mehr enthält.',
  'images.delete': 'Bild löschen',
  'images.delete.title': 'Dieses Bild löschen?',
  'images.delete.text':
    'Die Adresse des Bildes funktioniert sofort nicht mehr. Keine Kampagne, keine Automation und keine Vorlage enthält es.',
  'images.deleted': 'Das Bild wurde gelöscht.',
};
