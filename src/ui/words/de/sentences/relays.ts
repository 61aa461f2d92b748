/** German: sentences about relays and about the results of relay tests. */
import type { RELAY_SENTENCES } from '../../../../errors/sentences/relays.ts';

export const relaySentences: Readonly<Record<keyof typeof RELAY_SENTENCES, string>> = {
  relay_host: 'Nennen Sie einen Mailserver wie smtp.example.com, ohne smtp:// und ohne den Port.',
  relay_plain:
    'Ohne Verschlüsselung dürfen Mails nur an einen SMTP-Server auf demselben Server wie Sendlark oder in einem privaten Netz gehen.',
  relay_plain_login:
    'Ein Passwort geht nie unverschlüsselt durch ein Netz: Wählen Sie TLS oder STARTTLS, oder lassen Sie den Benutzernamen leer.',
  relay_password_again:
    'Geben Sie das Passwort noch einmal ein: Das gespeicherte geht nur an den Server, für den es eingegeben wurde.',
  relay_named:
    'Absender, die nur diesen SMTP-Server verwenden: {count}. Wählen Sie für diese Absender zuerst einen anderen Server, unter Einstellungen › Absender.',
  relays_many: 'Es kann höchstens {count} SMTP-Server geben. Löschen Sie zuerst einen.',
  providers_many: 'Es kann höchstens {count} Adressen für Meldungen von SMTP-Anbietern geben. Löschen Sie zuerst eine.',
  provider_key_unreadable:
    'Das ist kein „verification key“: Kopieren Sie ihn in SendGrid unter Settings, Mail Settings, Event Webhook.',
  provider_key_none: 'Amazon SNS signiert mit Zertifikaten, deshalb ist kein Schlüssel nötig.',
  relay_test_under_way: 'Gerade wird ein SMTP-Server getestet. Versuchen Sie es in einigen Sekunden noch einmal.',
  relay_last:
    'Das ist der letzte SMTP-Server, und wartende Mails ({count}) würden im Test-Postausgang enden: Fügen Sie einen anderen Server hinzu, oder brechen Sie ab, was gerade gesendet wird.',

  invitation_no_server: 'Es ist kein SMTP-Server eingerichtet.',
  invitation_no_sender: 'Das Konto hat keinen bestätigten Absender.',

  relay_test_passed: 'Der Server würde diese Mail annehmen. Es wurde nichts gesendet.',
  relay_test_no_host: 'Es wurde kein Server dieses Namens gefunden.',
  relay_test_no_host_cure:
    'Prüfen Sie die Schreibweise des Servers. Stimmt sie, antwortet das DNS dem Server nicht, auf dem Sendlark läuft.',
  relay_test_closed_port: 'An diesem Port des Servers antwortet nichts.',
  relay_test_closed_port_cure: 'Prüfen Sie den Port: Die meisten Anbieter haben 587 mit STARTTLS oder 465 mit TLS.',
  relay_test_unreachable: 'Der SMTP-Server ist von dem Server aus, auf dem Sendlark läuft, nicht zu erreichen.',
  relay_test_unreachable_cure:
    'Prüfen Sie Server und Port. Viele Hoster sperren Port 25, manche auch 587 und 465, und öffnen sie nur auf Anfrage.',
  relay_test_silent: 'Der Server hat nicht rechtzeitig geantwortet.',
  relay_test_silent_cure:
    'Prüfen Sie Server, Port und Verschlüsselung; auch eine Firewall, die Verbindungen verwirft, sieht so aus.',
  relay_test_tls_port: 'Der Server wartet auf TLS, das an Port 465 von Anfang an gesprochen wird.',
  relay_test_tls_port_cure: 'Wählen Sie TLS als Verschlüsselung.',
  relay_test_plain_port: 'An diesem Port wird TLS nicht von Anfang an gesprochen.',
  relay_test_plain_port_cure: 'Wählen Sie STARTTLS als Verschlüsselung, oder Port 465.',
  relay_test_closed: 'Der Server hat die Verbindung geschlossen.',
  relay_test_closed_cure:
    'Prüfen Sie Port und Verschlüsselung. Stimmen sie, lehnt der SMTP-Server Verbindungen von Sendlark ab.',
  relay_test_greeting: 'Der SMTP-Server lehnt Verbindungen von Sendlark ab.',
  relay_test_greeting_cure:
    'Seine Antwort nennt den Grund. Oft muss sein Betreiber die IP-Adresse des Servers, auf dem Sendlark läuft, erst zulassen.',
  relay_test_no_starttls:
    'Der Server bietet kein STARTTLS an, und Mails dürfen nicht unverschlüsselt durch das Netz gehen.',
  relay_test_no_starttls_cure: 'Wählen Sie TLS mit Port 465, oder einen anderen Server.',
  relay_test_no_tls: 'Eine Verschlüsselung kam nicht zustande.',
  relay_test_no_tls_cure: 'Die Antwort darunter nennt den Grund. Der Server muss TLS 1.2 oder neuer sprechen.',
  relay_test_expired: 'Das Zertifikat des Servers ist abgelaufen.',
  relay_test_expired_cure:
    'Sein Betreiber muss es erneuern. Prüfen Sie auch die Uhr des Servers, auf dem Sendlark läuft.',
  relay_test_not_yet_valid: 'Das Zertifikat des Servers gilt noch nicht.',
  relay_test_not_yet_valid_cure: 'Prüfen Sie die Uhr des Servers, auf dem Sendlark läuft.',
  relay_test_other_name: 'Das Zertifikat des Servers gilt für einen anderen Namen.',
  relay_test_other_name_cure: 'Geben Sie den Server unter dem Namen an, den sein Zertifikat hat.',
  relay_test_unknown_issuer: 'Das Zertifikat des SMTP-Servers kommt von einer Stelle, der Sendlark nicht vertraut.',
  relay_test_unknown_issuer_cure:
    'Nehmen Sie den Namen, den Ihr Anbieter nennt. Ein eigener Server braucht ein Zertifikat einer bekannten Stelle wie Let’s Encrypt.',
  relay_test_no_login: 'Der Server nimmt hier weder Benutzername noch Passwort an.',
  relay_test_no_login_cure:
    'Prüfen Sie Port und Verschlüsselung, oder lassen Sie den Benutzernamen leer, wenn der SMTP-Server Mails von Sendlark ohne Anmeldung annimmt.',
  relay_test_login: 'Der Server lehnt Benutzername oder Passwort ab.',
  relay_test_login_cure:
    'Geben Sie beides neu ein. Viele Anbieter wollen ein eigenes Passwort oder einen Schlüssel für SMTP, nicht das, mit dem Sie sich dort anmelden.',
  relay_test_busy: 'Der Server nimmt gerade keine Anmeldung an.',
  relay_test_busy_cure: 'Seine Antwort nennt den Grund. Versuchen Sie es in einigen Minuten noch einmal.',
  relay_test_sender: 'Der Server nimmt von diesem Absender keine Mails an.',
  relay_test_sender_cure:
    'Lassen Sie die Adresse oder ihre Domain bei Ihrem Anbieter zu, oder wählen Sie einen anderen Absender.',
  relay_test_recipient: 'Der Server nimmt keine Mails an Ihre Adresse an.',
  relay_test_recipient_cure:
    'Nennt die Antwort „relaying denied“, verlangt der SMTP-Server eine Anmeldung oder muss die IP-Adresse des Servers zulassen, auf dem Sendlark läuft. Prüfen Sie sonst die Adresse.',
};
