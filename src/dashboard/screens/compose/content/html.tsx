/** Pasting a mail's HTML. Code that is too long for a page can be downloaded and replaced. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { READ } from '../../../../http/pages/layout.ts';
import { MAX_FORM_BYTES } from '../../../../http/requests/forms.ts';
import { ApiClient } from '../../../api-client.ts';
import { Button, LinkButton } from '../../../components/button.tsx';
import { Notice } from '../../../components/surface.tsx';
import { languageOf } from '../../../page.tsx';
import { field } from '../../../sign-in/fields.ts';
import { viewerOf } from '../../../signed-in.ts';
import { useLanguage } from '../../../words/index.ts';
import type { Composed, ComposedKind, ComposedParams } from '../composed.ts';
import { replaceContent } from './replace-content.ts';

/** Bytes that are shown for editing. A mail that programs show whole has at most a third of that. */
const MAX_SHOWN = 300_000;

/** Bytes of refused code that are shown again. */
const MAX_SHOWN_AGAIN = 512 * 1024;

export async function htmlScreen(app: FastifyInstance, kind: ComposedKind): Promise<void> {
  app.route<{ Params: ComposedParams }>({
    method: READ,
    url: `${kind.route}/html`,
    handler: async (request, reply) => {
      const api = new ApiClient(app, request);
      const mail = await kind.read(request, request.params);
      const html = mail.html_size > MAX_SHOWN ? null : await readHtml(api, mail);
      return show(request, reply, mail, { html, size: mail.html_size });
    },
  });

  app.route<{ Params: ComposedParams }>({
    method: READ,
    url: `${kind.route}/html/code`,
    handler: async (request, reply) => {
      const api = new ApiClient(app, request);
      const html = await readHtml(api, await kind.read(request, request.params));
      reply.headers({ 'content-disposition': 'attachment; filename="mail.html"', 'cache-control': 'no-store' });
      return reply.type('text/plain; charset=utf-8').send(html);
    },
  });

  app.post<{ Params: ComposedParams }>(`${kind.route}/html`, { bodyLimit: MAX_FORM_BYTES }, async (request, reply) => {
    const mail = await kind.read(request, request.params);
    const values: Record<string, unknown> = Object.assign(Object.create(null), request.body);
    const html = typeof values.template_html === 'string' ? values.template_html : '';
    const changes = { template_html: html, template_json: '' };
    const language = languageOf(request, viewerOf(request));
    const refusal = await replaceContent(language, mail, changes, field(request, 'unchanged_since'));
    if (refusal === null) return reply.redirect(mail.address('content'), 303);
    const now = await kind.read(request, request.params);
    // What was refused is stored nowhere, so it is shown again, unless escaping it would keep others waiting.
    const size = Buffer.byteLength(html);
    const code = { html: size > MAX_SHOWN_AGAIN ? null : html, size };
    return show(request, reply.code(refusal.status), now, code, refusal.problem);
  });
}

/** The HTML that a mail was given. */
function readHtml(api: ApiClient, { utr, endpoints }: Composed): Promise<string> {
  return api.text(endpoints.html, { utr });
}

/** The code in the form, null where the stored one is too long to be shown, and its bytes. */
interface Code {
  html: string | null;
  size: number;
}

function show(request: FastifyRequest, reply: FastifyReply, mail: Composed, code: Code, problem?: string) {
  return mail.send(request, reply, { step: 'html', content: <PasteHtml mail={mail} {...code} />, problem });
}

function PasteHtml({ mail, html, size }: { mail: Composed } & Code) {
  const language = useLanguage();
  return (
    <form method="post" action={mail.address('html')} class="stack">
      <h2>{language.say('compose.html.title')}</h2>
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
        <Button>{language.say('compose.html.save')}</Button>
        <LinkButton look="quiet" href={mail.address('content')}>
          {language.say('compose.design.back')}
        </LinkButton>
      </div>
    </form>
  );
}
