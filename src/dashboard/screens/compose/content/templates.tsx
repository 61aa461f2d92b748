/** The templates, one of which a mail begins with: the account's own and the built-in ones. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { READ } from '../../../../http/pages/layout.ts';
import { isOwn } from '../../../../templates/mail-content.ts';
import { type ListedTemplate, listTemplates } from '../../../../templates/operations.ts';
import { Button, LinkButton } from '../../../components/button.tsx';
import { TemplatePicture } from '../../../components/template-picture.tsx';
import { ask } from '../../../operations.ts';
import { languageOf } from '../../../page.tsx';
import { field } from '../../../sign-in/fields.ts';
import { viewerOf } from '../../../signed-in.ts';
import { useLanguage } from '../../../words/index.ts';
import type { Composed, ComposedKind, ComposedParams } from '../composed.ts';
import { replaceContent } from './replace-content.ts';

export async function templatesScreen(app: FastifyInstance, kind: ComposedKind): Promise<void> {
  const show = async (request: FastifyRequest, reply: FastifyReply, params: ComposedParams, problem?: string) => {
    const mail = await kind.read(request, params);
    const templates = await ask(request, listTemplates, { built_in: 1 });
    const content = <Templates mail={mail} templates={templates.filter(({ is_blank }) => is_blank === 0)} />;
    return mail.send(request, reply, { step: 'templates', content, problem });
  };

  app.route<{ Params: ComposedParams }>({
    method: READ,
    url: `${kind.route}/templates`,
    handler: (request, reply) => show(request, reply, request.params),
  });

  app.post<{ Params: ComposedParams }>(`${kind.route}/templates`, async (request, reply) => {
    const mail = await kind.read(request, request.params);
    const changes = { template_id: field(request, 'template_id'), template_json: '', template_html: '' };
    const language = languageOf(request, viewerOf(request));
    const refusal = await replaceContent(language, mail, changes, field(request, 'unchanged_since'));
    if (refusal === null) return reply.redirect(mail.address('content'), 303);
    return show(request, reply.code(refusal.status), request.params, refusal.problem);
  });
}

interface Choice {
  mail: Composed;
  templates: readonly ListedTemplate[];
}

function Templates({ mail, templates }: Choice) {
  const language = useLanguage();
  const own = templates.filter(isOwn);
  return (
    <section class="stack">
      <h2>{language.say('compose.templates.title')}</h2>
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
      <LinkButton look="quiet" href={mail.address('content')}>
        {language.say('compose.design.back')}
      </LinkButton>
    </section>
  );
}

function Pictures({ mail, templates }: Choice) {
  const language = useLanguage();
  return (
    <ul class="templates">
      {templates.map((template) => (
        <li key={template.id} class="card">
          <TemplatePicture id={template.id} image={template.preview_image} isOwn={isOwn(template)} />
          <form method="post" action={mail.address('templates')}>
            <Button look="plain">{language.say('compose.templates.use', { name: template.template_name })}</Button>
            <input type="hidden" name="unchanged_since" value={mail.updated_at} />
            <input type="hidden" name="template_id" value={template.id} />
          </form>
        </li>
      ))}
    </ul>
  );
}
