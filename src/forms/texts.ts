/** The texts of a form that its owner may write, and their defaults. */
import type { forms } from '../database/schema/index.ts';

export type FormLanguage = (typeof forms.$inferSelect)['language'];

/** The texts by column. */
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

/** The default texts, by language. A line break begins a new paragraph. */
export const USUAL_TEXTS: Readonly<Record<FormLanguage, FormTexts>> = {
  en: {
    title: 'Subscribe to our newsletter',
    consent_text: 'I would like to get this newsletter by e-mail. I can unsubscribe at any time.',
    tracking_text: 'You may record which mails I open and which links I follow. I can refuse it later, in every mail.',
    button_text: 'Subscribe',
    mail_subject: 'Please confirm your subscription',
    mail_text:
      'Somebody, hopefully you, would like to subscribe this address to our newsletter. Please confirm that it was you.',
    sent_text:
      'Please look into your inbox. We have sent you a mail with a link: once you have confirmed there, you are subscribed.\nNothing there? Please look into the spam folder, too.',
    confirmed_text: 'Thank you, and welcome! You are subscribed.',
    already_text: 'You are already subscribed. There is nothing more to do.',
    expired_text: 'This link is too old. Please subscribe again, and we send you a new one.',
    off_text: 'This form takes no subscriptions at the moment.',
  },
  de: {
    title: 'Newsletter abonnieren',
    consent_text: 'Ich möchte diesen Newsletter per E-Mail erhalten. Ich kann mich jederzeit abmelden.',
    tracking_text:
      'Sie dürfen erfassen, welche Mails ich öffne und welchen Links ich folge. Das kann ich später in jeder Mail ablehnen.',
    button_text: 'Abonnieren',
    mail_subject: 'Bitte bestätigen Sie Ihre Anmeldung',
    mail_text:
      'Jemand, hoffentlich Sie selbst, möchte diese Adresse für unseren Newsletter anmelden. Bitte bestätigen Sie, dass Sie es waren.',
    sent_text:
      'Bitte sehen Sie in Ihr Postfach. Wir haben Ihnen eine Mail mit einem Link geschickt: Sobald Sie dort bestätigt haben, sind Sie angemeldet.\nNichts angekommen? Bitte sehen Sie auch im Spam-Ordner nach.',
    confirmed_text: 'Vielen Dank und herzlich willkommen! Sie sind angemeldet.',
    already_text: 'Sie sind bereits angemeldet. Es ist nichts weiter zu tun.',
    expired_text: 'Dieser Link ist zu alt. Bitte melden Sie sich noch einmal an, dann schicken wir Ihnen einen neuen.',
    off_text: 'Dieses Formular nimmt im Moment keine Anmeldungen an.',
  },
};

/**
 * Returns the texts of a form: the given ones, else its own, else the defaults of its language. A text equal to the default of
 * the previous language becomes the default of the new one.
 */
export function formTexts(
  language: FormLanguage,
  given: Partial<FormTexts>,
  before: (FormTexts & { language: FormLanguage }) | null,
): FormTexts {
  const usual = USUAL_TEXTS[language];
  const texts = { ...usual };
  for (const name of TEXT_NAMES) {
    const kept = given[name] ?? before?.[name] ?? '';
    const isUsual = kept === '' || (before !== null && kept === USUAL_TEXTS[before.language][name]);
    texts[name] = isUsual ? usual[name] : kept;
  }
  return texts;
}
