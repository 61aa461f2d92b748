/** German: unsubscribed and suppressed addresses, unsubscribe groups, and the rule about inactive people. */
import type { Translation } from '../../dashboard/words/translation.ts';
import type { left as english } from './words.en.ts';

export const left: Translation<typeof english> = {
  'unsubscribes.all': 'Alle Mails',
  'unsubscribes.topic': 'Gruppen',
  'unsubscribes.suppressions': 'Gesperrt',
  'unsubscribes.inactive': 'Inaktiv',
  'unsubscribes.all.about':
    'Sie möchten gar keine Mails mehr. Ihnen wird nichts gesendet, aus keinem Mailing und keiner Automation.',
  'unsubscribes.topic.about':
    'Sie haben diese Gruppe verlassen und bekommen keine ihrer Mails. Mails anderer Gruppen erreichen sie weiterhin.',
  'unsubscribes.suppressions.about':
    'Mails an diese Adressen kamen endgültig zurück, oder die Person hat sie als Spam gemeldet. Sie werden ausgelassen, damit Ihre Domain ihren guten Ruf behält.',
  'unsubscribes.all.empty.title': 'Niemand hat sich abgemeldet',
  'unsubscribes.all.empty.text': 'Wer sich von allen Mails abmeldet, steht sofort hier, mit dem Tag.',
  'unsubscribes.topic.empty.title': 'Niemand hat diese Gruppe verlassen',
  'unsubscribes.topic.empty.text': 'Wer sich von Mails dieser Gruppe abmeldet, steht sofort hier.',
  'unsubscribes.suppressions.empty.title': 'Keine Adresse ist gesperrt',
  'unsubscribes.suppressions.empty.text':
    'Hier stehen Adressen, deren Mails endgültig zurückkommen, und wer Spam gemeldet hat.',
  'unsubscribes.search': 'Ganze E-Mail-Adresse',
  'unsubscribes.find': 'Suchen',
  'unsubscribes.none': '{email} steht nicht auf dieser Liste.',
  'unsubscribes.address': 'Adresse',
  'unsubscribes.reason': 'Grund',
  'unsubscribes.diagnostic': 'Antwort des Mailservers',
  'unsubscribes.since': 'Seit',
  'unsubscribes.action': 'Aktion',
  'unsubscribes.kind.bounce': 'Unzustellbar',
  'unsubscribes.kind.complaint': 'Beschwerde',
  'unsubscribes.lifted': '{email} kann wieder Mails bekommen, soweit es diese Liste betrifft.',
  'unsubscribes.lift': 'Wieder zulassen',
  'unsubscribes.lift.of': 'Wieder zulassen: {email}',
  'unsubscribes.lift.cancel': 'So lassen',
  'unsubscribes.lift.all.title': 'Dieser Person wieder senden?',
  'unsubscribes.lift.stays.all':
    'Diese Adresse steht auch auf der Liste derer, die alle Mails abbestellt haben. Solange sie dort steht, bekommt sie weiterhin keine.',
  'unsubscribes.lift.stays.suppressions':
    'Diese Adresse ist auch gesperrt. Solange sie nicht entsperrt ist, bekommt sie weiterhin keine Mails.',
  'unsubscribes.lift.all.means':
    'Die Adresse kann wieder Mails bekommen: Mailings an ihre Kontakttypen und Segmente und Automationen, in denen sie noch nicht war.',
  'unsubscribes.lift.all.not':
    'Gruppen, die sie einzeln verlassen hat, und Automationen, aus denen sie ausgeschieden ist, bleibt sie fern. Was inzwischen gesendet wurde, bekommt sie nicht.',
  'unsubscribes.lift.all.text':
    'Diese Person wollte keine Mails mehr. Tun Sie das nur, wenn sie darum gebeten hat: Mails an Abgemeldete sind in vielen Ländern verboten. Das Einwilligungsprotokoll hält fest, dass Sie es getan haben.',
  'unsubscribes.lift.all.do': 'Von der Liste nehmen',
  'unsubscribes.lift.topic.title': 'Diese Person zurück in die Gruppe holen?',
  'unsubscribes.lift.topic.means':
    'Die Adresse kann wieder Mailings dieser Gruppe bekommen und ihre Automationen, in denen sie noch nicht war.',
  'unsubscribes.lift.topic.not':
    'Anderen Gruppen, die sie verlassen hat, und Automationen, aus denen sie ausgeschieden ist, bleibt sie fern. Was inzwischen gesendet wurde, bekommt sie nicht.',
  'unsubscribes.lift.topic.text':
    'Diese Person hat die Gruppe verlassen. Holen Sie sie nur zurück, wenn sie darum gebeten hat. Das Einwilligungsprotokoll hält fest, dass Sie es getan haben.',
  'unsubscribes.lift.topic.do': 'Zurückholen',
  'unsubscribes.lift.suppressions.title': 'Wieder an diese Adresse senden?',
  'unsubscribes.lift.suppressions.means':
    'Das nächste Mailing an einen Kontakttyp oder ein Segment, zu dem sie gehört, geht wieder an diese Adresse.',
  'unsubscribes.lift.suppressions.not':
    'Wer sich abgemeldet hat, von allen Mails oder von einer Gruppe, bleibt abgemeldet. Was zurückkam, wird nicht noch einmal gesendet.',
  'unsubscribes.lift.suppressions.text':
    'Kommt wieder eine Mail zurück, wird die Adresse wieder gesperrt, und Mailanbieter vertrauen Ihrer Domain womöglich weniger.',
  'unsubscribes.lift.complaint':
    'Diese Person hat Ihre Mail als Spam gemeldet. Ihr ungebeten wieder zu schreiben, schadet dem Vertrauen in Ihre Domain und ist in vielen Ländern verboten.',
  'unsubscribes.lift.asked': 'Diese Person hat mich gebeten, ihr wieder zu schreiben',
  'unsubscribes.lift.suppressions.do': 'Entsperren',
  'unsubscribes.topics.name': 'Gruppe',
  'unsubscribes.topics.description': 'Beschreibung',
  'unsubscribes.topics.count': 'Abgemeldet',
  'unsubscribes.topics.empty.title': 'Noch keine Gruppen',
  'unsubscribes.topics.empty.text':
    'Eine Gruppe ist eine Art von Mails, die man abbestellen kann, ohne alle abzubestellen, etwa Neues oder Angebote.',
  'unsubscribes.inactive.about':
    'Sie haben lange nichts getan, obwohl Mails ankamen. Wer eine Mail öffnet, darin klickt, ein Formular bestätigt oder eine Auswahl ändert, kommt von selbst von der Liste.',
  'unsubscribes.inactive.empty.title': 'Niemand ist inaktiv',
  'unsubscribes.inactive.empty.text':
    'Wen die Regel findet, steht hier, mit dem, was geschah. Die Seite der Regel zeigt, wen sie fände.',
  'unsubscribes.did': 'Was geschah',
  'unsubscribes.lift.inactive.title': 'Dieser Person wieder senden?',
  'unsubscribes.lift.inactive.means':
    'Die Adresse bekommt wieder Mailings und kann in Automationen kommen, in denen sie noch nicht war.',
  'unsubscribes.lift.inactive.not':
    'Sie wird nicht aus einem Segment genommen oder zurückverschoben. Was inzwischen gesendet wurde, bekommt sie nicht.',
  'unsubscribes.lift.inactive.text':
    'Für die Regel gilt das, als hätte die Person heute etwas getan: So viele Monate, wie die Regel hat, lässt sie sie in Ruhe.',
  'unsubscribes.lift.inactive.do': 'Wieder senden',
  'inactive.rule.on': 'Die Regel ist eingeschaltet.',
  'inactive.rule.off': 'Die Regel ist ausgeschaltet: Niemand gilt als inaktiv.',
  'inactive.rule.months': {
    one: 'Sie findet, wer {count} Monat lang nichts getan hat',
    other: 'Sie findet, wer {count} Monate lang nichts getan hat',
  },
  'inactive.rule.mails': {
    one: 'und in dieser Zeit mindestens {count} Mail bekam.',
    other: 'und in dieser Zeit mindestens {count} Mails bekam.',
  },
  'inactive.rule.missing':
    'Das Segment oder der Kontakttyp der Regel wurde gelöscht, daher tut sie nichts. Wählen Sie etwas anderes.',
  'inactive.rule.open': 'Regel und was sie tat',
  'inactive.rule.title': 'Regel für Inaktive',
  'inactive.rule.heading': 'Die Regel',
  'inactive.rule.about':
    'Wer nie reagiert, schadet dem Ruf Ihrer Domain. Die Regel wird jeden Tag angewandt. Was Maschinen öffnen und klicken, zählt nicht.',
  'inactive.stopped': {
    one: '{count} Person bekommt deshalb keine Mailings.',
    other: '{count} Personen bekommen deshalb keine Mailings.',
  },
  'inactive.months': 'Monate ohne jede Reaktion',
  'inactive.mails': 'Mindestens so viele Mails in dieser Zeit',
  'inactive.mails.hint': 'Nur Mails, in denen mindestens ein Mensch etwas geöffnet oder geklickt hat.',
  'inactive.do': 'Was mit ihnen geschieht',
  'inactive.do.stop': 'Keine Mailings mehr, bis sie wieder reagieren',
  'inactive.do.segment': 'Ins Segment {name} aufnehmen',
  'inactive.do.move': 'In den Kontakttyp {name} verschieben',
  'inactive.show': 'Zeigen, wen sie jetzt findet',
  'inactive.switchOn': 'Regel einschalten',
  'inactive.save': 'Regel ändern',
  'inactive.switchOff': 'Regel ausschalten',
  'inactive.owners': 'Nur Inhaber ändern die Regel.',
  'inactive.count': { one: 'Sie findet jetzt {count} Person.', other: 'Sie findet jetzt {count} Personen.' },
  'inactive.atLeast': {
    one: 'Sie findet jetzt mindestens {count} Person.',
    other: 'Sie findet jetzt mindestens {count} Personen.',
  },
  'inactive.changed':
    'Die Regel wurde geändert, nachdem dies gezeigt wurde. Sehen Sie nach, wen sie jetzt findet, und schalten Sie sie dann ein.',
  'inactive.days': 'Was sie tat',
  'inactive.days.none': 'Noch nichts.',
  'inactive.day': 'Tag (UTC)',
  'inactive.day.stopped': 'Angehalten',
  'inactive.day.moved': 'Anderswohin',
  'inactive.day.lifted': 'Wieder dabei',
  'inactive.lift.title': 'Alle wieder zulassen',
  'inactive.lift.all': { one: '{count} Person wieder senden', other: '{count} Personen wieder senden' },
  'inactive.lift.question': 'Ihnen allen wieder senden?',
  'inactive.lift.means':
    'Für die Regel gilt das, als hätten sie heute etwas getan. So viele Monate, wie sie hat, lässt sie sie in Ruhe.',
  'inactive.done.on': 'Die Regel ist eingeschaltet und wird zum ersten Mal angewandt.',
  'inactive.done.off':
    'Die Regel ist ausgeschaltet. Wer angehalten wurde, bleibt es, bis er wieder reagiert oder Sie ihn freigeben.',
  'inactive.done.lifted': 'Sie bekommen in einigen Sekunden wieder Mails.',
  'topics.new': 'Neue Gruppe',
  'topics.change': 'Gruppe ändern',
  'topics.edit': 'Ändern',
  'topics.editOne': '{name} ändern',
  'topics.save': 'Gruppe speichern',
  'topics.saved': 'Die Gruppe „{name}“ ist gespeichert.',
  'topics.description.hint': 'Das lesen Personen auf der Seite, auf der sie wählen, was sie bekommen.',
  'topics.display': 'Auf der Seite zeigen, auf der Personen wählen, was sie bekommen',
  'topics.delete': 'Gruppe löschen',
  'topics.deleted': 'Die Gruppe wurde gelöscht.',
  'topics.delete.title': 'Gruppe „{name}“ löschen?',
  'topics.delete.stays':
    'Sie steht dann für keine Mail mehr zur Wahl. Links in gesendeten Mails funktionieren weiter, und wer sich abgemeldet hat, bleibt vermerkt.',
  'topics.delete.people': {
    one: 'Eine Person hat sich von ihr abgemeldet.',
    other: '{count} Personen haben sich von ihr abgemeldet.',
  },
  'topics.used.title': 'Diese Gruppe kann noch nicht gelöscht werden',
  'topics.used.mailings': {
    one: 'Ein Mailing, das noch nicht fertig ist, verwendet sie.',
    other: '{count} Mailings, die noch nicht fertig sind, verwenden sie.',
  },
  'topics.used.automations': { one: 'Eine Automation verwendet sie.', other: '{count} Automationen verwenden sie.' },
  'topics.used.cure':
    'Wählen Sie dort eine andere Gruppe, oder löschen Sie sie. Um diese auf der Seite, auf der Personen wählen, nicht mehr zu zeigen, nehmen Sie oben das Häkchen weg.',
};
