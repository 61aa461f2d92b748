/** German: the templates of an account. */
import type { Translation } from '../dashboard/words/translation.ts';
import type { templates as english } from './words.en.ts';

export const templates: Translation<typeof english> = {
  'templates.new': 'Neue Vorlage',
  'templates.about':
    'Eine Mail, die aus einer dieser Vorlagen entsteht, bekommt eine Kopie davon: Was Sie hier später ändern, ändert keine Mail.',
  'templates.empty.title': 'Noch keine eigenen Vorlagen',
  'templates.empty.text':
    'Behalten Sie eine Mail als Vorlage oder gestalten Sie hier eine, und beginnen Sie die nächsten Mails damit. Die mitgelieferten Vorlagen stehen daneben zur Wahl.',
  'templates.name': 'Name der Vorlage',
  'templates.none': 'Keine Vorlage passt dazu.',
  'templates.changed': 'Geändert am {day}',
  'templates.looks': 'So sieht die Vorlage aus',
  'templates.new.about': 'Sie gestalten sie im nächsten Schritt.',
  'templates.new.ofMail': 'Der Inhalt der Mail wird kopiert. Die Mail selbst bleibt, wie sie ist.',
  'templates.begin': 'Beginnen mit',
  'templates.blank': 'Einer leeren Mail',
  'templates.create': 'Vorlage anlegen',
  'templates.added': 'Die Vorlage „{name}“ wurde angelegt.',
  'templates.renamed': 'Die Vorlage wurde umbenannt.',
  'templates.deleted': 'Die Vorlage wurde gelöscht.',
  'templates.back': 'Zurück zur Vorlage',
  'templates.frame': 'Gestaltung dieser Vorlage',
  'templates.placeholders': 'Platzhalter wie ((first_name)) werden beim Versand ausgefüllt.',
  'templates.rename': 'Umbenennen',
  'templates.mailing': 'Neues Mailing damit',
  'templates.duplicate': 'Duplizieren',
  'templates.copyName': 'Kopie von {name}',
  'templates.delete': 'Vorlage löschen',
  'templates.delete.title': 'Diese Vorlage löschen?',
  'templates.delete.text':
    'Sie wird für neue Mails nicht mehr angeboten. Mails, die aus ihr entstanden sind, bleiben, wie sie sind.',
  'templates.keep': 'Als Vorlage behalten',
  'templates.own': 'Ihre Vorlagen',
  'templates.builtIn': 'Mitgelieferte Vorlagen',
};
