/** The mail that asks the owner of an address to confirm it as a sender. */
import type { FrozenContent } from '../delivery/queue/ready-mailing.ts';
import { questionContent, questionHtml } from './question-mail.ts';

/** The content of the mail to `email`, whose button opens `url`. The text says that the link works for `days` days. */
export function verificationContent(email: string, url: string, days: number): FrozenContent {
  const asked = {
    language: 'en',
    title: 'Confirm your address',
    heading: 'Is this address yours?',
    paragraphs: [`Somebody, most likely you, wants to send mail from ${email} with Sendlark.`],
    button: 'Confirm this address',
    note: `The link works for ${days} days. If this was not you, do nothing: without a confirmation no mail is sent from your address.`,
    fallback: 'Does the button not work? Open',
  };
  const text = `Is ${email} yours?

Somebody, most likely you, wants to send mail from this address with Sendlark.
Open this page and press the button to confirm:

${url}

The link works for ${days} days. If this was not you, do nothing: without a
confirmation no mail is sent from your address.
`;
  const mail = { subject: `Confirm ${email}`, html: questionHtml(asked, url), text };
  return questionContent(mail, { email, name: 'Sendlark' });
}
