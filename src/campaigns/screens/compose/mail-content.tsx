/**
 * The pages on which the content of a mail is made, of a campaign or an automation: with the designer, from a template, or as pasted HTML.
 * HTML that is too long for a page can be downloaded and replaced.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { VNode } from 'preact';
import type { Static } from 'typebox';
import { pageRoute } from '../../../http/pages/layout.ts';
import { MAX_FORM_BYTES } from '../../../http/requests/forms.ts';
import { unverifiedReason, WhyHeld } from '../../../senders/screens/unverified.tsx';
import { isOwn } from '../../../templates/mail-content.ts';
import { type ListedTemplate, listTemplates } from '../../../templates/operations.ts';
import { Button, LinkButton } from '../../../ui/components/button.tsx';
import { TemplatePicture } from '../../../ui/components/mail-frames.tsx';
import { Notice } from '../../../ui/components/surface.tsx';
import { type Attempt, ask, attempt, type Refusal } from '../../../ui/operations.ts';
import { languageOf, sendPage } from '../../../ui/page.tsx';
import { viewerOf } from '../../../ui/signed-in.ts';
import { field, texts } from '../../../ui/submitted.ts';
import { withQuery } from '../../../ui/with-query.ts';
import { type Language, useLanguage } from '../../../ui/words/index.ts';
import { templateName } from '../../../ui/words/known.ts';
import { type CheckedForAll, checkAnyMail } from '../../operations/check.ts';
import { countAudience, type Draft, readDraft, saveDraft } from '../../operations/drafts.ts';
import {
  checkSingleSendMail,
  readDesignUrl,
  readLastTest,
  readSingleSendCode,
  showSingleSendHtml,
  testSingleSend,
} from '../../operations/shown-mails.ts';
import type { LastTest } from '../../test-mail.ts';
import { MissingParts, missingParts, sendStep, stepPath } from './step.tsx';

/** The recipient and the variant of a preview. */
export interface PreviewChoice {
  /** The address of a recipient; if absent, the preview is for any recipient. */
  email?: string;
  /** The number of the variant or version; if absent, the mail itself. */
  variant?: string;
}

/** A mail that is being composed, with what the pages do with it. */
export interface Composed
  extends Pick<
    Draft,
    | 'utr'
    | 'subject'
    | 'preheader'
    | 'content'
    | 'html_size'
    | 'template_id'
    | 'sender_id'
    | 'variants'
    | 'languages'
    | 'updated_at'
  > {
  /** The proposed name of a template with the content of the mail. */
  name: string;
  /** The query parameters that the links of the mail get when it is sent; empty or absent if they get none. */
  link_parameters?: string;
  /** Saves other content, unless the mail has been changed since `unchangedSince`. Returns null, or the refusal if the content was not saved. */
  save(content: Readonly<Record<string, string>>, unchangedSince: string): Promise<Refusal | null>;
  /** Returns the HTML of the mail before merging. */
  code(): Promise<string>;
  /** Returns the HTML of the mail as a recipient sees it. */
  html(choice: PreviewChoice): Promise<string>;
  /** Returns the findings of the checks of the mail for a recipient. */
  check(choice: PreviewChoice): Promise<Attempt<Static<typeof checkSingleSendMail.output>>>;
  /** Returns the findings of the check for all recipients; undefined if the check is refused. */
  checkAll(): Promise<CheckedForAll | undefined>;
  /** Sends the mail as a test mail. */
  test(values: { email_address: string; variant?: string }): Promise<Attempt<unknown>>;
  /** Returns the last test of the mail; null if there was none. */
  lastTest(): Promise<LastTest | null>;
  /** Returns the URL of one of the pages of the mail. */
  address(step: string): string;
  /** Returns the part of the page that says what the mail still lacks before it can be sent; null if it lacks nothing. */
  missing(): Promise<VNode | null>;
  /** The path of the page that follows the check; null if none follows. */
  next: string | null;
  /** Returns the link to the designer of the mail. */
  readDesignUrl(): Promise<string>;
  /** Sends one of the pages of the mail. `problem` is the problem with the submitted form. */
  send(
    request: FastifyRequest,
    reply: FastifyReply,
    page: { step: string; content: VNode; problem?: string | undefined },
  ): unknown;
}

/** The parameters of the routes of a mail. */
export interface ComposedParams {
  /** The utr of the campaign, or of the mail of an automation. */
  utr: string;
  /** The utr of the automation; absent for a campaign. */
  automation?: string;
}

/** A kind of mail that is composed with these pages: campaigns, or mails of automations. */
export interface ComposedKind {
  /** The beginning of the routes of the pages, with parameters. */
  route: string;
  section: 'campaigns' | 'automations';
  /** Reads the mail. Throws 404 if the account has no such mail. */
  read(request: FastifyRequest, params: ComposedParams): Promise<Composed>;
}

export const CAMPAIGN: ComposedKind = {
  route: '/campaigns/:utr/edit',
  section: 'campaigns',
  read: async (request, { utr }) => composedCampaign(request, (await ask(request, readDraft, { utr })).draft),
};

/** Returns a campaign as a mail that is being composed. */
export function composedCampaign(request: FastifyRequest, draft: Draft): Composed {
  const { utr } = draft;
  return {
    ...draft,
    name: draft.single_send_name,
    async save(content, unchanged_since) {
      const saved = await attempt(request, saveDraft, { ...content, utr, unchanged_since });
      return 'problems' in saved ? saved : null;
    },
    code: () => ask(request, readSingleSendCode, { utr }),
    html: (preview) => ask(request, showSingleSendHtml, { utr, ...preview }),
    check: (preview) => attempt(request, checkSingleSendMail, { utr, ...preview }),
    async checkAll() {
      const checked = await attempt(request, checkAnyMail, { utr });
      return 'output' in checked ? checked.output.check : undefined;
    },
    test: (values) => attempt(request, testSingleSend, { utr, ...values }),
    lastTest: async () => (await ask(request, readLastTest, { utr })).test,
    address: (step) => stepPath(utr, step),
    async missing() {
      const { audience } = await ask(request, countAudience, { utr });
      return (
        <>
          <WhyHeld reason={await unverifiedReason(request, [draft.sender_id])} viewer={viewerOf(request)} />
          <MissingParts utr={utr} missing={missingParts(draft, audience)} />
        </>
      );
    },
    next: stepPath(utr, 'schedule'),
    readDesignUrl: () => ask(request, readDesignUrl, { utr }),
    send: (request, reply, { step, content, problem }) =>
      sendStep(request, reply, draft, step === 'check' ? 'check' : 'content', content, problem),
  };
}

/** Registers the page that opens the designer for a mail. */
export async function designScreen(app: FastifyInstance, kind: ComposedKind): Promise<void> {
  pageRoute<{ Params: ComposedParams; Querystring: { find?: string } }>(
    app,
    `${kind.route}/design`,
    async (request, reply) => {
      const viewer = viewerOf(request);
      const mail = await kind.read(request, request.params);
      // The frame needs a path, because the page may be open at another origin than that of the link.
      const token = (await mail.readDesignUrl()).split('/').at(-1) ?? '';
      const language = languageOf(request, viewer);
      const title = language.say('compose.design.title');
      const action = (
        <LinkButton look="plain" href={mail.address('content')} label={language.say('compose.design.back')} />
      );
      const frame = { title, section: kind.section, action, isDesigner: true } as const;
      const source = withQuery(`/design/${token}`, { lang: language.code, find: texts(request.query.find)[0] });
      const content = <iframe class="designer" src={source} title={language.say('compose.design.frame')} />;
      return sendPage(request, reply, viewer, frame, content);
    },
  );
}

/** Registers the page on which a template is chosen for a mail. */
export async function templatesScreen(app: FastifyInstance, kind: ComposedKind): Promise<void> {
  const show = async (request: FastifyRequest, reply: FastifyReply, params: ComposedParams, problem?: string) => {
    const mail = await kind.read(request, params);
    const templates = await ask(request, listTemplates, { built_in: 1 });
    const content = <Templates mail={mail} templates={templates.filter(({ is_blank }) => is_blank === 0)} />;
    return mail.send(request, reply, { step: 'templates', content, problem });
  };

  pageRoute<{ Params: ComposedParams }>(app, `${kind.route}/templates`, (request, reply) =>
    show(request, reply, request.params),
  );

  app.post<{ Params: ComposedParams }>(`${kind.route}/templates`, async (request, reply) => {
    const mail = await kind.read(request, request.params);
    const changes = { template_id: field(request, 'template_id'), template_json: '', template_html: '' };
    const language = languageOf(request, viewerOf(request));
    const refusal = await replaceContent(language, mail, changes, field(request, 'unchanged_since'));
    if (refusal === null) return reply.redirect(mail.address('content'), 303);
    return show(request, reply.code(refusal.status), request.params, refusal.problem);
  });
}

interface TemplatesProps {
  mail: Composed;
  templates: readonly ListedTemplate[];
}

function Templates({ mail, templates }: TemplatesProps) {
  const language = useLanguage();
  const own = templates.filter(isOwn);
  return (
    <section class="stack">
      <h2>{language.say('compose.content.choose')}</h2>
      <p class="quiet-text">
        {language.say('compose.templates.about')}{' '}
        {(mail.content === 'json' || mail.content === 'html') && language.say('compose.templates.replace')}
      </p>
      {own.length > 0 && (
        <>
          <h3>{language.say('templates.own')}</h3>
          <Pictures mail={mail} templates={own} />
          <h3>{language.say('templates.builtIn')}</h3>
        </>
      )}
      <Pictures mail={mail} templates={templates.filter((template) => !isOwn(template))} />
      <LinkButton look="quiet" href={mail.address('content')} label={language.say('compose.design.back')} />
    </section>
  );
}

/** The pictures of templates, each with a button that makes the template the content of the mail. */
function Pictures({ mail, templates }: TemplatesProps) {
  const language = useLanguage();
  return (
    <ul class="templates">
      {templates.map((template) => (
        <li key={template.id} class="card">
          <TemplatePicture id={template.id} image={template.preview_image} isOwn={isOwn(template)} />
          <form method="post" action={mail.address('templates')}>
            <Button
              look="plain"
              label={language.say('compose.templates.use', { name: templateName(language, template) })}
            />
            <input type="hidden" name="unchanged_since" value={mail.updated_at} />
            <input type="hidden" name="template_id" value={template.id} />
          </form>
        </li>
      ))}
    </ul>
  );
}

/** The maximum size in bytes of code that the page shows for editing. Mail programs show a mail completely only up to about a third of it. */
const MAX_SHOWN_BYTES = 300_000;

/** The maximum size in bytes of refused code that the page shows again. */
const MAX_SHOWN_AGAIN_BYTES = 512 * 1024;

/** Registers the page on which a mail is edited as HTML. */
export async function htmlScreen(app: FastifyInstance, kind: ComposedKind): Promise<void> {
  pageRoute<{ Params: ComposedParams }>(app, `${kind.route}/html`, async (request, reply) => {
    const mail = await kind.read(request, request.params);
    const html = mail.html_size > MAX_SHOWN_BYTES ? null : await mail.code();
    return showHtml(request, reply, mail, { html, size: mail.html_size });
  });

  pageRoute<{ Params: ComposedParams }>(app, `${kind.route}/html/code`, async (request, reply) => {
    const html = await (await kind.read(request, request.params)).code();
    reply.headers({ 'content-disposition': 'attachment; filename="mail.html"', 'cache-control': 'no-store' });
    return reply.type('text/plain; charset=utf-8').send(html);
  });

  app.post<{ Params: ComposedParams }>(`${kind.route}/html`, { bodyLimit: MAX_FORM_BYTES }, async (request, reply) => {
    const mail = await kind.read(request, request.params);
    const values: Record<string, unknown> = Object.assign(Object.create(null), request.body);
    const html = typeof values.template_html === 'string' ? values.template_html : '';
    const changes = { template_html: html, template_json: '' };
    const language = languageOf(request, viewerOf(request));
    const refusal = await replaceContent(language, mail, changes, field(request, 'unchanged_since'));
    if (refusal === null) return reply.redirect(mail.address('content'), 303);
    const storedMail = await kind.read(request, request.params);
    // Show refused code again, because it is stored nowhere; unless it is so large that escaping it would delay other requests.
    const size = Buffer.byteLength(html);
    const code = { html: size > MAX_SHOWN_AGAIN_BYTES ? null : html, size };
    return showHtml(request, reply.code(refusal.status), storedMail, code, refusal.problem);
  });
}

/** The code in the form. */
interface Code {
  /** Null if the code is too long to be shown. */
  html: string | null;
  /** The size of the code in bytes. */
  size: number;
}

function showHtml(request: FastifyRequest, reply: FastifyReply, mail: Composed, code: Code, problem?: string) {
  return mail.send(request, reply, { step: 'html', content: <PasteHtml mail={mail} {...code} />, problem });
}

function PasteHtml({ mail, html, size }: { mail: Composed } & Code) {
  const language = useLanguage();
  return (
    <form method="post" action={mail.address('html')} class="stack">
      <h2>{language.say('compose.content.paste')}</h2>
      <input type="hidden" name="unchanged_since" value={mail.updated_at} />
      <p class="quiet-text">
        {language.say('compose.html.about')} {mail.content === 'json' && language.say('compose.templates.replace')}
      </p>
      {html === null && (
        <Notice>
          {language.say('compose.html.long', { size: language.bytes(size) })}{' '}
          <a href={mail.address('html/code')} download>
            {language.say('compose.html.download')}
          </a>
        </Notice>
      )}
      <div class="field">
        <label for="template_html">{language.say('compose.html.label')}</label>
        <textarea id="template_html" name="template_html" rows={20} spellcheck={false} class="code" required>
          {html}
        </textarea>
      </div>
      <div class="buttons">
        <Button label={language.say('compose.html.save')} />
        <LinkButton look="quiet" href={mail.address('content')} label={language.say('compose.design.back')} />
      </div>
    </form>
  );
}

/** Saves submitted content. Returns null if it was saved; otherwise the reason why it was not saved. */
async function replaceContent(
  language: Language,
  mail: Composed,
  content: Readonly<Record<string, string>>,
  unchangedSince: string,
): Promise<Pick<Refusal, 'status' | 'problem'> | null> {
  const refusal = await mail.save(content, unchangedSince);
  if (refusal === null) return null;
  const { status } = refusal;
  return { status, problem: status === 409 ? language.say('compose.schedule.changed') : refusal.text };
}
