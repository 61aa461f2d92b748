/** The design page: a mail is laid out, looked at and tried there by whoever holds its signed link. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { parseAddress } from '../audience/addresses.ts';
import { customFieldsOf } from '../audience/fields.ts';
import { type Design, designOfLink, saveDesign, senderValues, type TemplateCode } from '../campaigns/designs.ts';
import { queueTest } from '../campaigns/test-mail.ts';
import type { Db } from '../database/open.ts';
import { dynamicContents } from '../database/schema.ts';
import { compileContent } from '../delivery/compile.ts';
import { ContentError } from '../delivery/compiled.ts';
import { mergeHtml, mergeLine, PREFERENCES, WEB_COPY } from '../delivery/merge.ts';
import { type MjmlNode, parseMjml } from '../delivery/mjml.ts';
import { fromMarkup, toMarkup } from '../delivery/mjml-markup.ts';
import { valuesOfAddress } from '../delivery/recipients.ts';
import type { Deps } from '../deps.ts';
import { conflict, Failure, notFound } from '../failure.ts';
import { FORM_BYTES } from '../plugins/forms.ts';
import { html } from './html.ts';
import { page, READ, unknownLink } from './layout.ts';

/** Only our own scripts run and only we are asked; pictures come from where the mail has them. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  'img-src https: http: data: blob:',
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const GONE = 410;
const TEMPLATE_CHARACTERS = 2 * 1024 * 1024;
const EMPTY =
  '<mjml><mj-body><mj-section><mj-column><mj-text>Write here</mj-text></mj-column></mj-section></mj-body></mjml>';

/** What grapesjs-mjml knows. */
const DRAWN = new Set(
  'body button column divider group hero image navbar navbar-link raw section social social-element spacer text wrapper'
    .split(' ')
    .map((name) => `mj-${name}`),
);
const HEAD_DRAWN = new Set(['mj-font', 'mj-style']);

interface Call {
  Params: { token: string };
  Body: { mjml?: unknown; html?: unknown; email?: unknown } | undefined;
}

export async function designPage(app: FastifyInstance, deps: Deps): Promise<void> {
  const { db, tokens, clock, publicUrl } = deps;
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'string', bodyLimit: FORM_BYTES },
    app.getDefaultJsonParser('error', 'error'),
  );
  app.setErrorHandler<Error & { statusCode?: number }>((error, request, reply) => {
    if (error instanceof Failure) return reply.code(error.status).send({ problem: error.message });
    if (error instanceof ContentError) return reply.code(422).send({ problem: error.message });
    const status = error.statusCode ?? 500;
    if (status >= 500) request.log.error({ err: error, route: request.routeOptions.url }, 'design page failed');
    return reply
      .code(status)
      .send({ problem: status < 500 ? error.message : 'Something went wrong. Please try again.' });
  });
  const found = (token: string): Design => {
    const design = designOfLink(db, tokens, token, clock.now(), 'usable');
    if (design === null) throw notFound('This link does not work any more.');
    if (design === 'expired')
      throw new Failure(GONE, 'This link has expired. Copy what you changed and open a new one.');
    return design;
  };

  app.route<Call>({
    method: READ,
    url: '/design/:token',
    handler: (request, reply) => {
      const design = designOfLink(db, tokens, request.params.token, clock.now(), 'opening');
      if (design === null) return unknownLink(reply);
      if (design === 'expired') return expired(reply);
      return reply.header('content-security-policy', POLICY).type('text/html; charset=utf-8').send(frame(design));
    },
  });

  app.get<Call>('/design/:token/content', async (request) => {
    const design = found(request.params.token);
    const fields = mergeFields(db, design.user_id);
    if (design.template_html !== '' && design.template_json === '') return { html: design.template_html, fields };
    const root = design.template_json === '' ? fromMarkup(EMPTY) : parseMjml(design.template_json);
    return { ...forEditor(root), fields };
  });

  app.post<Call>('/design/:token', async (request) => {
    const design = found(request.params.token);
    await saveDesign(deps, design, codeOf(design, request.body));
    return { message: 'Saved' };
  });

  app.post<Call>('/design/:token/preview', async (request) => {
    const design = found(request.params.token);
    const { subject, preheader } = design;
    const given = String(request.body?.email ?? '').trim();
    const compared = given === '' ? null : (parseAddress(given)?.compared ?? '');
    const person = valuesOfAddress(db, design.user_id, compared);
    if (given !== '' && person === null) throw notFound(`There is no contact ${given}.`);
    const code = codeOf(design, request.body);
    const content = await compileContent({ ...code, subject, preheader, tracking: false, footer: true });
    const sample = { [PREFERENCES]: `${publicUrl()}/u/preview`, [WEB_COPY]: `${publicUrl()}/w/preview` };
    const values = { ...person, ...senderValues(db, design), ...sample };
    return {
      html: mergeHtml(content.html, values),
      subject: mergeLine(subject, values),
      email: person?.email ?? '',
    };
  });

  app.post<Call>('/design/:token/test', async (request) => {
    const address = parseAddress(String(request.body?.email ?? '').trim());
    if (address === null) throw conflict('That is not an e-mail address.');
    await queueTest(deps, found(request.params.token), [address]);
    return { message: `A test is on its way to ${address.address}` };
  });
}

/** The template code in a request; an editor's markup becomes JSON, which keeps the head its editor does not know. */
function codeOf(design: Design, body: Call['Body']): TemplateCode {
  const { mjml, html: source } = body ?? {};
  if (typeof source === 'string' && source.trim() !== '' && source.length <= TEMPLATE_CHARACTERS) {
    return { template_json: '', template_html: source };
  }
  if (typeof mjml !== 'string' || mjml.length > TEMPLATE_CHARACTERS)
    throw new ContentError('There is no design to save.');
  const drawn = fromMarkup(mjml);
  const before = design.template_json === '' ? null : parseMjml(design.template_json);
  const isEdited = before !== null && forEditor(before).isDrawable;
  const head = isEdited ? (before.children?.filter((child) => child.tagName === 'mj-head') ?? []) : [];
  const drawnHead = drawn.children?.filter((child) => child.tagName === 'mj-head') ?? [];
  const rest = drawn.children?.filter((child) => child.tagName !== 'mj-head') ?? [];
  const attributes = before?.attributes ?? drawn.attributes;
  const whole = { tagName: 'mjml', attributes, children: [...(head.length > 0 ? head : drawnHead), ...rest] };
  const template_json = JSON.stringify(whole);
  parseMjml(template_json);
  return { template_json, template_html: '' };
}

/** What the editor gets: the body, and of the head what it can draw. It would lose the inside of elements it does not know. */
function forEditor(root: MjmlNode): { mjml: string; isDrawable: boolean } {
  const children = root.children ?? [];
  const parts = children.map((part) =>
    part.tagName === 'mj-head'
      ? { ...part, children: part.children?.filter(({ tagName }) => HEAD_DRAWN.has(tagName)) ?? [] }
      : part,
  );
  const isDrawable = children.every((part) =>
    // Beside mj-attributes it would drop what it takes for defaults.
    part.tagName === 'mj-head' ? !part.children?.some(({ tagName }) => tagName === 'mj-attributes') : isDrawn(part),
  );
  return { mjml: toMarkup({ ...root, children: isDrawable ? parts : children }), isDrawable };
}

function isDrawn({ tagName, children = [] }: MjmlNode): boolean {
  return DRAWN.has(tagName) && children.every(isDrawn);
}

/** Every name that may stand in ((…)): the built-in list with our addition, then the account's own fields. */
function mergeFields(db: Db, userId: number): string[] {
  const own = customFieldsOf(db, userId).map(({ field_name }) => field_name);
  const listed = db.select({ name: dynamicContents.name }).from(dynamicContents).all();
  return [...new Set([...listed.map(({ name }) => name), WEB_COPY, ...own])];
}

function expired(reply: FastifyReply): FastifyReply {
  return page(
    reply.code(GONE),
    'This link has expired',
    html`<h1>This link has expired</h1>
<p>A link to a design opens for 24 hours. Nothing is lost: open the design again from where you manage your mails, and you get a new link.</p>`,
  );
}

function frame({ title, subject, locked }: Design): string {
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">
<title>Design: ${subject}</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="../assets/grapes.css"><link rel="stylesheet" href="../assets/design.css">
<script defer src="../assets/grapes.js"></script><script defer src="../assets/grapes-mjml.js"></script><script type="module" src="../assets/design.js"></script></head>
<body data-locked="${locked ?? ''}">
<header><div class="what"><h1>${subject}</h1><p>${title}</p></div>
<p id="status" role="status">${locked ?? 'Loading …'}</p>
<div class="actions"><button id="preview" class="plain" type="button">Preview</button><button id="test" class="plain" type="button">Send test mail</button><button id="save" type="button">Save</button></div></header>
<main id="editor"></main>
<dialog id="preview-dialog" aria-label="Preview"><form method="dialog" class="bar">
<fieldset><legend>Width</legend><label><input type="radio" name="width" value="desk" checked> Desk</label><label><input type="radio" name="width" value="phone"> Phone</label></fieldset>
<label>As contact <input id="contact" type="email" placeholder="the newest contact" autocomplete="off"></label>
<button id="refresh" class="plain" type="button">Show</button><button>Close</button></form>
<p id="subject"></p><iframe id="mail" title="The mail" sandbox="" class="desk"></iframe></dialog>
<dialog id="test-dialog" aria-label="Send test mail"><form class="bar" id="test-form"><label>Send a test to <input id="address" type="email" required autocomplete="email"></label>
<button>Save and send</button><button class="plain" type="button" id="test-cancel">Cancel</button></form></dialog>
<noscript>This page needs JavaScript.</noscript>
</body></html>
`.text;
}
