/** German: signing in, and choosing a password with a login link. */
import type { signIn as english } from '../en/sign-in.ts';
import type { Translation } from '../translation.ts';

export const signIn: Translation<typeof english> = {
  'login.title': 'Anmelden',
  'login.email': 'E-Mail-Adresse',
  'login.password': 'Passwort',
  'login.submit': 'Anmelden',
  'login.forgotten':
    'Passwort vergessen? Ein Inhaber kann Ihnen unter Einstellungen › Benutzer einen Anmeldelink erstellen, oder auf dem Server mit „sendlark login-link --user“.',
  'login.wrong': 'Die E-Mail-Adresse oder das Passwort ist falsch.',
  'login.wait': {
    one: 'Zu viele Versuche. Bitte warten Sie eine Sekunde und versuchen Sie es noch einmal.',
    other: 'Zu viele Versuche. Bitte warten Sie {count} Sekunden und versuchen Sie es noch einmal.',
  },
  'login.passkey': 'Mit einem Passkey anmelden',
  'login.passkey.none':
    'Es wurde kein Passkey benutzt. Versuchen Sie es noch einmal, oder melden Sie sich mit dem Passwort an.',
  'login.passkey.wrong':
    'Dieser Passkey ist hier nicht bekannt, oder es hat zu lange gedauert. Bitte versuchen Sie es noch einmal.',
  'login.code.title': 'Noch ein Schritt',
  'login.code.label': 'Code',
  'login.code.hint': 'Der Code aus Ihrer Authenticator-App oder einer Ihrer Wiederherstellungscodes.',
  'login.code.wrong': 'Dieser Code ist falsch, wurde schon benutzt oder kam zu spät. Codes wechseln alle 30 Sekunden.',
  'login.code.lost':
    'App und Codes verloren? Wer den Server betreut, kann mit „sendlark login-link --user“ und „--without-second-factor“ einen Link erstellen, der die Zwei-Faktor-Authentifizierung ausschaltet.',
  'login.again': 'Von vorn beginnen',
  'welcome.title': 'Willkommen bei Sendlark',
  'welcome.again.title': 'Neues Passwort wählen',
  'welcome.secret': 'Code des Links',
  'welcome.secret.hint': 'Was im Link nach dem # steht.',
  'welcome.continue': 'Weiter',
  'welcome.name': 'Ihr Name',
  'welcome.name.problem': 'Bitte geben Sie Ihren Namen ein, höchstens 255 Zeichen.',
  'welcome.email.problem': 'Bitte geben Sie eine gültige E-Mail-Adresse ein.',
  'welcome.email.taken': 'Mit dieser Adresse meldet sich schon jemand an. Bitte geben Sie eine andere ein.',
  'welcome.password': 'Neues Passwort',
  'welcome.submit': 'Speichern und anmelden',
  'welcome.saved': 'Ihr neues Passwort ist gespeichert.',
  'welcome.code':
    'Ihr neues Passwort ist gespeichert. Geben Sie zum Anmelden noch einen Code Ihrer Authenticator-App ein: Der Link hat nur das Passwort ersetzt.',
  'welcome.expired.title': 'Dieser Link gilt nicht mehr',
  'welcome.expired.text':
    'Ein Link gilt nur einmal und nur für begrenzte Zeit, und nur der neueste gilt. Ein Inhaber kann unter Einstellungen › Benutzer einen neuen erstellen, oder auf dem Server mit „sendlark login-link“.',
  'password.hint':
    'Mindestens 12 Zeichen. Vier Wörter, die nicht zusammengehören, sind leicht zu merken und schwer zu erraten.',
  'password.short': 'Bitte wählen Sie mindestens 12 Zeichen.',
  'password.long': 'Bitte wählen Sie höchstens 256 Zeichen.',
  'password.common': 'Dieses Passwort ist zu verbreitet. Bitte wählen Sie ein anderes.',
  'password.personal':
    'Dieses Passwort besteht fast nur aus Ihrem Namen oder Ihrer Adresse. Bitte wählen Sie ein anderes.',
  'unsafe.title': 'Diese Verbindung ist nicht verschlüsselt',
  'unsafe.why':
    'Ihr Passwort könnte unterwegs mitgelesen werden, deshalb kann sich über einfaches http von einem anderen Computer niemand anmelden.',
  'unsafe.cure':
    'Stellen Sie einen Reverse-Proxy mit TLS davor, etwa Caddy oder nginx, und setzen Sie PUBLIC_URL auf dessen https-Adresse. docs/operating.md zeigt, wie.',
  'unsafe.tunnel':
    'Melden Sie sich bis dahin auf dem Server selbst an oder durch einen Tunnel: ssh -L 3000:127.0.0.1:3000 und dann http://localhost:3000.',
};
