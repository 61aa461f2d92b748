/** German: the picture library. */

import type { Translation } from '../dashboard/words/translation.ts';
import type { pictures as english } from './words.en.ts';

export const pictures: Translation<typeof english> = {
  'images.file': 'Bilder hinzufügen',
  'images.file.hint':
    'PNG, JPEG, GIF oder WebP, je bis zu 5 MiB. Wählen Sie sie aus, ziehen Sie sie hierher oder fügen Sie sie ein; breite werden auf 1.600 Pixel verkleinert. WebP zeigt nicht jedes Mailprogramm.',
  'images.add': 'Hinzufügen',
  'images.added': '„{name}“ wurde hinzugefügt.',
  'images.known': 'Dieses Bild gibt es hier schon, als „{name}“.',
  'images.sending': 'Wird hinzugefügt:',
  'images.failed': 'Es konnte nicht gesendet werden. Bitte versuchen Sie es noch einmal.',
  'images.done': 'Die Bilder wurden hinzugefügt.',
  'images.some': 'Nicht alle Bilder wurden hinzugefügt. Die Gründe stehen unter dem Formular.',
  'images.empty.title': 'Noch keine Bilder',
  'images.empty.text':
    'Bilder, die Sie hier hinzufügen, können Sie in jeder Mail verwenden. Wer die Mail öffnet, lädt sie von diesem Dienst.',
  'images.search': 'Name oder Alternativtext',
  'images.none': 'Kein Bild passt dazu.',
  'images.copy': 'Adresse kopieren',
  'images.copied': 'Kopiert',
  'images.uses.none': 'Nicht verwendet',
  'images.uses.mailings': { one: 'In {count} Mailing', other: 'In {count} Mailings' },
  'images.uses.automations': { one: 'In {count} Mail einer Automation', other: 'In {count} Mails von Automationen' },
  'images.uses.blocks': { one: 'In {count} aufgehobenen Baustein', other: 'In {count} aufgehobenen Bausteinen' },
  'images.uses.brand': 'Das Logo',
  'images.uses.templates': { one: 'In {count} Vorlage', other: 'In {count} Vorlagen' },
  'images.uses.sent': { one: '{count}-mal gesendet', other: '{count}-mal gesendet' },
  'images.uses.first': {
    one: 'Die erste Verwendung ist aufgeführt.',
    other: 'Die ersten {count} sind aufgeführt.',
  },
  'images.use.single_send': 'Mailing, wie es jetzt ist',
  'images.use.automation_mail': 'Automation, wie sie jetzt ist',
  'images.use.template': 'Vorlage, wie sie jetzt ist',
  'images.use.block': 'aufgehobener Baustein',
  'images.use.brand': 'als Logo',
  'images.use.sent_mail': 'gesendet',
  'images.use.sent': 'gesendet am {day}',
  'images.one': 'Bild',
  'images.address': 'Adresse für Mails',
  'images.address.hint': 'Wer diese Adresse hat, kann das Bild sehen. Sie ändert sich nie.',
  'images.texts': 'Name und Text',
  'images.alt': 'Alternativtext',
  'images.alt.hint': 'Was anstelle des Bildes vorgelesen oder gezeigt wird.',
  'images.saved': 'Das Bild wurde gespeichert.',
  'images.where': 'Wo es verwendet wird',
  'images.keep.sent':
    'Dieses Bild wurde gesendet und kann deshalb nicht gelöscht werden: Wer die Mail hat, lädt es weiterhin von hier, auch wenn Sie das Mailing löschen.',
  'images.keep.used': 'Dieses Bild kann gelöscht werden, sobald keine Mail und keine Vorlage es mehr enthält.',
  'images.delete': 'Bild löschen',
  'images.delete.title': 'Dieses Bild löschen?',
  'images.delete.text':
    'Seine Adresse funktioniert sofort nicht mehr. Kein Mailing, keine Automation und keine Vorlage enthält es.',
  'images.deleted': 'Das Bild wurde gelöscht.',
};
