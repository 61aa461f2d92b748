/** German: the settings of SMTP servers. */

import type { Translation } from '../../ui/words/translation.ts';
import type { relays as english } from './words.en.ts';

export const relays: Translation<typeof english> = {
  'settings.sending': 'SMTP-Server',
  'settings.done.relayAdded': 'Der SMTP-Server wurde hinzugefügt. Testen Sie ihn unten, um zu sehen, was er antwortet.',
  'settings.done.relayChanged': 'Gespeichert. Mails werden ab jetzt mit diesen Einstellungen gesendet.',
  'settings.done.relayDeleted': 'Der SMTP-Server und sein Passwort wurden gelöscht.',
  'settings.done.relaysOrdered': 'Die Reihenfolge wurde geändert.',
  'settings.done.address':
    'Die Tracking-Domain wurde gespeichert. Links in Mails verwenden sie ab jetzt. Prüfen Sie sie von außen.',
  'address.title': 'Tracking-Domain',
  'address.none':
    'Es gibt noch keine Tracking-Domain, deshalb funktionieren Links in Mails nur auf dem Server, auf dem Sendlark läuft: Niemand könnte sich abmelden. Gibt es einen SMTP-Server, ist der Versand pausiert, bis Sie eine Tracking-Domain festlegen.',
  'address.environment':
    'Die Tracking-Domain ist auf dem Server festgelegt (PUBLIC_URL) und lässt sich nur dort ändern.',
  'address.field': 'Webadresse für Links, Bilder und Abmeldeseiten',
  'address.hint': 'Etwa https://mail.example.com, ohne etwas dahinter. Das Abmelden mit einem Klick braucht https.',
  'address.save': 'Tracking-Domain speichern',
  'smtp.text':
    'Der erste SMTP-Server dieser Liste, der funktioniert, sendet die Mails. Fällt er aus, übernimmt der nächste.',
  'smtp.none.title': 'Noch kein SMTP-Server',
  'smtp.none.text':
    'Ohne SMTP-Server verlässt keine Mail Sendlark: Sie bleibt im Test-Postausgang, wo Sie sie lesen können. Server, Port, Benutzername und Passwort bekommen Sie von Ihrem SMTP-Anbieter.',
  'smtp.add': 'SMTP-Server hinzufügen',
  'smtp.change': '{name} bearbeiten',
  'smtp.back': 'Alle SMTP-Server',
  'smtp.environment':
    'Der SMTP-Server für alle Mails ist auf dem Server festgelegt, auf dem Sendlark läuft (SMTP_URL). Mails werden von {relays} gesendet, und die SMTP-Server unten werden nicht verwendet.',
  'smtp.noAddress':
    'Der Versand ist pausiert, bis Sie eine Tracking-Domain festlegen: Links in Mails würden nur auf dem Server funktionieren, auf dem Sendlark läuft.',
  'smtp.noAddress.go': 'Tracking-Domain festlegen',
  'smtp.queued': {
    one: '{count} Mail wartet und wird gesendet, sobald Sie einen SMTP-Server hinzufügen.',
    other: '{count} Mails warten und werden gesendet, sobald Sie einen SMTP-Server hinzufügen.',
  },
  'smtp.relay': 'SMTP-Server',
  'smtp.server': 'Server',
  'smtp.state': 'Status',
  'smtp.order': 'Reihenfolge',
  'smtp.up': 'Vor {name} verschieben',
  'smtp.first': 'Der erste',
  'smtp.state.unused': 'Nicht verwendet',
  'smtp.state.untried': 'Noch nicht versucht',
  'smtp.state.answers': 'Erreichbar',
  'smtp.state.works': 'Funktioniert',
  'smtp.state.fails': 'Gestört',
  'smtp.seen.answers': 'Test bestanden: {time}',
  'smtp.seen.works': 'Nahm eine Mail an: {time}',
  'smtp.seen.fails': 'Letzter Fehler: {time}',
  'smtp.field.name': 'Name',
  'smtp.hint.name': 'Empfänger sehen ihn nicht.',
  'smtp.field.host': 'Server',
  'smtp.hint.host': 'Zum Beispiel smtp.example.com.',
  'smtp.field.security': 'Verschlüsselung',
  'smtp.security.starttls': 'STARTTLS (meist Port 587)',
  'smtp.security.implicit': 'TLS (meist Port 465)',
  'smtp.security.none': 'Keine: nur derselbe Server oder privates Netz',
  'smtp.hint.security':
    'Für TLS braucht der Server ein gültiges Zertifikat. Ohne Verschlüsselung gehen Mails nur an einen SMTP-Server auf demselben Server wie Sendlark oder in einem privaten Netz.',
  'smtp.field.port': 'Port',
  'smtp.field.username': 'Benutzername',
  'smtp.hint.username': 'Leer lassen, wenn der Server keinen verlangt.',
  'smtp.field.password': 'Passwort',
  'smtp.hint.password': 'Wird verschlüsselt gespeichert und nie wieder angezeigt.',
  'smtp.hint.password.kept':
    'Ein Passwort ist gespeichert. Lassen Sie das Feld leer, um es zu behalten. Ändern Sie Server oder Port, geben Sie es neu ein.',
  'smtp.field.rate': 'Mails pro Sekunde, höchstens',
  'smtp.hint.rate': '0 für keine Grenze. Vielleicht nennt Ihr Anbieter eine.',
  'smtp.field.connections': 'Gleichzeitige Verbindungen, höchstens',
  'smtp.add.submit': 'Hinzufügen',
  'smtp.save': 'Speichern',
  'smtp.delete': 'SMTP-Server löschen',
  'smtp.delete.title': '{name} löschen?',
  'smtp.delete.text': 'Auch das Passwort des Servers wird gelöscht. Das lässt sich nicht rückgängig machen.',
  'smtp.delete.none': 'Es wartet keine Mail.',
  'smtp.delete.next': {
    one: '{count} wartende Mail wird dann von {next} gesendet.',
    other: '{count} wartende Mails werden dann von {next} gesendet.',
  },
  'smtp.delete.unused':
    'Dieser SMTP-Server wird nicht verwendet, weil auf dem Server, auf dem Sendlark läuft, ein anderer festgelegt ist (SMTP_URL).',
  'smtp.delete.last': 'Das ist der einzige SMTP-Server: Danach bleiben Mails im Test-Postausgang.',
  'smtp.delete.refused': {
    one: '{count} Mail wartet auf diesen SMTP-Server, deshalb lässt er sich jetzt nicht löschen: Fügen Sie einen anderen SMTP-Server hinzu, oder brechen Sie ab, was gerade gesendet wird.',
    other:
      '{count} Mails warten auf diesen SMTP-Server, deshalb lässt er sich jetzt nicht löschen: Fügen Sie einen anderen SMTP-Server hinzu, oder brechen Sie ab, was gerade gesendet wird.',
  },
  'smtp.test.title': 'Test',
  'smtp.test.text':
    'Der Test verbindet sich, meldet sich an und fragt, ob der Server eine Mail an {email} annehmen würde, ohne eine zu senden. Es dauert einige Sekunden.',
  'smtp.test.sender': 'Von',
  'smtp.test.you': 'Ihre eigene Adresse, {email}',
  'smtp.test.submit': 'Testen',
  'smtp.test.connect': 'Verbindung',
  'smtp.test.tls': 'Verschlüsselung',
  'smtp.test.auth': 'Anmeldung',
  'smtp.test.mail': 'Absender {from}',
  'smtp.test.rcpt': 'Empfänger {to}',
  'smtp.test.ok': 'In Ordnung',
  'smtp.test.failed': 'Fehlgeschlagen',
  'smtp.test.skipped': 'Nicht erreicht',
  'smtp.test.reply': 'Der Server sagte:',
  'audit.relay_added': 'SMTP-Server hinzugefügt',
  'audit.relay_changed': 'SMTP-Server geändert',
  'audit.relay_removed': 'SMTP-Server gelöscht',
  'audit.relays_ordered': 'Reihenfolge der SMTP-Server geändert',
  'audit.relay_tested': 'SMTP-Server getestet',
  'audit.public_address_changed': 'Tracking-Domain geändert',
};
