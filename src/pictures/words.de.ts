/** German: the picture library. */

import type { Translation } from '../dashboard/words/translation.ts';
import type { pictures as english } from './words.en.ts';

export const pictures: Translation<typeof english> = {
  'pictures.file': 'Bilder hinzufügen',
  'pictures.file.hint':
    'PNG, JPEG, GIF oder WebP, je bis zu 5 MiB. Wählen Sie sie aus, ziehen Sie sie hierher oder fügen Sie sie ein; breite werden auf 1.600 Pixel verkleinert. WebP zeigt nicht jedes Mailprogramm.',
  'pictures.add': 'Hinzufügen',
  'pictures.added': '„{name}“ wurde hinzugefügt.',
  'pictures.known': 'Dieses Bild gibt es hier schon, als „{name}“.',
  'pictures.sending': 'Wird hinzugefügt:',
  'pictures.failed': 'Es konnte nicht gesendet werden. Bitte versuchen Sie es noch einmal.',
  'pictures.done': 'Die Bilder wurden hinzugefügt.',
  'pictures.some': 'Nicht alle Bilder wurden hinzugefügt. Die Gründe stehen unter dem Formular.',
  'pictures.empty.title': 'Noch keine Bilder',
  'pictures.empty.text':
    'Bilder, die Sie hier hinzufügen, können Sie in jeder Mail verwenden. Wer die Mail öffnet, lädt sie von diesem Dienst.',
  'pictures.search': 'Name oder Alternativtext',
  'pictures.none': 'Kein Bild passt dazu.',
  'pictures.copy': 'Adresse kopieren',
  'pictures.copied': 'Kopiert',
  'pictures.uses.none': 'Nicht verwendet',
  'pictures.uses.mailings': { one: 'In {count} Mailing', other: 'In {count} Mailings' },
  'pictures.uses.automations': { one: 'In {count} Mail einer Automation', other: 'In {count} Mails von Automationen' },
  'pictures.uses.blocks': { one: 'In {count} aufgehobenen Baustein', other: 'In {count} aufgehobenen Bausteinen' },
  'pictures.uses.brand': 'Das Logo',
  'pictures.uses.templates': { one: 'In {count} Vorlage', other: 'In {count} Vorlagen' },
  'pictures.uses.sent': { one: '{count}-mal gesendet', other: '{count}-mal gesendet' },
  'pictures.uses.first': {
    one: 'Die erste Verwendung ist aufgeführt.',
    other: 'Die ersten {count} sind aufgeführt.',
  },
  'pictures.use.single_send': 'Mailing, wie es jetzt ist',
  'pictures.use.automation_mail': 'Automation, wie sie jetzt ist',
  'pictures.use.template': 'Vorlage, wie sie jetzt ist',
  'pictures.use.block': 'aufgehobener Baustein',
  'pictures.use.brand': 'als Logo',
  'pictures.use.sent_mail': 'gesendet',
  'pictures.use.sent': 'gesendet am {day}',
  'pictures.one': 'Bild',
  'pictures.address': 'Adresse für Mails',
  'pictures.address.hint': 'Wer diese Adresse hat, kann das Bild sehen. Sie ändert sich nie.',
  'pictures.texts': 'Name und Text',
  'pictures.alt': 'Alternativtext',
  'pictures.alt.hint': 'Was anstelle des Bildes vorgelesen oder gezeigt wird.',
  'pictures.saved': 'Das Bild wurde gespeichert.',
  'pictures.where': 'Wo es verwendet wird',
  'pictures.keep.sent':
    'Dieses Bild wurde gesendet und kann deshalb nicht gelöscht werden: Wer die Mail hat, lädt es weiterhin von hier, auch wenn Sie das Mailing löschen.',
  'pictures.keep.used': 'Dieses Bild kann gelöscht werden, sobald keine Mail und keine Vorlage es mehr enthält.',
  'pictures.delete': 'Bild löschen',
  'pictures.delete.title': 'Dieses Bild löschen?',
  'pictures.delete.text':
    'Seine Adresse funktioniert sofort nicht mehr. Kein Mailing, keine Automation und keine Vorlage enthält es.',
  'pictures.deleted': 'Das Bild wurde gelöscht.',
};
