/** The texts of a form that its owner may write, and the usual texts, which a form has until then. */
import type { PageLanguage } from '../languages.ts';

/** The columns that have the texts. */
export const TEXT_NAMES = [
  'title',
  'consent_text',
  'tracking_text',
  'button_text',
  'mail_subject',
  'mail_text',
  'sent_text',
  'confirmed_text',
  'already_text',
  'expired_text',
  'off_text',
] as const;
export type FormTexts = Record<(typeof TEXT_NAMES)[number], string>;

/** The usual texts by language. A line break begins a new paragraph. */
export const USUAL_TEXTS: Readonly<Record<PageLanguage, FormTexts>> = {
  en: {
    title: 'Subscribe to our newsletter',
    consent_text: 'I would like to get this newsletter by e-mail. I can unsubscribe at any time.',
    tracking_text:
      'You may record which e-mails I open and which links I follow. I can refuse it later, in every e-mail.',
    button_text: 'Subscribe',
    mail_subject: 'Please confirm your subscription',
    mail_text:
      'Somebody, hopefully you, would like to subscribe this address to our newsletter. Please confirm that it was you.',
    sent_text:
      'Please look into your inbox. We have sent you an e-mail with a link: once you have confirmed there, you are subscribed.\nNothing there? Please look into the spam folder, too.',
    confirmed_text: 'Thank you, and welcome! You are subscribed.',
    already_text: 'You are already subscribed. There is nothing more to do.',
    expired_text: 'This link is too old. Please subscribe again, and we send you a new one.',
    off_text: 'This form takes no subscriptions at the moment.',
  },
  de: {
    title: 'Newsletter abonnieren',
    consent_text: 'Ich möchte diesen Newsletter per E-Mail erhalten. Ich kann mich jederzeit abmelden.',
    tracking_text:
      'Sie dürfen aufzeichnen, welche E-Mails ich öffne und welchen Links ich folge. Das kann ich später in jeder E-Mail ablehnen.',
    button_text: 'Abonnieren',
    mail_subject: 'Bitte bestätigen Sie Ihre Anmeldung',
    mail_text:
      'Jemand, hoffentlich Sie selbst, möchte diese Adresse für unseren Newsletter anmelden. Bitte bestätigen Sie, dass Sie es waren.',
    sent_text:
      'Bitte sehen Sie in Ihrem Postfach nach. Wir haben Ihnen eine E-Mail mit einem Link geschickt: Sobald Sie dort bestätigt haben, sind Sie angemeldet.\nNichts angekommen? Bitte sehen Sie auch im Spam-Ordner nach.',
    confirmed_text: 'Vielen Dank und herzlich willkommen! Sie sind angemeldet.',
    already_text: 'Sie sind bereits angemeldet. Es ist nichts weiter zu tun.',
    expired_text: 'Dieser Link ist zu alt. Bitte melden Sie sich noch einmal an, dann schicken wir Ihnen einen neuen.',
    off_text: 'Dieses Formular nimmt im Moment keine Anmeldungen an.',
  },
  fr: {
    title: 'Abonnez-vous à notre newsletter',
    consent_text: 'Je souhaite recevoir cette newsletter par e-mail. Je peux me désabonner à tout moment.',
    tracking_text:
      'Vous pouvez enregistrer quels e-mails j’ouvre et quels liens je suis. Je peux le refuser plus tard, dans chaque e-mail.',
    button_text: 'S’abonner',
    mail_subject: 'Veuillez confirmer votre abonnement',
    mail_text:
      'Quelqu’un, sans doute vous, souhaite abonner cette adresse à notre newsletter. Veuillez confirmer que c’était bien vous.',
    sent_text:
      'Veuillez consulter votre boîte de réception. Nous vous avons envoyé un e-mail avec un lien : dès que vous aurez confirmé, vous serez abonné.\nRien reçu ? Veuillez regarder aussi dans le dossier des indésirables.',
    confirmed_text: 'Merci et bienvenue ! Vous êtes abonné.',
    already_text: 'Vous êtes déjà abonné. Il n’y a rien d’autre à faire.',
    expired_text: 'Ce lien est trop ancien. Veuillez vous inscrire à nouveau, nous vous en enverrons un autre.',
    off_text: 'Ce formulaire n’accepte pas d’inscriptions pour le moment.',
  },
  es: {
    title: 'Suscríbete a nuestro boletín',
    consent_text: 'Quiero recibir este boletín por correo electrónico. Puedo darme de baja en cualquier momento.',
    tracking_text:
      'Podéis registrar qué correos abro y qué enlaces sigo. Puedo rechazarlo más adelante, en cada correo.',
    button_text: 'Suscribirse',
    mail_subject: 'Confirma tu suscripción',
    mail_text:
      'Alguien, esperamos que tú, quiere suscribir esta dirección a nuestro boletín. Confirma que has sido tú.',
    sent_text:
      'Revisa tu bandeja de entrada. Te hemos enviado un correo con un enlace: en cuanto confirmes, quedará hecha la suscripción.\n¿No ha llegado nada? Mira también en la carpeta de spam.',
    confirmed_text: '¡Gracias y te damos la bienvenida! La suscripción está hecha.',
    already_text: 'Esta dirección ya está suscrita. No hay que hacer nada más.',
    expired_text: 'Este enlace es demasiado antiguo. Suscríbete de nuevo y te enviaremos otro.',
    off_text: 'Este formulario no admite suscripciones en este momento.',
  },
  it: {
    title: 'Iscriviti alla nostra newsletter',
    consent_text: 'Desidero ricevere questa newsletter via e-mail. Posso annullare l’iscrizione in qualsiasi momento.',
    tracking_text:
      'Potete registrare quali e-mail apro e quali link seguo. Posso rifiutarlo in seguito, in ogni e-mail.',
    button_text: 'Iscriviti',
    mail_subject: 'Conferma la tua iscrizione',
    mail_text:
      'Qualcuno, speriamo tu, vorrebbe iscrivere questo indirizzo alla nostra newsletter. Conferma che sei stato tu.',
    sent_text:
      'Controlla la tua casella di posta. Ti abbiamo inviato un’e-mail con un link: appena avrai confermato, l’iscrizione sarà attiva.\nNon è arrivato nulla? Controlla anche la cartella dello spam.',
    confirmed_text: 'Grazie e benvenuto! La tua iscrizione è attiva.',
    already_text: 'Questo indirizzo è già iscritto. Non c’è altro da fare.',
    expired_text: 'Questo link è troppo vecchio. Iscriviti di nuovo e te ne invieremo uno nuovo.',
    off_text: 'Al momento questo modulo non accetta iscrizioni.',
  },
  nl: {
    title: 'Meld je aan voor onze nieuwsbrief',
    consent_text: 'Ik wil deze nieuwsbrief graag per e-mail ontvangen. Ik kan me altijd afmelden.',
    tracking_text:
      'Jullie mogen bijhouden welke e-mails ik open en welke links ik volg. Ik kan dit later weigeren, in elke e-mail.',
    button_text: 'Aanmelden',
    mail_subject: 'Bevestig je aanmelding',
    mail_text: 'Iemand, hopelijk jij, wil dit adres aanmelden voor onze nieuwsbrief. Bevestig dat jij het was.',
    sent_text:
      'Kijk in je inbox. We hebben je een e-mail met een link gestuurd: zodra je daar hebt bevestigd, ben je aangemeld.\nNiets ontvangen? Kijk ook in de map met spam.',
    confirmed_text: 'Bedankt en welkom! Je bent aangemeld.',
    already_text: 'Je bent al aangemeld. Je hoeft verder niets te doen.',
    expired_text: 'Deze link is te oud. Meld je opnieuw aan, dan sturen we je een nieuwe.',
    off_text: 'Dit formulier neemt op dit moment geen aanmeldingen aan.',
  },
  pl: {
    title: 'Zapisz się do naszego newslettera',
    consent_text: 'Chcę otrzymywać ten newsletter e-mailem. W każdej chwili mogę się wypisać.',
    tracking_text:
      'Zgadzam się na zapisywanie, które wiadomości otwieram i które linki wybieram. Mogę to później odwołać w każdej wiadomości.',
    button_text: 'Zapisz się',
    mail_subject: 'Potwierdź swój zapis',
    mail_text:
      'Ktoś, mamy nadzieję, że to Ty, chce zapisać ten adres do naszego newslettera. Potwierdź, że to było Twoje zgłoszenie.',
    sent_text:
      'Zajrzyj do swojej skrzynki. Wysłaliśmy wiadomość z linkiem: po potwierdzeniu zapis będzie gotowy.\nNic nie przyszło? Zajrzyj też do folderu ze spamem.',
    confirmed_text: 'Dziękujemy i witamy! Zapis jest gotowy.',
    already_text: 'Ten adres jest już zapisany. Nic więcej nie trzeba robić.',
    expired_text: 'Ten link jest zbyt stary. Zapisz się ponownie, a wyślemy nowy.',
    off_text: 'Ten formularz nie przyjmuje teraz zapisów.',
  },
  pt: {
    title: 'Subscreva a nossa newsletter',
    consent_text: 'Quero receber esta newsletter por e-mail. Posso cancelar a subscrição a qualquer momento.',
    tracking_text: 'Podem registar que e-mails abro e que links sigo. Posso recusá-lo mais tarde, em cada e-mail.',
    button_text: 'Subscrever',
    mail_subject: 'Confirme a sua subscrição',
    mail_text:
      'Alguém, esperamos que tenha sido você, quer subscrever a nossa newsletter com este endereço. Confirme que foi você.',
    sent_text:
      'Veja a sua caixa de entrada. Enviámos-lhe um e-mail com um link: assim que confirmar, a subscrição fica feita.\nNão chegou nada? Veja também a pasta de spam.',
    confirmed_text: 'Obrigado e bem-vindo! A subscrição está feita.',
    already_text: 'Este endereço já está subscrito. Não é preciso fazer mais nada.',
    expired_text: 'Este link é demasiado antigo. Subscreva novamente e enviamos-lhe outro.',
    off_text: 'Este formulário não aceita subscrições neste momento.',
  },
};

/**
 * Returns the texts of a form: those of `input`, otherwise those of the form `before` (null for a new form), otherwise the usual texts of
 * its language. A text that is the usual one of the previous language becomes the usual one of the new language.
 */
export function formTexts(
  language: PageLanguage,
  input: Partial<FormTexts>,
  before: (FormTexts & { language: PageLanguage }) | null,
): FormTexts {
  const usual = USUAL_TEXTS[language];
  const texts = { ...usual };
  for (const name of TEXT_NAMES) {
    const text = input[name] ?? before?.[name] ?? '';
    const isUsual = text === '' || (before !== null && text === USUAL_TEXTS[before.language][name]);
    texts[name] = isUsual ? usual[name] : text;
  }
  return texts;
}
