/** Italian texts of public pages. */
import type { en } from './en.tsx';

export const it: typeof en = {
  messages: {
    unknownLink: {
      title: 'Questo link non è riconosciuto',
      heading: 'Questo link qui non è più riconosciuto',
      text: [
        'È incompleto, è stato modificato lungo il percorso oppure appartiene a un’e-mail di cui non abbiamo più traccia. Apri il link nell’e-mail più recente che hai ricevuto da noi.',
        'Se non vuoi più ricevere le nostre e-mail, rispondi a una di esse e faccelo sapere.',
      ],
    },
    unknownPage: {
      title: 'Pagina non trovata',
      text: ['A questo indirizzo non c’è nessuna pagina. Se hai seguito un link, forse è incompleto.'],
    },
    busy: {
      title: 'Riprova tra un momento',
      text: ['Il servizio è occupato e non ha ancora potuto salvare la richiesta.'],
    },
    refused: {
      title: 'Non ha funzionato',
      text: ['Apri di nuovo la pagina.'],
    },
    failed: {
      title: 'Qualcosa è andato storto',
      text: ['Non è stato modificato nulla. Riprova tra un momento.'],
    },
    tooLarge: {
      title: 'Questa e-mail è troppo grande',
      text: ['Con i dati del destinatario supera i 2 MB e non può essere mostrata.'],
    },
    linkTooLong: {
      title: 'Questo link è troppo lungo',
      text: [
        'Con i dati del destinatario dell’e-mail il suo indirizzo supera gli 8000 caratteri e non può essere aperto.',
      ],
    },
    outdatedLink: {
      title: 'Questo link non funziona',
      text: [
        'È incompleto, troppo vecchio, oppure il mittente è stato modificato nel frattempo. Chiedi una nuova e-mail di conferma.',
      ],
    },
    sharedCopy: {
      title: 'L’iscrizione si annulla dall’e-mail',
      text: [
        'Arrivi dalla copia di un’e-mail nel browser. Queste copie vengono inoltrate ad altri, perciò il link per annullare l’iscrizione si trova solo nell’e-mail stessa. Apri l’e-mail e usa il link in fondo, oppure il pulsante del tuo programma di posta.',
      ],
    },
  },
  preferences: {
    title: 'Le tue preferenze e-mail',
    forAddress: (email) => `Per ${email}`,
    question: 'Che cosa vuoi ricevere?',
    own: 'L’e-mail da cui arrivi',
    save: 'Salva le mie scelte',
    noneTitle: 'Nessuna e-mail',
    noneAbout: (email) => `Annulla ogni iscrizione di ${email}, ora e in futuro.`,
    none: 'Annulla l’iscrizione a tutte le e-mail',
    getsNothing: (email) => `${email} non riceve nessuna e-mail da noi.`,
    back: 'Ricevi di nuovo le e-mail',
    saved: 'Le tue scelte sono salvate.',
    tooOften:
      'Hai modificato le tue scelte molto spesso. Puoi ancora annullare l’iscrizione, ma attendi un’ora prima di scegliere altro.',
    unsubscribedAll: 'Non riceverai più e-mail da noi.',
    subscribedAgain: 'Bentornato. Controlla le tue scelte qui sotto.',
    trackingTitle: 'Aperture e clic',
    trackingText:
      'Vorremmo registrare se e quando apri le nostre e-mail e quali link segui, per capire quali e-mail vale la pena leggere. Puoi cambiare idea in qualsiasi momento.',
    trackingOn: 'Al momento viene registrato.',
    trackingOff: 'Al momento non viene registrato.',
    trackingAllow: 'Potete registrarlo',
    trackingRefuse: 'Non registrarlo',
    trackingAllowed: 'Grazie. Le tue aperture e i tuoi clic vengono registrati dalla prossima e-mail.',
    trackingRefused:
      'Le tue aperture e i tuoi clic non vengono più registrati. I link nelle e-mail continuano a funzionare.',
    unsubscribed: 'La tua iscrizione è annullata.',
    unsubscribedGroup: (group) => `La tua iscrizione a «${group}» è annullata.`,
  },
  verify: {
    kind: 'Indirizzo del mittente',
    title: 'Conferma questo indirizzo',
    somebody: 'Qualcuno vuole inviare e-mail da',
    warning:
      'Conferma solo se questa casella è tua e ne sei al corrente. Altrimenti chiudi questa pagina: non succederà nulla.',
    confirm: 'Sì, conferma questo indirizzo',
    doneTitle: 'Indirizzo confermato',
    done: (email) => (
      <>
        Ora si possono inviare e-mail da <strong>{email}</strong>.
      </>
    ),
    close: 'Puoi chiudere questa pagina.',
  },
  archive: {
    title: 'Archivio delle e-mail',
    untitled: 'Senza oggetto',
    older: 'E-mail precedenti',
    newer: 'E-mail più recenti',
    pages: 'Pagine',
    feed: 'Segui in un lettore di feed',
  },
  form: {
    email: 'Indirizzo e-mail',
    fields: {
      first_name: 'Nome',
      last_name: 'Cognome',
      state: 'Provincia',
      city: 'Città',
      address_line1: 'Indirizzo',
      address_line2: 'Indirizzo, seconda riga',
      state_province_region: 'Stato, provincia o regione',
      postal_code: 'CAP',
    },
    optional: 'facoltativo',
    groups: 'Che cosa vuoi ricevere?',
    privacy: 'Informativa sulla privacy',
    trap: 'Lascia vuoto questo campo',
    faults: {
      required: 'Compila questo campo.',
      invalid: 'Controlla questo campo.',
      long: 'È troppo lungo.',
      email: 'Inserisci un indirizzo e-mail valido.',
      consent: 'Ci serve il tuo consenso per poterti scrivere.',
    },
    faulty: 'Controlla i campi evidenziati.',
    again: 'Ancora un passo: controlla i dati inseriti e premi il pulsante.',
    busy: 'Al momento questo modulo riceve troppe iscrizioni. Riprova tra un’ora.',
    unproven:
      'Per proteggersi dai robot, al momento questo modulo ha bisogno di JavaScript. Attivalo oppure riprova tra un’ora.',
    working: 'Un momento, il tuo browser sta dimostrando di non essere un robot…',
    confirmFor: (email) => (
      <>
        Vuoi iscrivere <strong>{email}</strong>?
      </>
    ),
    filledIn: 'I dati inseriti',
    chosen: 'Scelto',
    confirm: 'Sì, voglio iscrivermi',
    notYou: 'Se non l’hai chiesto tu, chiudi questa pagina: non succederà nulla.',
    toForm: 'Al modulo',
    suppressed: (contact: string): string =>
      `La tua scelta è salvata, ma questo indirizzo non riceve e-mail da noi: è nella nostra lista di esclusione, perché un’e-mail è tornata indietro o è stata segnalata come spam.\nPer ricevere di nuovo le e-mail, scrivi a ${contact} e chiedi di togliere l’indirizzo da quella lista.`,
  },
};
