/** German: feeds that are sent as mail. */
import type { Translation } from '../dashboard/words/translation.ts';
import type { feeds as english } from './words.en.ts';

export const feeds: Translation<typeof english> = {
  'feeds.title': 'Feeds',
  'feeds.one': 'Zum Feed',
  'feeds.new': 'Neuer Feed',
  'feeds.empty.title': 'Noch keine Feeds',
  'feeds.empty.text':
    'Geben Sie die Adresse eines Feeds an, etwa eines Blogs: Was dort erscheint, geht von selbst hinaus, als Mail für jeden Eintrag oder als tägliche oder wöchentliche Sammlung.',
  'feeds.lacking.title': 'Vorher fehlt noch etwas',
  'feeds.lacking.text':
    'Mails eines Feeds brauchen Kontakte, einen Absender und eine Abmeldegruppe. Verfassen Sie einmal ein Mailing: Es fragt nach dem, was fehlt.',
  'feeds.state': 'Status',
  'feeds.state.active': 'Aktiv',
  'feeds.state.paused': 'Pausiert',
  'feeds.state.held': 'Angehalten',
  'feeds.rhythm.item': 'Eine Mail je Eintrag',
  'feeds.rhythm.daily': 'Täglich gesammelt',
  'feeds.rhythm.weekly': 'Wöchentlich gesammelt',
  'feeds.column.read': 'Zuletzt gelesen',
  'feeds.column.waiting': 'Wartend',
  'feeds.add': 'Neuer Feed',
  'feeds.change': 'Einstellungen des Feeds',
  'feeds.add.submit': 'Feed hinzufügen',
  'feeds.save': 'Speichern',
  'feeds.back': 'Alle Feeds',
  'feeds.field.feed_name': 'Name',
  'feeds.hint.feed_name': 'Nur für Sie, und am Anfang der Namen seiner Mailings.',
  'feeds.field.url': 'Adresse des Feeds',
  'feeds.hint.url':
    'RSS, Atom oder JSON Feed. Was jetzt darin ist, wird nicht verschickt, nur was von nun an erscheint.',
  'feeds.field.rhythm': 'Was verschickt wird',
  'feeds.field.weekday': 'Wochentag der wöchentlichen Sammlung',
  'feeds.field.time_of_day': 'Uhrzeit der Sammlung',
  'feeds.field.time_zone': 'Zeitzone',
  'feeds.hint.time_zone': 'Zum Beispiel Europe/Berlin.',
  'feeds.field.subject': 'Betreff',
  'feeds.hint.subject': 'Platzhalter: ((item_title)), ((feed_title)), ((items_count)) und die für Empfänger.',
  'feeds.field.template_id': 'Vorlage',
  'feeds.hint.template_id':
    'Eine eigene Vorlage wiederholt für jeden Eintrag, was zwischen ((items)) und ((items_end)) steht: ((item_title)), ((item_link)), ((item_summary)), ((item_date)), ((item_author)).',
  'feeds.template.usual': 'Eine schlichte Liste der Einträge',
  'feeds.failed': 'Er konnte zuletzt nicht gelesen werden: {reason}',
  'feeds.unread': 'Noch nicht gelesen',
  'feeds.read': 'Gelesen',
  'feeds.next': 'Nächste Sammlung',
  'feeds.waiting': { one: '{count} Eintrag wartet', other: '{count} Einträge warten' },
  'feeds.send': 'Senden, was wartet',
  'feeds.send.title': 'An alle senden?',
  'feeds.send.each': {
    one: 'Die Leser erhalten gleich {count} Mail.',
    other: 'Die Leser erhalten gleich {count} Mails, eine für jeden Eintrag.',
  },
  'feeds.send.digest': {
    one: 'Die nächste Übersicht hat {count} Eintrag.',
    other:
      'Die nächste Übersicht hat {count} Einträge. Sind es mehr als 100, hat sie die neuesten 100, und der Rest wird nicht verschickt.',
  },
  'feeds.skip': { one: '{count} Eintrag überspringen', other: '{count} Einträge überspringen' },
  'feeds.preview': 'Zeigen, was verschickt würde',
  'feeds.pause': 'Pausieren',
  'feeds.resume': 'Fortsetzen',
  'feeds.delete': 'Löschen',
  'feeds.delete.title': 'Den Feed {name} löschen?',
  'feeds.delete.text': {
    one: '{count} wartender Eintrag wird nicht verschickt. Mailings, die es schon gibt, bleiben.',
    other: '{count} wartende Einträge werden nicht verschickt. Mailings, die es schon gibt, bleiben.',
  },
  'feeds.sample': 'Nichts ist neu. Die neuesten Einträge stehen für die kommenden.',
  'feeds.fresh': { one: '{count} Eintrag ist neu.', other: '{count} Einträge sind neu.' },
  'feeds.done.Added':
    'Der Feed wurde hinzugefügt. Er wird in der nächsten Minute gelesen; was jetzt darin ist, wird nicht verschickt.',
  'feeds.done.Changed': 'Gespeichert.',
  'feeds.done.switched': 'Erledigt.',
  'feeds.done.decided': 'Erledigt. Der Feed geht weiter.',
  'feeds.done.Deleted': 'Der Feed wurde gelöscht.',
};
