/** The mail that asks the owner of an address to confirm the subscription that somebody requested with a form. */
import type { FrozenContent } from '../delivery/queue/ready-mailing.ts';
import type { PageLanguage } from '../languages.ts';
import { oneButtonHtml, oneButtonMailContent } from '../senders/one-button-mail.ts';
import type { Form } from './forms.ts';

/** How many days the link in the mail works. */
export const LINK_DAYS = 7;

/** The texts of the mail that the owner of the form cannot change. */
interface MailWords {
  confirm: string;
  open: string;
  works(days: number): string;
  /** Stands before the URL, for readers whose mail client does not show the button. */
  button: string;
}

const WORDS: Readonly<Record<PageLanguage, MailWords>> = {
  en: {
    confirm: 'Confirm the subscription',
    open: 'Open this page and press the button to confirm:',
    works: (days) => `The link works for ${days} days. If this was not you, do nothing: you are not subscribed.`,
    button: 'Does the button not work? Open',
  },
  de: {
    confirm: 'Anmeldung bestätigen',
    open: 'Öffnen Sie diese Seite und klicken Sie auf die Schaltfläche, um zu bestätigen:',
    works: (days) =>
      `Der Link gilt ${days} Tage. Waren Sie das nicht, müssen Sie nichts tun: Sie sind nicht angemeldet.`,
    button: 'Die Schaltfläche funktioniert nicht? Öffnen Sie',
  },
  fr: {
    confirm: 'Confirmer l’abonnement',
    open: 'Ouvrez cette page et appuyez sur le bouton pour confirmer :',
    works: (days) =>
      `Le lien est valable ${days} jours. Si ce n’était pas vous, ne faites rien : vous n’êtes pas abonné.`,
    button: 'Le bouton ne fonctionne pas ? Ouvrez',
  },
  es: {
    confirm: 'Confirmar la suscripción',
    open: 'Abre esta página y pulsa el botón para confirmar:',
    works: (days) =>
      `El enlace funciona durante ${days} días. Si no has sido tú, no hagas nada: la dirección no queda suscrita.`,
    button: '¿No funciona el botón? Abre',
  },
  it: {
    confirm: 'Conferma l’iscrizione',
    open: 'Apri questa pagina e premi il pulsante per confermare:',
    works: (days) =>
      `Il link vale ${days} giorni. Se non sei stato tu, non fare nulla: l’indirizzo non viene iscritto.`,
    button: 'Il pulsante non funziona? Apri',
  },
  nl: {
    confirm: 'Aanmelding bevestigen',
    open: 'Open deze pagina en klik op de knop om te bevestigen:',
    works: (days) => `De link werkt ${days} dagen. Was jij het niet, doe dan niets: je bent niet aangemeld.`,
    button: 'Werkt de knop niet? Open',
  },
  pl: {
    confirm: 'Potwierdź zapis',
    open: 'Otwórz tę stronę i naciśnij przycisk, aby potwierdzić:',
    works: (days) =>
      `Link działa przez następującą liczbę dni: ${days}. Jeśli to nie Twoje zgłoszenie, nic nie rób: adres nie zostanie zapisany.`,
    button: 'Przycisk nie działa? Otwórz',
  },
  pt: {
    confirm: 'Confirmar a subscrição',
    open: 'Abra esta página e carregue no botão para confirmar:',
    works: (days) =>
      `O link funciona durante ${days} dias. Se não foi você, não faça nada: o endereço não fica subscrito.`,
    button: 'O botão não funciona? Abra',
  },
};

/** Returns the content of a form's confirmation mail. Its button opens `url`. */
export function confirmationContent(form: Form, fromEmail: string, url: string): FrozenContent {
  const { language, title } = form;
  const paragraphs = form.mail_text.split('\n').filter((line) => line.trim() !== '');
  const words = WORDS[language];
  const note = words.works(LINK_DAYS);
  const parts = { language, title, heading: title, paragraphs, note, button: words.confirm, fallback: words.button };
  const text = `${title}

${paragraphs.join('\n\n')}

${words.open}

${url}

${note}
`;
  const mail = { subject: form.mail_subject, html: oneButtonHtml(parts, url), text };
  return oneButtonMailContent(mail, { email: fromEmail, name: '' });
}
