/** German: unsubscribed and suppressed addresses, topics, and the rule about inactive contacts. */
import type { Translation } from '../../ui/words/translation.ts';
import type { unsubscribed as english } from './words.en.ts';

export const unsubscribed: Translation<typeof english> = {
  'unsubscribes.all': 'Alle Mails',
  'unsubscribes.topic': 'Themen',
  'unsubscribes.suppressions': 'Sperren',
  'unsubscribes.inactive': 'Inaktiv',
  'unsubscribes.all.about':
    'Diese Kontakte haben sich von allen Mails abgemeldet. Keine Kampagne und keine Automation sendet an sie.',
  'unsubscribes.topic.about':
    'Diese Kontakte haben sich von diesem Thema abgemeldet. Mails zu anderen Themen bekommen sie weiterhin.',
  'unsubscribes.suppressions.about':
    'Mails an diese Adressen kamen als Bounce zurück oder wurden als Spam gemeldet. Solche Adressen werden übersprungen, um den Ruf Ihrer Domain zu schützen.',
  'unsubscribes.all.empty.title': 'Niemand hat sich abgemeldet',
  'unsubscribes.all.empty.text': 'Kontakte, die sich von allen Mails abmelden, erscheinen hier.',
  'unsubscribes.topic.empty.title': 'Niemand hat sich von diesem Thema abgemeldet',
  'unsubscribes.topic.empty.text': 'Kontakte, die sich von diesem Thema abmelden, erscheinen hier.',
  'unsubscribes.suppressions.empty.title': 'Keine gesperrten Adressen',
  'unsubscribes.suppressions.empty.text': 'Adressen mit Bounces oder Spam-Beschwerden erscheinen hier.',
  'unsubscribes.search': 'Vollständige E-Mail-Adresse',
  'unsubscribes.find': 'Suchen',
  'unsubscribes.none': '{email} steht hier nicht.',
  'unsubscribes.address': 'Adresse',
  'unsubscribes.reason': 'Grund',
  'unsubscribes.diagnostic': 'Antwort des Mailservers',
  'unsubscribes.since': 'Seit',
  'unsubscribes.action': 'Aktion',
  'unsubscribes.kind.bounce': 'Bounce',
  'unsubscribes.kind.complaint': 'Beschwerde',
  'unsubscribes.lifted':
    '{email} kann wieder Mails bekommen, außer die Adresse ist aus einem anderen Grund abgemeldet oder gesperrt.',
  'unsubscribes.lift.of': '{action}: {email}',
  'unsubscribes.lift.cancel': 'Abbrechen',
  'unsubscribes.lift.all.title': 'Diesen Kontakt wieder anmelden?',
  'unsubscribes.lift.stays.all':
    'Diese Adresse ist auch von allen Mails abgemeldet. Solange Sie sie nicht unter „Alle Mails“ wieder anmelden, bekommt sie weiterhin keine Mails.',
  'unsubscribes.lift.stays.suppressions':
    'Diese Adresse ist auch gesperrt. Solange Sie die Sperre nicht unter „Sperren“ entfernen, bekommt sie weiterhin keine Mails.',
  'unsubscribes.lift.all.means':
    'Die Adresse kann wieder Mails bekommen: von Kampagnen an ihre Listen und Segmente und von Automationen, in denen sie noch nicht war.',
  'unsubscribes.lift.all.not':
    'Von einzelnen Themen bleibt die Adresse abgemeldet. In Automationen, aus denen sie ausgestiegen ist, kommt sie nicht zurück. Was inzwischen gesendet wurde, bekommt sie nicht.',
  'unsubscribes.lift.all.text':
    'Dieser Kontakt wollte keine Mails mehr. Melden Sie ihn nur wieder an, wenn er darum gebeten hat: Mails an Abgemeldete sind in vielen Ländern verboten. Das Einwilligungsprotokoll hält fest, dass Sie es getan haben.',
  'unsubscribes.lift.all.do': 'Wieder anmelden',
  'unsubscribes.lift.topic.title': 'Diesen Kontakt wieder für das Thema anmelden?',
  'unsubscribes.lift.topic.means':
    'Die Adresse kann wieder Kampagnen zu diesem Thema bekommen und in Automationen zu diesem Thema aufgenommen werden, in denen sie noch nicht war.',
  'unsubscribes.lift.topic.not':
    'Von anderen Themen bleibt die Adresse abgemeldet. In Automationen, aus denen sie ausgestiegen ist, kommt sie nicht zurück. Was inzwischen gesendet wurde, bekommt sie nicht.',
  'unsubscribes.lift.topic.text':
    'Dieser Kontakt hat sich von dem Thema abgemeldet. Melden Sie ihn nur wieder an, wenn er darum gebeten hat. Das Einwilligungsprotokoll hält fest, dass Sie es getan haben.',
  'unsubscribes.lift.topic.do': 'Wieder anmelden',
  'unsubscribes.lift.suppressions.title': 'Diese Sperre entfernen?',
  'unsubscribes.lift.suppressions.means':
    'Die Adresse kann wieder Mails bekommen, zuerst von der nächsten Kampagne an eine ihrer Listen oder eines ihrer Segmente.',
  'unsubscribes.lift.suppressions.not':
    'Wer sich von allen Mails oder einem Thema abgemeldet hat, bleibt abgemeldet. Mails, die als Bounce zurückkamen, werden nicht noch einmal gesendet.',
  'unsubscribes.lift.suppressions.text':
    'Kommt es wieder zu einem Bounce, wird die Adresse wieder gesperrt, und Mailanbieter vertrauen Ihrer Domain womöglich weniger.',
  'unsubscribes.lift.complaint':
    'Dieser Kontakt hat Ihre Mail als Spam gemeldet. Ihm ungebeten wieder zu schreiben, schadet dem Ruf Ihrer Domain und ist in vielen Ländern verboten.',
  'unsubscribes.lift.asked': 'Dieser Kontakt hat mich gebeten, ihm wieder zu schreiben',
  'unsubscribes.lift.suppressions.do': 'Sperre entfernen',
  'unsubscribes.topics.name': 'Thema',
  'unsubscribes.topics.description': 'Beschreibung',
  'unsubscribes.topics.count': 'Abgemeldet',
  'unsubscribes.topics.empty.title': 'Noch keine Themen',
  'unsubscribes.topics.empty.text':
    'Ein Thema ist eine Art von Mails, etwa Neuigkeiten oder Angebote. Kontakte können sich davon abmelden, ohne sich von allem abzumelden.',
  'unsubscribes.inactive.about':
    'Diese Kontakte haben lange nichts getan, obwohl Mails ankamen. Wer eine Mail öffnet oder darin auf einen Link klickt, eine Anmeldung über ein Formular bestätigt oder eine Einstellung ändert, ist wieder aktiv.',
  'unsubscribes.inactive.empty.title': 'Keine inaktiven Kontakte',
  'unsubscribes.inactive.empty.text':
    'Kontakte, die die Regel findet, erscheinen hier. Auf der Seite der Regel sehen Sie vorab, wen sie fände.',
  'unsubscribes.did': 'Was geschah',
  'unsubscribes.lift.inactive.title': 'Diesen Kontakt reaktivieren?',
  'unsubscribes.lift.inactive.means':
    'Die Adresse bekommt wieder Kampagnen und kann in Automationen aufgenommen werden, in denen sie noch nicht war.',
  'unsubscribes.lift.inactive.not':
    'Die Adresse wird nicht aus einem Segment entfernt oder zurückverschoben. Was inzwischen gesendet wurde, bekommt sie nicht.',
  'unsubscribes.lift.inactive.text':
    'Für die Regel gilt der Kontakt heute als aktiv: Die Monate ohne Aktivität beginnen von vorn.',
  'unsubscribes.lift.inactive.do': 'Reaktivieren',
  'inactive.rule.on': 'Die Regel ist an.',
  'inactive.rule.off': 'Die Regel ist aus: Niemand gilt als inaktiv.',
  'inactive.rule.months': {
    one: 'Sie findet Kontakte, die {count} Monat lang nichts getan haben',
    other: 'Sie findet Kontakte, die {count} Monate lang nichts getan haben',
  },
  'inactive.rule.mails': {
    one: 'und in dieser Zeit mindestens {count} Mail bekommen haben.',
    other: 'und in dieser Zeit mindestens {count} Mails bekommen haben.',
  },
  'inactive.rule.missing':
    'Das Segment oder die Liste der Regel wurde gelöscht, daher tut sie nichts. Wählen Sie etwas anderes.',
  'inactive.rule.open': 'Regel und Verlauf',
  'inactive.rule.title': 'Inaktive Kontakte: Regel',
  'inactive.rule.heading': 'Regel',
  'inactive.rule.about':
    'Kontakte, die nie reagieren, schaden dem Ruf Ihrer Domain. Die Regel läuft jeden Tag. Öffnungen und Klicks von Bots zählen nicht.',
  'inactive.stopped': {
    one: '{count} Kontakt bekommt wegen der Regel keine Kampagnen.',
    other: '{count} Kontakte bekommen wegen der Regel keine Kampagnen.',
  },
  'inactive.months': 'Monate ohne Aktivität',
  'inactive.mails': 'Mails, die der Kontakt in dieser Zeit mindestens bekommen hat',
  'inactive.mails.hint': 'Nur Mails mit mindestens einer Öffnung oder einem Klick.',
  'inactive.do': 'Was mit inaktiven Kontakten geschieht',
  'inactive.do.stop': 'Keine Kampagnen mehr senden, bis der Kontakt wieder aktiv ist',
  'inactive.do.segment': 'Zum Segment {name} hinzufügen',
  'inactive.do.move': 'In die Liste {name} verschieben',
  'inactive.show': 'Anzeigen, wen die Regel findet',
  'inactive.switchOn': 'Einschalten',
  'inactive.save': 'Speichern',
  'inactive.switchOff': 'Ausschalten',
  'inactive.owners': 'Nur Inhaber können die Regel ändern.',
  'inactive.count': {
    one: 'Die Regel findet jetzt {count} Kontakt.',
    other: 'Die Regel findet jetzt {count} Kontakte.',
  },
  'inactive.soFar': {
    one: 'Bisher findet die Regel {count} Kontakt.',
    other: 'Bisher findet die Regel {count} Kontakte.',
  },
  'inactive.changed':
    'Die Regel wurde nach dieser Vorschau geändert. Sehen Sie nach, wen die Regel jetzt findet, und schalten Sie sie dann ein.',
  'inactive.days': 'Verlauf',
  'inactive.days.none': 'Noch nichts.',
  'inactive.day': 'Tag (UTC)',
  'inactive.day.stopped': 'Keine Kampagnen mehr',
  'inactive.day.moved': 'Verschoben',
  'inactive.day.lifted': 'Wieder aktiv',
  'inactive.lift.title': 'Alle reaktivieren',
  'inactive.lift.all': { one: '{count} Kontakt reaktivieren', other: '{count} Kontakte reaktivieren' },
  'inactive.lift.question': 'Alle reaktivieren?',
  'inactive.lift.means':
    'Für die Regel gelten diese Kontakte heute als aktiv: Die Monate ohne Aktivität beginnen von vorn.',
  'inactive.done.on': 'Die Regel ist an und läuft jetzt zum ersten Mal.',
  'inactive.done.off':
    'Die Regel ist aus. Kontakte, die wegen der Regel keine Kampagnen mehr bekommen haben, bekommen erst wieder welche, wenn sie aktiv sind oder Sie sie reaktivieren.',
  'inactive.done.lifted': 'In wenigen Sekunden können diese Kontakte wieder Mails bekommen.',
  'topics.new': 'Neues Thema',
  'topics.change': 'Thema bearbeiten',
  'topics.edit': 'Bearbeiten',
  'topics.editOne': '{name} bearbeiten',
  'topics.save': 'Thema speichern',
  'topics.saved': 'Das Thema „{name}“ wurde gespeichert.',
  'topics.name': 'Name',
  'topics.name.hint':
    'Bedingungen in Mails finden das Thema an seinem Namen. Wenn Sie ihn ändern, ändern Sie ihn auch in diesen Bedingungen.',
  'topics.description.hint': 'Steht auf der Seite mit den E-Mail-Einstellungen.',
  'topics.display': 'Auf der Seite mit den E-Mail-Einstellungen anzeigen',
  'topics.delete': 'Thema löschen',
  'topics.deleted': 'Das Thema wurde gelöscht.',
  'topics.delete.title': 'Thema „{name}“ löschen?',
  'topics.delete.stays':
    'Das Thema steht dann für keine Mail mehr zur Wahl. Links in gesendeten Mails funktionieren weiter, und Abmeldungen von dem Thema bleiben gespeichert.',
  'topics.delete.people': {
    one: 'Ein Kontakt hat sich von diesem Thema abgemeldet.',
    other: '{count} Kontakte haben sich von diesem Thema abgemeldet.',
  },
  'topics.used.title': 'Dieses Thema kann noch nicht gelöscht werden',
  'topics.used.mailings': {
    one: 'Eine unfertige Kampagne verwendet dieses Thema.',
    other: '{count} unfertige Kampagnen verwenden dieses Thema.',
  },
  'topics.used.automations': {
    one: 'Eine Automation verwendet dieses Thema.',
    other: '{count} Automationen verwenden dieses Thema.',
  },
  'topics.used.cure':
    'Wählen Sie für diese Kampagnen und Automationen ein anderes Thema, oder löschen Sie sie. Um dieses Thema auf der Seite mit den E-Mail-Einstellungen nicht mehr anzuzeigen, nehmen Sie oben das Häkchen weg.',
};
