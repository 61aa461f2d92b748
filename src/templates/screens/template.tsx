/** The page of an own template: its preview, its name, and links and buttons that design, copy and delete it or create a campaign from it. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createDraft, saveDraft } from '../../campaigns/operations/drafts.ts';
import { MAX_LINE_CHARACTERS } from '../../errors/field-errors.ts';
import { type ById, pageRoute } from '../../http/pages/layout.ts';
import { Button, LinkButton } from '../../ui/components/button.tsx';
import { Confirm } from '../../ui/components/confirm.tsx';
import { form } from '../../ui/components/form.tsx';
import { MailFrames } from '../../ui/components/mail-frames.tsx';
import { Card, Problem } from '../../ui/components/surface.tsx';
import { setFlash, setFlashWithUndo } from '../../ui/flash.ts';
import { sendKeptMailFrame } from '../../ui/mail-frame.ts';
import { ask, attempt, type Refusal } from '../../ui/operations.ts';
import { languageOf, sendPage } from '../../ui/page.tsx';
import { requireEditor, viewerOf } from '../../ui/signed-in.ts';
import { field } from '../../ui/submitted.ts';
import { useLanguage } from '../../ui/words/index.ts';
import {
  listTemplateLanguages,
  removeTemplateLanguage,
  saveTemplateLanguage,
  type Versions,
} from '../languages/operations.ts';
import { LanguagesCard, languageVersionScreens } from '../languages/screens/versions.tsx';
import { deleteTemplate, type OwnTemplate, readTemplate, undeleteTemplate, updateTemplate } from '../operations.ts';

const RENAME_FORM = form(updateTemplate.input, [
  { name: 'template_name', label: 'templates.name', attributes: { type: 'text', required: true } },
]);

/** The submitted values and their problems, shown instead of the stored values. */
interface Submitted extends Partial<Pick<Refusal, 'problems' | 'problem'>> {
  name?: string;
}

const pathOf = (id: string | number) => `/templates/${encodeURIComponent(id)}`;

/** Registers the page of a template, with the designer and the versions in other languages. */
export async function templateScreen(app: FastifyInstance): Promise<void> {
  const show = async (request: FastifyRequest<ById>, reply: FastifyReply, submitted: Submitted = {}) => {
    const viewer = viewerOf(request);
    const template = await ask(request, readTemplate, request.params);
    const { languages } = await ask(request, listTemplateLanguages, request.params);
    const mayChange = viewer.role !== 'viewer';
    const label = languageOf(request, viewer).say('compose.content.design');
    const frame = {
      title: template.template_name,
      section: 'templates',
      ...(mayChange && { action: <LinkButton href={`${pathOf(template.id)}/design`} label={label} /> }),
    } as const;
    const content = <OneTemplate {...{ template, languages, mayChange, submitted }} />;
    return sendPage(request, reply, viewer, frame, content);
  };

  pageRoute<ById>(app, '/templates/:id', (request, reply) => show(request, reply));

  pageRoute<ById>(app, '/templates/:id/mail', async (request, reply) =>
    sendKeptMailFrame(reply, (await ask(request, readTemplate, request.params)).html_code, viewerOf(request).accountId),
  );

  languageVersionScreens<ById['Params']>(app, {
    route: '/templates/:id/languages',
    read: async (request, { id }) => {
      const template = await ask(request, readTemplate, { id });
      const frame = { title: template.template_name, section: 'templates' } as const;
      return {
        subject: template.template_name,
        versions: await ask(request, listTemplateLanguages, { id }),
        address: `${pathOf(id)}/languages`,
        back: { href: pathOf(id), label: 'templates.back' },
        save: ({ unchanged_since: _, ...values }) => attempt(request, saveTemplateLanguage, { id, ...values }),
        remove: ({ language }) => attempt(request, removeTemplateLanguage, { id, language }),
        send: (reply, content, problem) =>
          sendPage(
            request,
            reply,
            viewerOf(request),
            frame,
            <>
              <Problem>{problem}</Problem>
              <p class="quiet-text">{languageOf(request, viewerOf(request)).say('languages.transactional')}</p>
              {content}
            </>,
          ),
      };
    },
  });

  pageRoute<ById>(app, '/templates/:id/design', async (request, reply) => {
    requireEditor(request);
    const template = await ask(request, readTemplate, request.params);
    // The dashboard may be open at another origin than that of the link, so only the token of the link is used.
    const token = template.design_url.split('/').at(-1) ?? '';
    const language = languageOf(request, viewerOf(request));
    const frame = {
      title: template.template_name,
      section: 'templates',
      action: <LinkButton look="plain" href={pathOf(template.id)} label={language.say('templates.back')} />,
      isDesigner: true,
    } as const;
    const source = `/design/${token}?lang=${language.code}`;
    const content = <iframe class="designer" src={source} title={language.say('templates.frame')} />;
    return sendPage(request, reply, viewerOf(request), frame, content);
  });

  app.post<ById>('/templates/:id', async (request, reply) => {
    requireEditor(request);
    const name = field(request, 'template_name').trim();
    const renamed = await attempt(request, updateTemplate, { ...request.params, template_name: name });
    if ('problems' in renamed) return show(request, reply.code(renamed.status), { name, ...renamed });
    setFlash(reply, 'good', 'templates.renamed');
    return reply.redirect(pathOf(request.params.id), 303);
  });

  app.post<ById>('/templates/:id/delete', async (request, reply) => {
    requireEditor(request);
    const { template_name: name } = await ask(request, readTemplate, request.params);
    await ask(request, deleteTemplate, request.params);
    setFlashWithUndo(reply, `${pathOf(request.params.id)}/undelete`, 'templates.deleted', { name });
    return reply.redirect('/templates', 303);
  });

  app.post<ById>('/templates/:id/undelete', async (request, reply) => {
    requireEditor(request);
    await ask(request, undeleteTemplate, request.params);
    const { template_name: name } = await ask(request, readTemplate, request.params);
    setFlash(reply, 'good', 'templates.undeleted', { name });
    return reply.redirect(pathOf(request.params.id), 303);
  });

  app.post<ById>('/templates/:id/mailing', async (request, reply) => {
    requireEditor(request);
    const { template_name: name } = await ask(request, readTemplate, request.params);
    const created = await attempt(request, createDraft, { single_send_name: name });
    if ('problems' in created) return show(request, reply.code(created.status), { problem: created.text });
    const { utr } = created.output;
    await ask(request, saveDraft, { utr, template_id: request.params.id });
    return reply.redirect(`/campaigns/${encodeURIComponent(utr)}/edit/content`, 303);
  });
}

function OneTemplate({
  template: { id, template_name },
  languages,
  mayChange,
  submitted: { name = template_name, problems, problem },
}: {
  template: OwnTemplate;
  languages: Versions['languages'];
  mayChange: boolean;
  submitted: Submitted;
}) {
  const language = useLanguage();
  return (
    <div class="stack">
      <Problem>{problem}</Problem>
      <p class="quiet-text">
        {language.say('templates.placeholders')} {language.say('mail.note')}
      </p>
      <MailFrames source={`${pathOf(id)}/mail`} />
      {mayChange && (
        <>
          <LanguagesCard languages={languages.map((version) => version.language)} href={`${pathOf(id)}/languages`} />
          <Card>
            <form method="post" action={pathOf(id)} class="narrow">
              <RENAME_FORM.Fields values={{ template_name: name }} problems={problems} />
              <div class="buttons">
                <Button look="plain" label={language.say('templates.rename')} />
              </div>
            </form>
          </Card>
          <div class="buttons template-actions">
            <form method="post" action={`${pathOf(id)}/mailing`}>
              <Button look="plain" label={language.say('templates.mailing')} />
            </form>
            <form method="post" action="/templates/new">
              <Button look="plain" label={language.say('templates.duplicate')} />
              <input type="hidden" name="template_id" value={id} />
              <input
                type="hidden"
                name="template_name"
                value={language.say('templates.copyName', { name: template_name }).slice(0, MAX_LINE_CHARACTERS)}
              />
            </form>
            <Confirm
              id="delete-template"
              action={`${pathOf(id)}/delete`}
              label={language.say('templates.delete')}
              title={language.say('templates.delete.title', { name: template_name })}
            >
              <p>{language.say('templates.delete.text', { id: String(id) })}</p>
            </Confirm>
          </div>
        </>
      )}
    </div>
  );
}
