/** Templates as HTML and as MJML, compiled, and what a recipient with values gets. */
import type { Content, ContentSource } from '../../../src/delivery/content/compiled-content.ts';
import { mergeHtml, mergeText, type Values } from '../../../src/delivery/content/merge.ts';
import { CLICK_URL, OPEN_URL, PREFERENCES } from '../../../src/delivery/content/placeholders.ts';
import { buildContent } from '../../../src/delivery/mime/build.ts';

/** Content without a template. */
export const nothing: ContentSource = {
  template_json: null,
  template_html: null,
  subject: 'Subject',
  preheader: '',
  tracking: false,
  footer: false,
};

/** What a template needs in order to get no footer. */
export const complete = '((sender_address)) <a href="((unsubscribe_preferences))">Preferences</a>';

/** An HTML template, compiled. */
export const page = (template_html: string, more: Partial<ContentSource> = {}) =>
  buildContent({ ...nothing, template_html, ...more });

/** An element of MJML in its JSON form. */
export type Node = { tagName: string; attributes?: object; content?: string; children?: Node[] };

/** An MJML document with one column. */
export const mjml = (body: Node[], head: Node[] = []): Node => ({
  tagName: 'mjml',
  attributes: {},
  children: [
    { tagName: 'mj-head', attributes: {}, children: head },
    { tagName: 'mj-body', attributes: {}, children: [section(body)] },
  ],
});

const section = (children: Node[]): Node => ({
  tagName: 'mj-section',
  attributes: {},
  children: [{ tagName: 'mj-column', attributes: {}, children }],
});

/** A paragraph. */
export const text = (content: string): Node => ({ tagName: 'mj-text', attributes: {}, content });

/** An MJML template, compiled. */
export const designed = (root: unknown, more: Partial<ContentSource> = {}) =>
  buildContent({ ...nothing, template_json: JSON.stringify(root), ...more });

const values: Values = {
  first_name: 'Zoë & Co',
  city: 'Berlin <b>',
  sender_address: 'Street 1, City',
  [PREFERENCES]: 'https://mail.example.com/p?t=1&u=2',
  [OPEN_URL]: 'https://mail.example.com/o/token',
  [CLICK_URL]: 'https://mail.example.com/c/token/',
};

/** The HTML part that the recipient gets. */
export const html = (content: Content) => mergeHtml(content.html, values);

/** The text part that the recipient gets. */
export const plain = (content: Content) => mergeText(content.text, values);
