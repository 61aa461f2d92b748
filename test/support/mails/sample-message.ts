/** A mailing's facts and content, and one recipient's message of it. */
import type { Content } from '../../../src/delivery/content/compiled-content.ts';
import type { Values } from '../../../src/delivery/content/merge.ts';
import { buildContent } from '../../../src/delivery/mime/build.ts';
import {
  type MailingFacts,
  type PreparedMessage,
  type Recipient,
  render as renderMail,
} from '../../../src/delivery/mime/message.ts';

/** What holds for every message of the mailing. */
export const facts: MailingFacts = {
  from: { name: 'Müller & Söhne', address: 'news@bücher.example' },
  replyTo: 'reply@example.com',
  constants: { sender_name: 'Müller & Söhne', sender_address: 'Hauptstraße 1, 10115 Berlin, Germany' },
  bulk: { listId: 'group-1.example.com', feedbackId: '1:2:3:sendlark' },
};

/** The addresses of one recipient. */
export const urls = {
  preferences: 'https://mail.example.com/p/token',
  oneClick: 'https://mail.example.com/u/token',
  webCopy: 'https://mail.example.com/w/token',
  open: 'https://mail.example.com/o/token',
  click: 'https://mail.example.com/c/token/',
};

/** A template with placeholders in text, attributes and addresses. */
export const html = `<html><body style="margin:0">
<p title='((last_name))'>Dear ((first_name|friend)), you are ((age)) in ((city)).</p>
<a href="https://shop.example.com/?name=((first_name))&amp;ref=mail">Shop</a> <a href=((website))>Yours</a>
<pre>  indented   and	tabbed  </pre>
<p>Grüße 🎉, ((sender_name)), ((sender_address)), ((unsubscribe_preferences))</p></body></html>`;

/** The compiled content of the template, or of another one. */
export function content(source: { html?: string; subject?: string; tracking?: boolean } = {}): Promise<Content> {
  return buildContent({
    template_json: null,
    template_html: source.html ?? html,
    subject: source.subject ?? 'News for ((first_name|you))',
    preheader: 'In short: ((city|everywhere))',
    tracking: source.tracking ?? true,
    footer: true,
  });
}

/** A recipient with these values. */
export function recipient(values: Values = {}, more: Partial<Recipient> = {}): Recipient {
  return {
    address: 'jane@example.net',
    name: 'Jane Doe',
    values,
    messageId: '17.abc@mail.example.com',
    date: new Date('2026-03-01T08:09:10Z'),
    urls,
    ...more,
  };
}

/** The bytes of a message. */
export function render(prepared: PreparedMessage, to: Recipient, memory?: Buffer): Buffer {
  return renderMail(prepared, to, memory).bytes;
}
