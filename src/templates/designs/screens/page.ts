/**
 * The requests of the design page. Anyone with a mail's signed link can edit, preview and test the mail on this page, with the account's
 * pictures and saved blocks.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { parseAddress } from '../../../audience/contacts/addresses.ts';
import { queueTestMail } from '../../../campaigns/test-mail.ts';
import {
  compileFrozen,
  editTemplate,
  renderTemplate,
  templateProblem,
  viewTemplate,
} from '../../../delivery/compiling/compile.ts';
import { show } from '../../../delivery/compiling/show.ts';
import { ContentError } from '../../../delivery/content/compiled-content.ts';
import { htmlConditionProblem } from '../../../delivery/content/html-regions.ts';
import { hasMoreParts } from '../../../delivery/content/json-size.ts';
import { PREFERENCES, placeholderProblem, WEB_COPY } from '../../../delivery/content/placeholders.ts';
import { isTestMode } from '../../../delivery/transport/relays/in-use.ts';
import { conflict, Failure, notFound, textsOf } from '../../../errors/failure.ts';
import { sentence } from '../../../errors/sentences.ts';
import { withinShare } from '../../../http/account-share.ts';
import { logFailed, noteFailure } from '../../../http/errors.ts';
import { sendMessagePage } from '../../../http/pages/document.tsx';
import { pageRoute, unknownLink } from '../../../http/pages/layout.ts';
import { MAX_FORM_BYTES } from '../../../http/requests/forms.ts';
import { MAX_TEMPLATE_CHARACTERS } from '../../../http/requests/schemas.ts';
import type { Deps } from '../../../operations/deps.ts';
import type { Language } from '../../../ui/words/index.ts';
import { designerBrand } from '../../brand/brand.ts';
import { knownPlaceholders } from '../../content-warnings.ts';
import {
  allowTest,
  codeVersion,
  type Design,
  findDesign,
  sampleValues,
  senderValues,
  type TemplateCode,
} from '../designs.ts';
import { saveDesign } from '../save-design.ts';
import { designBlocks } from './blocks.ts';
import { type Call, isLine } from './call.ts';
import { editorPage, languageOfDesign } from './editor.tsx';
import { designPictures } from './pictures.ts';
import { designVersions, earlierVersions } from './versions.tsx';

/**
 * The page runs only our own scripts, calls only our server, and may be framed only by our pages. Pictures may load from anywhere,
 * because a mail may contain any picture.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  'img-src https: http: data: blob:',
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ');

/** The maximum number of members of a JSON body. The page never sends more. */
const MAX_PARTS = 10;

/** Registers the design page, which a signed link opens. */
export async function designPage(app: FastifyInstance, deps: Deps): Promise<void> {
  const { db, tokens, clock, publicUrl } = deps;
  installRules(app);
  const requireDesign = (token: string): Design => {
    const design = findDesign(db, tokens, token, clock.now(), 'open');
    if (design === null) throw notFound(sentence('design_link_unknown'));
    if (design === 'expired') throw new Failure(410, sentence('design_link_expired'));
    if (design === 'withdrawn') throw new Failure(403, sentence('design_link_withdrawn'));
    return design;
  };

  /** Checks the link before the body is read, so that a request with a wrong link costs only the check of its signature. */
  const onRequest = async ({ params }: FastifyRequest<Call>) => {
    requireDesign(params.token);
  };

  pageRoute<Call>(app, '/design/:token', (request, reply) => {
    const design = findDesign(db, tokens, request.params.token, clock.now(), 'opening');
    if (design === null) return unknownLink(reply);
    const language = languageOfDesign(request.query.lang, request.headers['accept-language']);
    if (design === 'expired') return sendLinkEnd(reply.code(410), language, 'expired');
    if (design === 'withdrawn') return sendLinkEnd(reply.code(403), language, 'withdrawn');
    return reply
      .header('content-security-policy', POLICY)
      .type('text/html; charset=utf-8')
      .send(editorPage(design, `/design/${request.params.token}`, language, earlierVersions(db, design)));
  });

  app.get<Call>('/design/:token/content', async (request) => {
    const design = requireDesign(request.params.token);
    const fields = knownPlaceholders(db, design.user_id);
    const brand = designerBrand(db, design.user_id, publicUrl());
    const version = codeVersion(design);
    if (design.template_html !== '' && design.template_json === '')
      return { html: design.template_html, fields, brand, version };
    const view = await withinShare(design.user_id, () => viewTemplate(design.user_id, design.template_json));
    return { ...view, fields, brand, version };
  });

  app.post<Call>('/design/:token', { onRequest }, async (request) => {
    const { params, body } = request;
    const design = requireDesign(params.token);
    const requireCurrent = () => {
      const stored = codeVersion(requireDesign(params.token));
      if (typeof body?.version === 'string' && body.version !== stored)
        throw new Failure(412, sentence('design_changed'));
    };
    const version = await withinShare(design.user_id, async () => {
      const code = await readTemplateCode(design, body);
      const content = { ...code, ...readLines(design, body) };
      await saveDesign(deps, design, content, signedInUser(request, design), requireCurrent);
      return codeVersion(code);
    });
    return { message: 'Saved', version };
  });

  app.post<Call>('/design/:token/html', { onRequest }, async (request) => {
    const design = requireDesign(request.params.token);
    const mjml = designedMarkup(request.body);
    const html = await withinShare(design.user_id, async () =>
      renderTemplate(design.user_id, await editTemplate(design.user_id, mjml, design.template_json)),
    );
    return { html };
  });

  await designPictures(app, deps, requireDesign);
  await designVersions(app, deps, requireDesign, signedInUser);
  await designBlocks(app, deps, requireDesign);

  app.post<Call>('/design/:token/preview', { onRequest }, async (request, reply) => {
    const design = requireDesign(request.params.token);
    const { subject, preheader } = { ...design, ...readLines({ ...design, isDraft: true }, request.body) };
    const typed = trimmedText(request.body?.email);
    const address = typed === '' ? null : parseAddress(typed);
    const contact = typed !== '' && address === null ? null : sampleValues(db, design, address);
    if (typed !== '' && contact === null) throw notFound(sentence('design_no_contact', { address: typed }));
    const sampleLinks = { [PREFERENCES]: `${publicUrl()}/u/preview`, [WEB_COPY]: `${publicUrl()}/w/preview` };
    const { json } = await withinShare(design.user_id, async () => {
      const code = await readTemplateCode(design, request.body);
      const source = { ...code, subject, preheader, tracking: false, footer: true };
      const { frozen } = await compileFrozen(design.user_id, source, senderValues(db, design));
      return show(design.user_id, { frozen, variant: 0, values: { ...contact, ...sampleLinks }, hasHtml: true });
    });
    const email = JSON.stringify(contact?.email ?? '');
    return reply.type('application/json; charset=utf-8').send(`${json.slice(0, -1)},"email":${email}}`);
  });

  app.post<Call>('/design/:token/test', { onRequest }, async (request) => {
    const design = requireDesign(request.params.token);
    const address = parseAddress(trimmedText(request.body?.email));
    if (address === null) throw conflict(sentence('design_no_address'));
    allowTest(db, design, address, clock.now());
    await withinShare(design.user_id, () => queueTestMail(deps, design, [address]));
    return { isKept: isTestMode(db.$client, deps.config) };
  });
}

/** Sets up how the requests of the page read JSON, and how they answer errors: with the reason as JSON, in the language of the page. */
function installRules(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'string', bodyLimit: MAX_FORM_BYTES },
    (request, body: string, done) => {
      if (hasMoreParts(body, MAX_PARTS)) done(new Failure(400, 'This page does not send such requests.'));
      else parseJson(request, body, done);
    },
  );
  app.setErrorHandler<Error & { statusCode?: number }>((error, request, reply) => {
    const language = languageOfDesign(undefined, request.headers['accept-language']);
    if (error instanceof Failure) {
      // The API says what is missing in English only.
      const isMissing = error.status === 404 && typeof error.errors === 'string';
      const problem = textsOf(isMissing ? sentence('not_found') : error.errors).map((text) =>
        language.fullSentence(text),
      );
      return noteFailure(reply, error)
        .code(error.status)
        .send({ problem: problem.join(' ') });
    }
    if (error instanceof ContentError) return reply.code(422).send({ problem: language.fullSentence(error.said) });
    const status = error.statusCode ?? 500;
    if (status === 413) return reply.code(413).send({ problem: language.fullSentence(sentence('payload_too_large')) });
    if (status >= 500) logFailed(request, error);
    return reply.code(status).send({ problem: status < 500 ? error.message : language.say('designer.failed') });
  });
}

/** Returns the id of the signed-in user if the user belongs to the mail's account; null for anyone who only has the link. */
function signedInUser({ session }: FastifyRequest, { user_id }: Design): number | null {
  return session?.user.accountId === user_id ? session.user.id : null;
}

/**
 * Returns the subject and the preview text of a request, if the request has them. A template has neither. Throws ContentError if one of
 * them has several lines or is too long, or if a mail that is no draft would have no subject.
 */
function readLines({ kind, isDraft }: Design, body: Call['Body']): Partial<Pick<Design, 'subject' | 'preheader'>> {
  if (kind === 'template') return {};
  const lines: Partial<Pick<Design, 'subject' | 'preheader'>> = {};
  for (const name of ['subject', 'preheader'] as const) {
    const text = body?.[name];
    if (typeof text !== 'string') continue;
    const line = text.trim();
    if (!isLine(line)) throw new ContentError(sentence('design_lines'));
    if (name === 'subject' && line === '' && !isDraft) throw new ContentError(sentence('design_no_subject'));
    lines[name] = line;
  }
  return lines;
}

/** Returns a value of a JSON body as a trimmed text; empty if the value is not a text. */
function trimmedText(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}

/**
 * Returns the template code of a request. Throws ContentError if there is no code, if it has a fault, or if it has more placeholders and
 * links than a mail may have.
 */
async function readTemplateCode(design: Design, body: Call['Body']): Promise<TemplateCode> {
  const code = await submittedCode(design, body);
  const { template_json, template_html } = code;
  const codeProblem = template_json ? templateProblem(template_json) : htmlConditionProblem(template_html);
  const problem = codeProblem ?? placeholderProblem(template_json || template_html);
  if (problem !== null) throw new ContentError(problem);
  return code;
}

/** Returns the code of a request unchecked. Markup of the editor becomes JSON with those parts of the head that the editor does not know. */
async function submittedCode(design: Design, body: Call['Body']): Promise<TemplateCode> {
  const { html: source } = body ?? {};
  if (typeof source === 'string' && source.trim() !== '' && source.length <= MAX_TEMPLATE_CHARACTERS) {
    return { template_json: '', template_html: source };
  }
  return {
    template_json: await editTemplate(design.user_id, designedMarkup(body), design.template_json),
    template_html: '',
  };
}

/** Returns the markup of the editor in a request. Throws ContentError if there is none. */
function designedMarkup(body: Call['Body']): string {
  const { mjml } = body ?? {};
  if (typeof mjml !== 'string' || mjml.length > MAX_TEMPLATE_CHARACTERS)
    throw new ContentError(sentence('design_empty'));
  return mjml;
}

/** Sends the page that says why a link to a design no longer works. */
function sendLinkEnd(reply: FastifyReply, language: Language, end: 'expired' | 'withdrawn'): FastifyReply {
  const title = language.say(`designer.link.${end}`);
  return sendMessagePage(reply, { title, text: [language.say(`designer.link.${end}.text`)] }, language.code);
}
