/** The templates, one of which a mail begins with: the account's own and the built-in ones. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { READ } from '../../../../http/pages/layout.ts';
import { ApiClient } from '../../../api-client.ts';
import { Button, LinkButton } from '../../../components/button.tsx';
import { TemplatePicture } from '../../../components/template-picture.tsx';
import { languageOf } from '../../../page.tsx';
import { field } from '../../../sign-in/fields.ts';
import { viewerOf } from '../../../signed-in.ts';
import { useLanguage } from '../../../words/index.ts';
import { isOwn, type ListedTemplate, readTemplates } from '../../templates/records.ts';
import { sendStep, stepAddress } from '../frame.tsx';
import { type Draft, readDraft } from '../records.ts';
import { replaceContent } from './replace-content.ts';

interface ByUtr {
  Params: { utr: string };
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

interface Choice {
  draft: Draft;
  templates: readonly ListedTemplate[];
}

function Templates({ draft, templates }: Choice) {
  const language = useLanguage();
  const own = templates.filter(isOwn);
  return (
    <section class="stack">
      <h2>{language.say('compose.templates.title')}</h2>
      <p class="quiet-text">
        {language.say('compose.templates.about')}{' '}
        {(draft.content === 'json' || draft.content === 'html') && language.say('compose.templates.replace')}
      </p>
      {own.length > 0 && (
        <>
          <h3>{language.say('templates.own')}</h3>
          <Pictures draft={draft} templates={own} />
          <h3>{language.say('templates.builtIn')}</h3>
        </>
      )}
      <Pictures draft={draft} templates={templates.filter((template) => !isOwn(template))} />
      <LinkButton look="quiet" href={stepAddress(draft.utr, 'content')}>
        {language.say('compose.design.back')}
      </LinkButton>
    </section>
  );
}

function Pictures({ draft, templates }: Choice) {
  const language = useLanguage();
  return (
    <ul class="templates">
      {templates.map((template) => (
        <li key={template.id} class="card">
          <TemplatePicture id={template.id} image={template.preview_image} isOwn={isOwn(template)} />
          <form method="post" action={stepAddress(draft.utr, 'templates')}>
            <Button look="plain">{language.say('compose.templates.use', { name: template.template_name })}</Button>
            <input type="hidden" name="unchanged_since" value={draft.updated_at} />
            <input type="hidden" name="template_id" value={template.id} />
          </form>
        </li>
      ))}
    </ul>
  );
}
