/** German: the sentences about backups and about checks of the outside world. */
import type { CHECK_SENTENCES } from '../../../../errors/sentences/checks.ts';

export const checkSentences: Readonly<Record<keyof typeof CHECK_SENTENCES, string>> = {
  backup_damaged: '{file} ist beschädigt: {reason}',
  backup_changed: '„{name}“ ist nicht so, wie Sendlark es angelegt hat',
  backup_foreign: '{file} ist keine Sicherung von Sendlark',
  backup_newer: '{file} stammt von einer neueren Version: Aktualisieren Sie Sendlark',
  backup_under_way: 'Gerade wird eine Sicherung erstellt oder geprüft. Versuchen Sie es danach noch einmal.',
  backup_no_room: 'Der Speicherplatz reicht nicht: {needed} MB werden gebraucht, {free} MB sind frei',
  backup_none: 'Es wurde keine Sicherung erstellt',
  backup_fresh: 'Die letzte Sicherung ist vom {day}',
  backup_old: 'Die letzte Sicherung ist {days} Tage alt',
  backup_cure:
    'Erstellen Sie jeden Tag eine Sicherung, unter Einstellungen › Sicherung oder mit „sendlark backup DATEI“, und bewahren Sie sie auf einer anderen Festplatte auf',

  address_none: 'Es gibt keine Tracking-Domain',
  address_invalid: 'Geben Sie eine Webadresse wie https://mail.example.com ein, ohne etwas dahinter.',
  address_loopback:
    'Diese Adresse führt alle auf ihren eigenen Computer. Empfänger brauchen eine Adresse, die von überall hierher führt.',
  address_fixed:
    'Die Tracking-Domain ist auf dem Server festgelegt (PUBLIC_URL): Ändern Sie sie dort, und starten Sie Sendlark neu.',
  address_leads_here: '{url} führt hierher',
  address_certified: '{url} führt hierher, mit einem Zertifikat bis {day}',
  address_ends_soon: '{url} führt hierher, aber sein Zertifikat endet am {day}',
  certificate_renewal:
    'Sehen Sie nach, warum der Reverse-Proxy das Zertifikat nicht erneuert hat, und erneuern Sie es: Sonst warnen Browser alle, die auf einen Link klicken.',
  certificate_expired: 'Das Zertifikat von {host} ist am {day} abgelaufen',
  certificate_name: 'Das Zertifikat bei {host} ist für andere Namen: {names}',
  certificate_name_cure: 'Lassen Sie den Reverse-Proxy ein Zertifikat für {host} holen.',
  certificate_untrusted: 'Browser vertrauen dem Zertifikat von {host} nicht ({code})',
  certificate_untrusted_cure:
    'Lassen Sie den Reverse-Proxy ein Zertifikat von Let’s Encrypt holen, wie Caddy es von selbst tut. Hat er schon eines, muss er auch das Zwischenzertifikat senden.',
  address_redirects: '{url} leitet weiter zu {where}',
  address_redirects_cure:
    'Legen Sie das Ziel der Weiterleitung als Tracking-Domain fest, oder nehmen Sie die Weiterleitung aus dem Reverse-Proxy.',
  address_other: '{url} führt zu etwas anderem ({status})',
  address_elsewhere: '{url} führt zu einer anderen Installation von Sendlark oder zu einer älteren Version',
  address_other_cure:
    'Lassen Sie den Reverse-Proxy alles für {host} an Sendlark weitergeben, und prüfen Sie, ob das DNS von {host} zu dem Server führt, auf dem Sendlark läuft.',
  address_unknown: 'Das DNS hat keine Adresse für {host}',
  address_unknown_cure:
    'Tragen Sie dort, wo die Domain verwaltet wird, einen A- oder AAAA-Eintrag für {host} mit der Adresse des Servers ein, auf dem Sendlark läuft.',
  address_refused: 'Unter {host}, Port {port}, antwortet nichts',
  address_refused_cure:
    'Starten Sie den Reverse-Proxy, lassen Sie Port {port} durch die Firewall, und prüfen Sie, ob das DNS von {host} zu dem Server führt, auf dem Sendlark läuft.',
  address_silent: '{host} antwortet nicht auf Port {port}',
  address_silent_cure:
    'Prüfen Sie, ob das DNS von {host} zu dem Server führt, auf dem Sendlark läuft, und ob die Firewall Port {port} durchlässt. In manchen Netzen kann ein Server sich selbst nicht von außen erreichen: Öffnen Sie {url} dann aus einem anderen Netz.',
  address_broken: '{url} ist nicht zu erreichen: {reason}',
  returns_not_here: 'Bounces werden hier nicht empfangen: BOUNCE_DOMAIN und BOUNCE_LISTEN sind nicht gesetzt.',
  returns_arrive: 'Eine Testmail an {domain} kam über {host} an',
  returns_dns: 'Das DNS nennt keinen Server für Mails an {domain} ({code})',
  returns_dns_cure:
    'Tragen Sie dort, wo die Domain verwaltet wird, einen MX-Eintrag für {domain} ein, der den Server nennt, auf dem Sendlark läuft.',
  returns_silent: 'Unter {host}, Port {port}, nimmt kein Server Mails an {domain} an: {reason}',
  returns_silent_cure:
    'Prüfen Sie, ob der MX-Eintrag von {domain} den Server nennt, auf dem Sendlark läuft, ob Sendlark läuft und ob die Firewall Port 25 durchlässt. In manchen Netzen kann ein Server sich selbst nicht von außen erreichen: Probieren Sie den Port dann aus einem anderen Netz.',
  returns_refused: 'Eine Testmail an {domain} wurde bei {host} abgelehnt: {reply}',
  returns_refused_cure:
    'Dort antwortet ein anderer Mailserver oder eine andere Installation von Sendlark. Der MX-Eintrag von {domain} muss den Server nennen, auf dem Sendlark läuft.',
  returns_lost: 'Eine Testmail an {domain} wurde bei {host} angenommen, kam hier aber nicht an',
  returns_lost_cure:
    'Ein anderer Mailserver nimmt diese Mails an. Lassen Sie ihn Mails an {domain} an {listen} weitergeben, oder lassen Sie den MX-Eintrag den Server nennen, auf dem Sendlark läuft. Vielleicht war der Mailserver nur langsam: Testen Sie dann noch einmal.',
  domains_passed: 'Die Einträge aller Absender sind, wie sie sein sollen',
  domains_weak: '{domain} hat Warnungen: {checks}',
  domains_failed: '{domain} besteht diese Prüfungen nicht: {checks}',
  domains_cure: 'Unter Einstellungen › Absender stehen die Einträge.',
};
