/** Dutch texts of public pages. */
import type { en } from './en.tsx';

export const nl: typeof en = {
  messages: {
    unknownLink: {
      title: 'Deze link is onbekend',
      heading: 'Deze link is hier niet meer bekend',
      text: [
        'De link is onvolledig, onderweg veranderd of hoort bij een e-mail waarvan we geen gegevens meer hebben. Open de link in de nieuwste e-mail die je van ons hebt.',
        'Wil je geen e-mails meer van ons, beantwoord dan een e-mail en laat het ons weten.',
      ],
    },
    unknownPage: {
      title: 'Pagina niet gevonden',
      text: ['Op dit adres staat geen pagina. Kwam je via een link, dan is die misschien onvolledig.'],
    },
    busy: {
      title: 'Probeer het zo nog eens',
      text: ['De dienst is bezet en kon dit nog niet opslaan.'],
    },
    refused: {
      title: 'Dat is niet gelukt',
      text: ['Open de pagina opnieuw.'],
    },
    failed: {
      title: 'Er ging iets mis',
      text: ['Er is niets veranderd. Probeer het zo nog eens.'],
    },
    tooLarge: {
      title: 'Deze e-mail is te groot',
      text: ['Met de gegevens van de ontvanger is de e-mail groter dan 2 MB en kan niet worden getoond.'],
    },
    linkTooLong: {
      title: 'Deze link is te lang',
      text: [
        'Met de gegevens van de ontvanger van de e-mail heeft het adres meer dan 8000 tekens en kan niet worden geopend.',
      ],
    },
    outdatedLink: {
      title: 'Deze link werkt niet',
      text: [
        'De link is onvolledig, te oud, of de afzender is intussen gewijzigd. Vraag een nieuwe bevestigingsmail aan.',
      ],
    },
    sharedCopy: {
      title: 'Afmelden kan vanuit de e-mail',
      text: [
        'Je komt van een kopie van een e-mail in de browser. Zulke kopieën worden doorgestuurd, daarom staat de link om je af te melden alleen in de e-mail zelf. Open de e-mail en gebruik de link onderaan, of de afmeldknop van je mailprogramma.',
      ],
    },
  },
  preferences: {
    title: 'Je e-mailvoorkeuren',
    forAddress: (email) => `Voor ${email}`,
    question: 'Wat wil je ontvangen?',
    own: 'De e-mail waar je vandaan komt',
    save: 'Mijn keuzes opslaan',
    noneTitle: 'Helemaal geen e-mail',
    noneAbout: (email) => `Meldt ${email} overal voor af, nu en in de toekomst.`,
    none: 'Afmelden voor alle e-mail',
    getsNothing: (email) => `${email} krijgt geen e-mail van ons.`,
    back: 'Weer e-mail ontvangen',
    saved: 'Je keuzes zijn opgeslagen.',
    tooOften:
      'Je hebt je keuzes erg vaak gewijzigd. Afmelden kan nog steeds, maar wacht een uur voordat je iets anders kiest.',
    unsubscribedAll: 'Je krijgt geen e-mail meer van ons.',
    subscribedAgain: 'Welkom terug. Controleer hieronder je keuzes.',
    trackingTitle: 'Openen en klikken',
    trackingText:
      'We willen graag bijhouden of en wanneer je onze e-mails opent en op welke links je klikt, om te zien welke e-mails de moeite waard zijn. Je kunt je altijd bedenken.',
    trackingOn: 'Op dit moment wordt dit bijgehouden.',
    trackingOff: 'Op dit moment wordt dit niet bijgehouden.',
    trackingAllow: 'Jullie mogen dit bijhouden',
    trackingRefuse: 'Niet bijhouden',
    trackingAllowed: 'Dank je wel. Vanaf de volgende e-mail wordt bijgehouden wat je opent en aanklikt.',
    trackingRefused: 'Er wordt niet meer bijgehouden wat je opent en aanklikt. Links in e-mails blijven werken.',
    unsubscribed: 'Je bent afgemeld.',
    unsubscribedGroup: (group) => `Je bent afgemeld voor ‘${group}’.`,
  },
  verify: {
    kind: 'Afzenderadres',
    title: 'Dit adres bevestigen',
    somebody: 'Iemand wil e-mail versturen vanaf',
    warning:
      'Bevestig alleen als deze mailbox van jou is en je ervan weet. Zo niet, sluit dan deze pagina: er gebeurt niets.',
    confirm: 'Ja, dit adres bevestigen',
    doneTitle: 'Adres bevestigd',
    done: (email) => (
      <>
        Er kan nu e-mail worden verstuurd vanaf <strong>{email}</strong>.
      </>
    ),
    close: 'Je kunt deze pagina sluiten.',
  },
  archive: {
    title: 'Mailarchief',
    untitled: 'Zonder onderwerp',
    older: 'Oudere e-mails',
    newer: 'Nieuwere e-mails',
    pages: 'Pagina’s',
    feed: 'Volgen in een feedlezer',
  },
  form: {
    email: 'E-mailadres',
    fields: {
      first_name: 'Voornaam',
      last_name: 'Achternaam',
      state: 'Provincie',
      city: 'Plaats',
      address_line1: 'Adres',
      address_line2: 'Adres, tweede regel',
      state_province_region: 'Staat, provincie of regio',
      postal_code: 'Postcode',
    },
    optional: 'optioneel',
    groups: 'Wat wil je ontvangen?',
    privacy: 'Privacybeleid',
    trap: 'Laat dit veld leeg',
    faults: {
      required: 'Vul dit in.',
      invalid: 'Controleer dit.',
      long: 'Dit is te lang.',
      email: 'Vul een geldig e-mailadres in.',
      consent: 'Geef toestemming, zodat we je mogen schrijven.',
    },
    faulty: 'Controleer de gemarkeerde velden.',
    again: 'Nog één stap: controleer wat je hebt ingevuld en klik op de knop.',
    busy: 'Dit formulier krijgt op dit moment te veel aanmeldingen. Probeer het over een uur nog eens.',
    unproven:
      'Om robots te weren heeft dit formulier op dit moment JavaScript nodig. Zet het aan, of probeer het over een uur nog eens.',
    working: 'Een ogenblik, je browser bewijst dat hij geen robot is …',
    confirmFor: (email) => (
      <>
        Wil je <strong>{email}</strong> aanmelden?
      </>
    ),
    filledIn: 'Wat is ingevuld',
    chosen: 'Gekozen',
    confirm: 'Ja, meld mij aan',
    notYou: 'Heb je dit niet aangevraagd, sluit dan deze pagina: er gebeurt niets.',
    toForm: 'Naar het formulier',
    suppressed: (contact: string): string =>
      `Je keuze is opgeslagen, maar dit adres krijgt geen e-mail van ons: het staat op onze blokkeerlijst, omdat een e-mail terugkwam of als spam is gemeld.\nWil je weer e-mail ontvangen, schrijf dan naar ${contact} en vraag of het adres van die lijst kan worden gehaald.`,
  },
};
