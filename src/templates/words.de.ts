/** German: the templates of an account. */
import type { Translation } from '../ui/words/translation.ts';
import type { templates as english } from './words.en.ts';

export const templates: Translation<typeof english> = {
  'templates.new': 'Neue Vorlage',
  'templates.about':
    'Eine Kampagne bekommt ihre eigene Kopie einer Vorlage. Was Sie hier später ändern, ändert die Kampagne nicht.',
  'templates.empty.title': 'Noch keine eigenen Vorlagen',
  'templates.empty.text':
    'Speichern Sie eine Mail als Vorlage oder gestalten Sie hier eine. Die mitgelieferten Vorlagen stehen daneben zur Wahl.',
  'templates.name': 'Name der Vorlage',
  'templates.none': 'Keine Vorlage passt dazu.',
  'templates.changed': 'Geändert am {day}',
  'templates.looks': 'Vorschau',
  'templates.new.about': 'Sie gestalten die Vorlage im nächsten Schritt.',
  'templates.new.ofMail': 'Der Inhalt der Mail wird kopiert. Die Mail selbst bleibt, wie sie ist.',
  'templates.begin': 'Beginnen mit',
  'templates.create': 'Vorlage anlegen',
  'templates.added': 'Die Vorlage „{name}“ wurde angelegt.',
  'templates.renamed': 'Die Vorlage wurde umbenannt.',
  'templates.deleted': '„{name}“ wurde gelöscht.',
  'templates.undeleted': '„{name}“ ist wieder da.',
  'templates.back': 'Zurück zur Vorlage',
  'templates.frame': 'Designer dieser Vorlage',
  'templates.placeholders': 'Platzhalter wie ((first_name)) werden beim Senden ausgefüllt.',
  'templates.rename': 'Umbenennen',
  'templates.mailing': 'In neuer Kampagne verwenden',
  'templates.duplicate': 'Duplizieren',
  'templates.copyName': 'Kopie von {name}',
  'templates.delete': 'Vorlage löschen',
  'templates.delete.title': '„{name}“ löschen?',
  'templates.delete.text':
    'Die Vorlage wird für neue Mails nicht mehr angeboten; Mails, die aus ihr entstanden sind, bleiben, wie sie sind. Feeds, Fassungen in anderen Sprachen und A/B-Varianten, die die Vorlage verwenden, brauchen eine andere. Programme, die Transaktionsmails aus der Vorlage senden (Nummer {id}), können das dann nicht mehr. Gleich danach können Sie es rückgängig machen.',
  'templates.keep': 'Als Vorlage speichern',
  'templates.own': 'Ihre Vorlagen',
  'templates.builtIn': 'Mitgelieferte Vorlagen',
  'templates.name.blank': 'Leere Mail',
  'templates.name.newsletter': 'Newsletter',
  'templates.name.announcement': 'Ankündigung',
  'templates.name.welcome': 'Willkommen',
  'templates.name.product': 'Produkt',
  'templates.name.event': 'Einladung',
  'templates.name.promotion': 'Angebot',
  'templates.name.notice': 'Hinweis',
  'templates.name.letter': 'Brief',
};
