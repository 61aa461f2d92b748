/** The mail with which the owner of an address confirms that a sender may use the address, in the languages of the dashboard. */
import type { FrozenContent } from '../delivery/queue/ready-mailing.ts';
import type { LanguageCode } from '../languages.ts';
import { oneButtonHtml, oneButtonMailContent } from './one-button-mail.ts';

/** How many days the link in the mail works. */
export const LINK_DAYS = 7;

interface Texts {
  subject(email: string): string;
  title: string;
  heading: string;
  paragraph(email: string): string;
  button: string;
  /** Introduces the link in the text part of the mail, which has no button. */
  instruction: string;
  note: string;
  fallback: string;
}

const TEXTS: Readonly<Record<LanguageCode, Texts>> = {
  en: {
    subject: (email) => `Confirm ${email}`,
    title: 'Confirm your address',
    heading: 'Is this address yours?',
    paragraph: (email) => `Somebody, most likely you, wants to send mail from ${email} with Sendlark.`,
    button: 'Confirm this address',
    instruction: 'Open this page and press the button to confirm:',
    note: `The link works for ${LINK_DAYS} days. If this was not you, do nothing: without a confirmation no mail is sent from your address.`,
    fallback: 'Does the button not work? Open',
  },
  de: {
    subject: (email) => `${email} bestätigen`,
    title: 'Bestätigen Sie Ihre Adresse',
    heading: 'Gehört diese Adresse Ihnen?',
    paragraph: (email) => `Jemand, vermutlich Sie selbst, will mit Sendlark Mails von ${email} verschicken.`,
    button: 'Diese Adresse bestätigen',
    instruction: 'Öffnen Sie diese Seite und bestätigen Sie dort:',
    note: `Der Link gilt ${LINK_DAYS} Tage. Waren Sie das nicht, müssen Sie nichts tun: Ohne Bestätigung wird keine Mail von Ihrer Adresse verschickt.`,
    fallback: 'Die Schaltfläche funktioniert nicht? Öffnen Sie',
  },
};

/** Returns the content of the verification mail to `email`, whose button opens `url`. */
export function verificationContent(language: LanguageCode, email: string, url: string): FrozenContent {
  const { subject, paragraph, instruction, ...texts } = TEXTS[language];
  const html = oneButtonHtml({ ...texts, language, paragraphs: [paragraph(email)] }, url);
  const text = `${texts.heading}

${paragraph(email)}
${instruction}

${url}

${texts.note}
`;
  return oneButtonMailContent({ subject: subject(email), html, text }, { email, name: 'Sendlark' });
}
