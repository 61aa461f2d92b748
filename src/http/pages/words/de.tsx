/** German texts of public pages. */
import type { en } from './en.tsx';

export const de: typeof en = {
  messages: {
    unknownLink: {
      title: 'Dieser Link funktioniert nicht',
      heading: 'Dieser Link funktioniert nicht mehr',
      text: [
        'Er ist unvollständig, wurde unterwegs verändert oder gehört zu einer E-Mail, die wir nicht mehr gespeichert haben. Bitte öffnen Sie den Link in der neuesten E-Mail, die Sie von uns haben.',
        'Wenn Sie keine E-Mails mehr von uns möchten, antworten Sie bitte auf die E-Mail und schreiben Sie uns das.',
      ],
    },
    unknownPage: {
      title: 'Seite nicht gefunden',
      text: [
        'Unter dieser Adresse gibt es keine Seite. Wenn Sie über einen Link gekommen sind, ist er vielleicht unvollständig.',
      ],
    },
    busy: {
      title: 'Bitte versuchen Sie es gleich noch einmal',
      text: ['Der Dienst ist ausgelastet und konnte das noch nicht speichern.'],
    },
    refused: {
      title: 'Das hat nicht geklappt',
      text: ['Bitte öffnen Sie die Seite noch einmal.'],
    },
    failed: {
      title: 'Etwas ist schiefgegangen',
      text: ['Es wurde nichts geändert. Bitte versuchen Sie es gleich noch einmal.'],
    },
    tooLarge: {
      title: 'Diese E-Mail ist zu groß',
      text: ['Mit den Angaben zu ihrem Empfänger ist sie größer als 2 MB und kann nicht gezeigt werden.'],
    },
    linkTooLong: {
      title: 'Dieser Link ist zu lang',
      text: [
        'Mit den Angaben zum Empfänger der E-Mail hat seine Adresse mehr als 8000 Zeichen und kann nicht geöffnet werden.',
      ],
    },
    outdatedLink: {
      title: 'Dieser Link funktioniert nicht',
      text: [
        'Er ist unvollständig, zu alt, oder der Absender wurde inzwischen geändert. Bitte lassen Sie sich eine neue Bestätigungsmail schicken.',
      ],
    },
    sharedCopy: {
      title: 'Abmelden können Sie sich in der E-Mail',
      text: [
        'Sie kommen von der Kopie einer E-Mail im Browser. Solche Kopien werden weitergegeben, deshalb steht der Link zum Abmelden nur in der E-Mail selbst. Bitte öffnen Sie die E-Mail und benutzen Sie den Link an ihrem Ende oder die Schaltfläche zum Abmelden in Ihrem E-Mail-Programm.',
      ],
    },
  },
  preferences: {
    title: 'Ihre E-Mail-Einstellungen',
    forAddress: (email) => `Für ${email}`,
    question: 'Was möchten Sie bekommen?',
    own: 'Zu diesem Thema gehört die E-Mail, von der Sie kommen',
    save: 'Auswahl speichern',
    noneTitle: 'Gar keine E-Mails',
    noneAbout: (email) => `Meldet ${email} von allem ab, jetzt und in Zukunft.`,
    none: 'Von allen E-Mails abmelden',
    getsNothing: (email) => `${email} bekommt keine E-Mails von uns.`,
    back: 'Wieder E-Mails bekommen',
    saved: 'Ihre Auswahl ist gespeichert.',
    tooOften:
      'Sie haben Ihre Auswahl sehr oft geändert. Abmelden können Sie sich weiterhin; warten Sie bitte eine Stunde, bevor Sie etwas anderes wählen.',
    unsubscribedAll: 'Sie bekommen keine E-Mails mehr von uns.',
    subscribedAgain: 'Willkommen zurück. Bitte prüfen Sie unten Ihre Auswahl.',
    trackingTitle: 'Öffnungen und Klicks',
    trackingText:
      'Wir möchten aufzeichnen, ob und wann Sie unsere E-Mails öffnen und welche Links darin Sie anklicken, um zu sehen, welche E-Mails sich lohnen. Sie können es sich jederzeit anders überlegen.',
    trackingOn: 'Zurzeit wird das aufgezeichnet.',
    trackingOff: 'Zurzeit wird das nicht aufgezeichnet.',
    trackingAllow: 'Sie dürfen es aufzeichnen',
    trackingRefuse: 'Nicht aufzeichnen',
    trackingAllowed: 'Vielen Dank. Ab der nächsten E-Mail wird aufgezeichnet, was Sie öffnen und anklicken.',
    trackingRefused:
      'Es wird nicht mehr aufgezeichnet, was Sie öffnen und anklicken. Links in E-Mails funktionieren weiter.',
    unsubscribed: 'Sie sind abgemeldet.',
    unsubscribedGroup: (group) => `Sie sind von „${group}“ abgemeldet.`,
  },
  verify: {
    kind: 'Absenderadresse',
    title: 'Adresse bestätigen',
    somebody: 'Jemand möchte E-Mails senden von',
    warning:
      'Bestätigen Sie nur, wenn dieses Postfach Ihnen gehört und Sie davon wissen. Wenn nicht, schließen Sie diese Seite: Dann geschieht nichts.',
    confirm: 'Ja, Adresse bestätigen',
    doneTitle: 'Adresse bestätigt',
    done: (email) => (
      <>
        Von <strong>{email}</strong> können jetzt E-Mails gesendet werden.
      </>
    ),
    close: 'Sie können diese Seite schließen.',
  },
  archive: {
    title: 'Mail-Archiv',
    untitled: 'Ohne Betreff',
    older: 'Ältere E-Mails',
    newer: 'Neuere E-Mails',
    pages: 'Seiten',
    feed: 'Im Feedreader verfolgen',
  },
  form: {
    email: 'E-Mail-Adresse',
    fields: {
      first_name: 'Vorname',
      last_name: 'Nachname',
      state: 'Bundesland',
      city: 'Ort',
      address_line1: 'Adresse',
      address_line2: 'Adresszusatz',
      state_province_region: 'Bundesland, Kanton oder Region',
      postal_code: 'Postleitzahl',
    },
    optional: 'freiwillig',
    groups: 'Was möchten Sie bekommen?',
    privacy: 'Datenschutzerklärung',
    trap: 'Dieses Feld bitte leer lassen',
    faults: {
      required: 'Bitte füllen Sie das aus.',
      invalid: 'Bitte prüfen Sie diese Angabe.',
      long: 'Das ist zu lang.',
      email: 'Bitte geben Sie eine gültige E-Mail-Adresse ein.',
      consent: 'Bitte stimmen Sie zu, damit wir Ihnen schreiben dürfen.',
    },
    faulty: 'Bitte prüfen Sie die markierten Felder.',
    again: 'Noch ein Schritt: Bitte prüfen Sie Ihre Angaben und klicken Sie auf die Schaltfläche.',
    busy: 'Im Moment gibt es mehr Anmeldungen, als dieses Formular annimmt. Bitte versuchen Sie es in einer Stunde noch einmal.',
    unproven:
      'Zum Schutz vor Robotern braucht dieses Formular im Moment JavaScript. Bitte schalten Sie es ein, oder versuchen Sie es in einer Stunde noch einmal.',
    working: 'Einen Moment, es wird geprüft, dass Sie kein Roboter sind …',
    confirmFor: (email) => (
      <>
        Möchten Sie <strong>{email}</strong> anmelden?
      </>
    ),
    filledIn: 'Das wurde ausgefüllt',
    chosen: 'Gewählt',
    confirm: 'Ja, ich möchte mich anmelden',
    notYou: 'Wenn Sie das nicht angefordert haben, schließen Sie diese Seite: Dann geschieht nichts.',
    suppressed: (contact: string): string =>
      `Ihre Wahl ist gespeichert, aber diese Adresse bekommt keine E-Mails von uns: Sie steht auf unserer Sperrliste, weil eine E-Mail an sie zurückkam oder als Spam gemeldet wurde.\nUm wieder E-Mails zu bekommen, schreiben Sie an ${contact} und bitten Sie darum, die Adresse von dieser Liste zu nehmen.`,
    toForm: 'Zum Formular',
  },
};
