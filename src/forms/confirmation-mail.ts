/**
 * The mail that asks whether an address may be subscribed. Nothing in it comes from whoever filled in the form, since that may be a
 * stranger who wants to write to somebody through us; and it has no pixel and no counted links.
 */
import type { FrozenContent } from '../delivery/queue/ready-mailing.ts';
import { questionContent, questionHtml } from '../senders/question-mail.ts';
import type { Form } from './forms.ts';
import type { FormLanguage } from './texts.ts';

const WORDS: Readonly<
  Record<FormLanguage, { confirm: string; open: string; works(days: number): string; button: string }>
> = {
  en: {
    confirm: 'Confirm the subscription',
    open: 'Open this page and press the button to confirm:',
    works: (days) => `The link works for ${days} days. If this was not you, do nothing: you are not subscribed.`,
    button: 'Does the button not work? Open',
  },
  de: {
    confirm: 'Anmeldung bestätigen',
    open: 'Öffnen Sie diese Seite und drücken Sie den Knopf, um zu bestätigen:',
    works: (days) => `Der Link gilt ${days} Tage. Waren Sie es nicht, tun Sie nichts: Sie sind nicht angemeldet.`,
    button: 'Der Knopf geht nicht? Öffnen Sie',
  },
};

/** The content of the mail of a form, whose button opens `url`. The text says that the link works for `days` days. */
export function confirmationContent(form: Form, fromEmail: string, url: string, days: number): FrozenContent {
  const { language, title } = form;
  const paragraphs = form.mail_text.split('\n').filter((line) => line.trim() !== '');
  const words = WORDS[language];
  const note = words.works(days);
  const asked = { language, title, heading: title, paragraphs, note, button: words.confirm, fallback: words.button };
  const text = `${title}

${paragraphs.join('\n\n')}

${words.open}

${url}

${note}
`;
  const mail = { subject: form.mail_subject, html: questionHtml(asked, url), text };
  return questionContent(mail, { email: fromEmail, name: '' });
}
