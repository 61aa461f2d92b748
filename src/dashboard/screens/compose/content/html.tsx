/** Pasting a mail's HTML. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { READ } from '../../../../http/pages/layout.ts';
import { ApiClient } from '../../../api-client.ts';
import { Button, LinkButton } from '../../../components/button.tsx';
import { languageOf } from '../../../page.tsx';
import { field } from '../../../sign-in/fields.ts';
import { viewerOf } from '../../../signed-in.ts';
import { useLanguage } from '../../../words/index.ts';
import { sendStep, stepAddress } from '../frame.tsx';
import { type Draft, readDraft } from '../records.ts';
import { replaceContent } from './replace-content.ts';

interface ByUtr {
  Params: { utr: string };
}

export async function htmlScreen(app: FastifyInstance): Promise<void> {
  app.route<ByUtr>({
    method: READ,
    url: '/mailings/:utr/edit/html',
    handler: async (request, reply) => {
      const api = new ApiClient(app, request);
      const { utr } = request.params;
      const { singleSend } = await api.get<{ singleSend: { template_html: string | null }[] }>('/single-send/details', {
        utr,
      });
      return show(request, reply, await readDraft(api, utr), singleSend[0]?.template_html ?? '');
    },
  });

  app.post<ByUtr>('/mailings/:utr/edit/html', async (request, reply) => {
    const api = new ApiClient(app, request);
    const { utr } = request.params;
    const values: Record<string, unknown> = Object.assign(Object.create(null), request.body);
    const html = typeof values.template_html === 'string' ? values.template_html : '';
    const changes = { template_html: html, template_json: '' };
    const language = languageOf(request, viewerOf(request));
    const refusal = await replaceContent(api, language, utr, changes, field(request, 'unchanged_since'));
    if (refusal === null) return reply.redirect(stepAddress(utr, 'content'), 303);
    return show(request, reply.code(refusal.status), await readDraft(api, utr), html, refusal.problem);
  });
}

function show(request: FastifyRequest, reply: FastifyReply, draft: Draft, html: string, problem?: string) {
  return sendStep(request, reply, draft, 'content', <PasteHtml draft={draft} html={html} />, problem);
}

function PasteHtml({ draft, html }: { draft: Draft; html: string }) {
  const language = useLanguage();
  return (
    <form method="post" action={stepAddress(draft.utr, 'html')} class="stack">
      <h2>{language.say('compose.html.title')}</h2>
      <input type="hidden" name="unchanged_since" value={draft.updated_at} />
      <p class="quiet-text">
        {language.say('compose.html.about')} {draft.content === 'json' && language.say('compose.templates.replace')}
      </p>
      <div class="field">
        <label for="template_html">{language.say('compose.html.label')}</label>
        <textarea id="template_html" name="template_html" rows={20} spellcheck={false} class="code" required>
          {html}
        </textarea>
      </div>
      <div class="buttons">
        <Button>{language.say('compose.html.save')}</Button>
        <LinkButton look="quiet" href={stepAddress(draft.utr, 'content')}>
          {language.say('compose.design.back')}
        </LinkButton>
      </div>
    </form>
  );
}
