/** German: senders, domain authentication, and the warm-up of domains. */
import type { Translation } from '../ui/words/translation.ts';
import type { senders as english } from './words.en.ts';

export const senders: Translation<typeof english> = {
  'settings.senders': 'Absender',
  'settings.done.resent': 'Die Bestätigungsmail ist unterwegs.',
  'settings.done.resentKept': 'Die Bestätigungsmail bleibt im Test-Postausgang, weil es keinen SMTP-Server gibt.',
  'settings.done.senderAdded':
    'Der Absender wurde hinzugefügt. Eine Mail mit dem Bestätigungslink ist an seine Adresse unterwegs.',
  'settings.done.senderAddedKept':
    'Der Absender wurde hinzugefügt. Die Mail mit dem Bestätigungslink bleibt im Test-Postausgang, weil es keinen SMTP-Server gibt.',
  'settings.done.senderDeleted': 'Der Absender wurde gelöscht.',
  'settings.done.dnsAsked': 'Die DNS-Einträge wurden geprüft. Das Ergebnis steht unten.',
  'audit.warm_up_saved': 'Aufwärmen einer Domain eingestellt',
  'audit.warm_up_stopped': 'Aufwärmen beendet',
  'senders.add': 'Absender hinzufügen',
  'senders.add.submit': 'Hinzufügen',
  'senders.save': 'Speichern',
  'senders.change': '{email} bearbeiten',
  'senders.choose': 'Nichts gewählt',
  'senders.field.from_name': 'Absendername',
  'senders.field.from_email': 'Absenderadresse',
  'senders.field.reply_to_email': 'Antwortadresse',
  'senders.field.nickname': 'Interner Name',
  'senders.field.company_address': 'Postanschrift',
  'senders.field.company_address2': 'Postanschrift, zweite Zeile',
  'senders.field.zip_code': 'Postleitzahl',
  'senders.field.country_id': 'Land',
  'senders.field.city_id': 'Ort',
  'senders.hint.from_name': 'Etwa der Name Ihrer Firma.',
  'senders.hint.from_email':
    'Eine neue Adresse bekommt eine Bestätigungsmail. Von der Adresse wird nichts gesendet, bevor sie mit dem Link darin bestätigt ist.',
  'senders.hint.nickname': 'Nur Sie und Ihr Team sehen ihn, wenn Sie einen Absender wählen.',
  'senders.hint.company_address':
    'Straße und Hausnummer. Die Anschrift steht am Ende jeder Mail, wie es das Recht vieler Länder verlangt.',
  'senders.hint.city': 'Mit Ort und Land ist die Postanschrift in Ihren Mails vollständig.',
  'senders.city.country': 'Wählen Sie zuerst das Land.',
  'senders.city.unknown':
    'Diesen Ort gibt es in der Liste des Landes nicht. Versuchen Sie den englischen Namen, oder lassen Sie den Ort leer und schreiben Sie ihn in die zweite Zeile der Postanschrift.',
  'senders.city.ambiguous':
    'Diesen Namen haben mehrere Orte. Schreiben Sie das Bundesland oder die Region auf Englisch dahinter, etwa Halle, Lower Saxony.',
  'senders.field.relay_id': 'SMTP-Server',
  'senders.hint.relay_id':
    'Wenn Sie einen SMTP-Server wählen, gehen die Mails dieses Absenders nur über diesen. Solange er nicht funktioniert, warten die Mails.',
  'senders.relay.any': 'Der erste, der funktioniert',
  'senders.relay.unused':
    'Diese Wahl hat keine Wirkung: Der SMTP-Server für alle Mails ist auf dem Server festgelegt, auf dem Sendlark läuft (SMTP_URL).',
  'senders.relay.only': 'Nur {name}',
  'senders.relay.waits': 'Die Mails dieses Absenders warten: {reply}',
  'senders.delete': 'Absender löschen',
  'senders.delete.title': 'Den Absender {email} löschen?',
  'senders.delete.text': 'Von diesem Absender wird nichts mehr gesendet. Das lässt sich nicht rückgängig machen.',
  'senders.delete.unused': 'Keine Kampagne und keine laufende Automation verwendet diesen Absender.',
  'senders.delete.queued': {
    one: 'Die Planung von {count} Kampagne wird aufgehoben.',
    other: 'Die Planung von {count} Kampagnen wird aufgehoben.',
  },
  'senders.delete.sending': {
    one: '{count} Kampagne, die gerade gesendet wird, wird pausiert.',
    other: '{count} Kampagnen, die gerade gesendet werden, werden pausiert.',
  },
  'senders.delete.live_automations': {
    one: '{count} laufende Automation wird pausiert.',
    other: '{count} laufende Automationen werden pausiert.',
  },
  'senders.delete.drafts': {
    one: '{count} Entwurf braucht einen anderen Absender.',
    other: '{count} Entwürfe brauchen einen anderen Absender.',
  },
  'senders.sender': 'Absender',
  'senders.address': 'Adresse',
  'senders.state': 'Status',
  'senders.mail': 'Bestätigungsmail',
  'senders.verified': 'Bestätigt',
  'senders.unverified': 'Nicht bestätigt',
  'senders.verify': 'Absender bestätigen',
  'senders.verify.ask': 'Ein Inhaber des Kontos kann den Absender bestätigen.',
  'senders.never': 'Nicht gesendet',
  'senders.mail.queued': 'Wartet, erstellt {time}',
  'senders.mail.sending': 'Wird gesendet',
  'senders.mail.accepted': 'Gesendet: {time}',
  'senders.mail.kept': 'Im Test-Postausgang: {time}',
  'senders.mail.bounced': 'Bounce',
  'senders.mail.failed': 'Fehlgeschlagen',
  'senders.mail.suppressed': 'Übersprungen',
  'senders.mail.cancelled': 'Abgebrochen',
  'senders.resend': 'Noch einmal senden',
  'senders.resendAt': 'Noch einmal möglich: {time}',
  'senders.none.title': 'Noch keine Absender',
  'senders.none.text':
    'Ein Absender besteht aus dem Namen und der Adresse, von denen Ihre Mails kommen. Sie bestätigen die Adresse mit einem Link, den Sendlark an sie schickt.',
  'senders.hint':
    'Von einer Adresse wird nichts gesendet, bevor sie mit dem Link in ihrer Bestätigungsmail bestätigt ist. Ohne SMTP-Server liegt diese Mail im Test-Postausgang.',
  'domains.title': 'Domain-Authentifizierung',
  'domains.text':
    'Mailanbieter prüfen im DNS Ihrer Domain, ob Mails wirklich von Ihnen sind. Tragen Sie diese Einträge dort ein, wo Ihre Domain verwaltet wird. Meist sind sie nach einer Stunde überall zu sehen, spätestens nach 72 Stunden.',
  'domains.provider':
    'Nur die Firma, die {domain} betreibt, kann dort Einträge anlegen. Mails von einer solchen Adresse bestehen DMARC nur, wenn ein Server von {domain} sie sendet; sonst lehnen Mailanbieter sie ab oder legen sie in den Spam. Geben Sie als Absenderadresse eine Ihrer eigenen Domain an, etwa hallo@ihr-laden.de; Antworten können weiter an Ihr Postfach bei {domain} gehen.',
  'domains.doubt':
    '{checks} von {domain}: Die letzte Prüfung wurde nicht bestanden. Mailanbieter nehmen die Mail vielleicht nicht an oder legen sie in den Spam.',
  'domains.doubt.unchecked':
    'Die DNS-Einträge von {domain} wurden noch nicht geprüft. Ohne sie nehmen Mailanbieter die Mail vielleicht nicht an oder legen sie in den Spam.',
  'domains.now': 'Jetzt prüfen',
  'domains.again': 'Noch einmal prüfen',
  'domains.asked': 'Geprüft: {time}.',
  'domains.unasked': 'Noch nicht geprüft.',
  'domains.waiting': 'Wartet auf DNS',
  'domains.waiting.text':
    'Die Einträge unten sind noch nicht zu sehen. Tragen Sie sie dort ein, wo Ihre Domain verwaltet wird, falls Sie das noch nicht getan haben. Bis sie überall zu sehen sind, kann es 72 Stunden dauern.',
  'domains.unknown': 'Nicht geprüft',
  'domains.name.SPF': 'SPF',
  'domains.name.DKIM': 'DKIM',
  'domains.name.DMARC': 'DMARC',
  'domains.name.Alignment': 'Übereinstimmung der Domains',
  'domains.why.SPF': 'Welche Server Mails für {returnPath} senden dürfen, die Domain, an die Bounces gehen.',
  'domains.why.DKIM': 'Eine Signatur, die beweist, dass die Mail von {domain} kommt und unverändert ist.',
  'domains.why.DMARC': 'Was Mailanbieter mit Mails von {domain} tun, die weder SPF noch DKIM bestehen.',
  'domains.why.Alignment': 'Ob SPF oder DKIM zu {domain} gehört, der Domain Ihrer Absenderadresse.',
  'domains.unsigned':
    'Sendlark signiert Mails dieser Domain nicht. Wenn auch Ihr SMTP-Server sie nicht signiert, landen sie bei großen Mailanbietern im Spam.',
  'domains.watching': 'Diese Seite prüft alle paar Sekunden, bis alles in Ordnung ist.',
  'domains.look': 'Noch einmal prüfen',
  'domains.well': 'Alle Prüfungen der Domain sind in Ordnung.',
  'domains.publish': 'Tragen Sie diesen Eintrag ein:',
  'domains.spf.relay': 'Nennt Ihr SMTP-Anbieter einen anderen Eintrag, verwenden Sie den des Anbieters.',
  'domains.record.type': 'Typ',
  'domains.record.name': 'Name',
  'domains.record.value': 'Wert',
  'domains.copy.name': 'Name kopieren',
  'domains.copy.value': 'Wert kopieren',
  'domains.copied': 'Kopiert',
  'dkim.create': 'DKIM-Schlüssel erzeugen',
  'dkim.verifyFirst':
    'Bestätigen Sie zuerst einen Absender von {domain} mit dem Link in seiner Mail, dann können Sie einen Schlüssel erzeugen.',
  'dkim.operators':
    'Den Schlüssel einer Domain teilen sich alle Konten. Deshalb kann ihn nur wechseln oder löschen, wer Sendlark hier betreibt (Inhaber des ersten Kontos).',
  'dkim.signing': 'In Gebrauch',
  'dkim.waiting': 'Nächster Schlüssel',
  'dkim.former': 'Früherer Schlüssel',
  'dkim.waiting.text': 'Dieser Schlüssel signiert, sobald sein Eintrag zu sehen ist. Bis dahin signiert der bisherige.',
  'dkim.former.text':
    'Dieser Schlüssel signiert nicht mehr. Lassen Sie seinen Eintrag noch eine Woche stehen, und löschen Sie dann Schlüssel und Eintrag.',
  'dkim.made': 'Erzeugt am {day}',
  'dkim.rotate': 'Schlüssel wechseln',
  'dkim.rotate.title': 'DKIM-Schlüssel von {domain} wechseln?',
  'dkim.rotate.text':
    'Ein neuer Schlüssel entsteht, mit einem DNS-Eintrag zum Kopieren. Er signiert, sobald der Eintrag zu sehen ist; bis dahin ändert sich nichts.',
  'dkim.delete': 'Schlüssel löschen',
  'dkim.delete.title': 'Schlüssel {name} löschen?',
  'dkim.delete.none':
    'Dann werden Mails von {domain} nicht mehr signiert, in keinem Konto. Große Mailanbieter verschieben sie womöglich in den Spam.',
  'dkim.delete.another':
    'Dann signiert der andere Schlüssel sofort die Mails von {domain}, in allen Konten. Prüfen Sie vorher, ob dessen Eintrag da ist.',
  'dkim.delete.unused': 'Mit diesem Schlüssel wird jetzt keine Mail von {domain} signiert.',
  'dkim.delete.record':
    'Lassen Sie den Eintrag des Schlüssels noch eine Woche stehen, für Mails, die noch unterwegs sind.',
  'dkim.done.create':
    'Mails von {domain} werden ab jetzt signiert. Tragen Sie den Eintrag unten dort ein, wo Ihre Domain verwaltet wird.',
  'dkim.done.rotate':
    'Der nächste Schlüssel von {domain} wurde erzeugt. Tragen Sie seinen Eintrag unten ein; er signiert, sobald der Eintrag zu sehen ist.',
  'dkim.done.deleted': 'Der Schlüssel wurde gelöscht.',
  'settings.done.warmUp': 'Das Aufwärmen wurde gespeichert.',
  'settings.done.warmUpStopped': 'Das Aufwärmen wurde beendet.',
  'warmUp.title': 'Aufwärmen',
  'warmUp.text':
    'Mailanbieter misstrauen einer Domain, von der plötzlich viele Mails kommen. Beim Aufwärmen wird jeden Tag nur eine begrenzte Zahl gesendet, täglich etwas mehr; der Rest wartet. Tage beginnen um Mitternacht (UTC).',
  'warmUp.plans': 'Domains, die aufgewärmt werden',
  'warmUp.domain': 'Domain',
  'warmUp.state': 'Status',
  'warmUp.today': 'Heute gesendet',
  'warmUp.change': 'Aktion',
  'warmUp.waiting': 'Nicht begonnen',
  'warmUp.waiting.day': 'Beginnt am {day}',
  'warmUp.on': 'Läuft',
  'warmUp.on.day': 'Bis {day}, wenn die Grenze jeden Tag genutzt wird',
  'warmUp.over': 'Fertig',
  'warmUp.over.day': 'Seit {day}',
  'warmUp.form': 'Aufwärmen beginnen oder ändern',
  'warmUp.volume': 'Mails am ersten Tag',
  'warmUp.volume.hint': 'Mindestens 10. Ein vorsichtiger Anfang sind 50.',
  'warmUp.growth': 'Tägliches Wachstum in Prozent',
  'warmUp.growth.hint':
    '10 bis 100. Die Grenze wächst nur nach einem Tag, an dem mindestens die Hälfte davon gesendet wurde.',
  'warmUp.until': 'Mails an einem normalen Tag',
  'warmUp.until.hint': 'Das Aufwärmen endet, sobald ein Tag diese Zahl erreicht.',
  'warmUp.start': 'Erster Tag',
  'warmUp.save': 'Aufwärmen speichern',
  'warmUp.stop': 'Beenden',
  'warmUp.remove': 'Entfernen',
  'warmUp.stop.title': 'Das Aufwärmen für {domain} beenden?',
  'warmUp.stop.text':
    'Alle Mails, die wegen des Aufwärmens warten, werden sofort gesendet. Ein neues Aufwärmen beginnt von vorn.',
} as const;
