/** The built-in templates, one of which a mail begins with. */
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

interface Template {
  id: number;
  template_name: string;
  preview_image: string;
  is_blank: 0 | 1;
}

interface ByUtr {
  Params: { utr: string };
}

/** The built-in templates. */
export async function readTemplates(api: ApiClient): Promise<Template[]> {
  return (await api.get<{ templates: Template[] }>('/get-design/template')).templates;
}

export async function templatesScreen(app: FastifyInstance): Promise<void> {
  const show = async (request: FastifyRequest, reply: FastifyReply, utr: string, problem = '') => {
    const api = new ApiClient(app, request);
    const [draft, templates] = await Promise.all([readDraft(api, utr), readTemplates(api)]);
    const content = <Templates draft={draft} templates={templates.filter(({ is_blank }) => is_blank === 0)} />;
    return sendStep(request, reply, draft, 'content', content, problem);
  };

  app.route<ByUtr>({
    method: READ,
    url: '/mailings/:utr/edit/templates',
    handler: (request, reply) => show(request, reply, request.params.utr),
  });

  app.post<ByUtr>('/mailings/:utr/edit/templates', async (request, reply) => {
    const { utr } = request.params;
    const changes = { template_id: field(request, 'template_id'), template_json: '', template_html: '' };
    const language = languageOf(request, viewerOf(request));
    const refusal = await replaceContent(
      new ApiClient(app, request),
      language,
      utr,
      changes,
      field(request, 'unchanged_since'),
    );
    if (refusal === null) return reply.redirect(stepAddress(utr, 'content'), 303);
    return show(request, reply.code(refusal.status), utr, refusal.problem);
  });
}

function Templates({ draft, templates }: { draft: Draft; templates: readonly Template[] }) {
  const language = useLanguage();
  return (
    <section class="stack">
      <h2>{language.say('compose.templates.title')}</h2>
      <p class="quiet-text">
        {language.say('compose.templates.about')}{' '}
        {(draft.content === 'json' || draft.content === 'html') && language.say('compose.templates.replace')}
      </p>
      <ul class="templates">
        {templates.map(({ id, template_name: name, preview_image: image }) => (
          <li key={id} class="card">
            <img src={`/images/templates/${image}`} alt="" loading="lazy" />
            <form method="post" action={stepAddress(draft.utr, 'templates')}>
              <Button look="plain">{language.say('compose.templates.use', { name })}</Button>
              <input type="hidden" name="unchanged_since" value={draft.updated_at} />
              <input type="hidden" name="template_id" value={id} />
            </form>
          </li>
        ))}
      </ul>
      <LinkButton look="quiet" href={stepAddress(draft.utr, 'content')}>
        {language.say('compose.design.back')}
      </LinkButton>
    </section>
  );
}
