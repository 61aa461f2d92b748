/** The page of a form: its figures, its URL and HTML snippet, and the builder with a preview. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ById, pageRoute } from '../../http/pages/layout.ts';
import { WhyHeld } from '../../senders/screens/unverified.tsx';
import { Confirm } from '../../ui/components/confirm.tsx';
import { Stats } from '../../ui/components/figures.tsx';
import { Island } from '../../ui/components/island.tsx';
import { Card, Notice, Problem } from '../../ui/components/surface.tsx';
import { setFlash, setFlashWithUndo } from '../../ui/flash.ts';
import { ask, attempt, type Refusal } from '../../ui/operations.ts';
import { sendPage } from '../../ui/page.tsx';
import { requireEditor, viewerOf } from '../../ui/signed-in.ts';
import { field } from '../../ui/submitted.ts';
import type { Viewer } from '../../ui/viewer.ts';
import { useLanguage } from '../../ui/words/index.ts';
import { deleteForm, type Form, readForm, saveForm, undeleteForm } from '../operations/forms.ts';
import { FormState } from './basics.tsx';
import { Builder } from './builder.tsx';
import { type Draft, draftInput, draftOf, readChoices, typedDraft } from './draft.ts';

/** Registers the page of a form, with saving, deleting and restoring the form. */
export async function formScreen(app: FastifyInstance): Promise<void> {
  pageRoute<ById>(app, '/forms/:id', (request, reply) => show(request, reply, null));

  app.post<ById>('/forms/:id', async (request, reply) => {
    requireEditor(request);
    const draft = typedDraft(request);
    if (field(request, 'do') !== 'save') return show(request, reply, draft);
    const { id } = request.params;
    const saved = await attempt(request, saveForm, { id, ...draftInput(draft) });
    if ('problems' in saved) return show(request, reply.code(saved.status), draft, saved);
    setFlash(reply, 'good', 'forms.saved', { name: draft.name });
    return reply.redirect(`/forms/${id}`, 303);
  });

  app.post<ById>('/forms/:id/delete', async (request, reply) => {
    requireEditor(request);
    const { form } = await ask(request, readForm, request.params);
    await ask(request, deleteForm, request.params);
    setFlashWithUndo(reply, `/forms/${form.id}/undelete`, 'forms.deleted', { name: form.name });
    return reply.redirect('/forms', 303);
  });

  app.post<ById>('/forms/:id/undelete', async (request, reply) => {
    requireEditor(request);
    await ask(request, undeleteForm, request.params);
    const { form } = await ask(request, readForm, request.params);
    setFlash(reply, 'good', 'forms.undeleted', { name: form.name });
    return reply.redirect(`/forms/${form.id}`, 303);
  });

  async function show(
    request: FastifyRequest<ById>,
    reply: FastifyReply,
    typed: Draft | null,
    { problems = {}, problem }: Partial<Refusal> = {},
  ) {
    const viewer = viewerOf(request);
    const { form, snippet } = await ask(request, readForm, request.params);
    const choices = await readChoices(request);
    const canChange = viewer.role !== 'viewer';
    const frame = {
      title: form.name,
      section: 'forms',
      back: { href: '/forms', label: 'forms.title' },
    } as const;
    const content = (
      <div class="stack">
        <Problem>{problem}</Problem>
        <Overview form={form} viewer={viewer} />
        <Share form={form} snippet={snippet} />
        <Builder id={form.id} draft={typed ?? draftOf(form)} {...{ choices, problems, canChange }} />
        {canChange && <Deletion form={form} />}
      </div>
    );
    return sendPage(request, reply, viewer, frame, content);
  }
}

function Overview({ form, viewer }: { form: Form; viewer: Viewer }) {
  const language = useLanguage();
  const { shown, sent, confirmed, off_code: code, off_reason: reason } = form;
  return (
    <section class="stack">
      <p>
        <FormState form={form} />
      </p>
      {code === 'off' && reason !== null ? (
        <Notice>{language.fullSentence(reason)}</Notice>
      ) : (
        <WhyHeld reason={reason} viewer={viewer} />
      )}
      <Stats
        figures={[
          { label: language.say('forms.shown'), value: language.number(shown) },
          { label: language.say('forms.sent'), value: language.number(sent) },
          {
            label: language.say('forms.confirmed'),
            value: language.number(confirmed),
            ...(sent > 0 && { detail: language.say('forms.ofSent', { share: language.percent(confirmed / sent) }) }),
          },
        ]}
      />
    </section>
  );
}

/** The URL of the form's page, and the HTML that shows the form on another website. */
function Share({ form, snippet }: { form: Form; snippet: string }) {
  const language = useLanguage();
  const copy = (label: string) => ({ label, done: language.say('domains.copied') });
  return (
    <Card title={language.say('forms.share')}>
      <p>
        {language.say('forms.share.page')} <a href={form.url}>{language.say('forms.share.open')}</a>
      </p>
      <Island name="copy" data={copy(language.say('forms.share.copyAddress'))}>
        <code class="once">{form.url}</code>
      </Island>
      <details class="form-snippet">
        <summary>{language.say('forms.share.snippet')}</summary>
        <p class="quiet-text">{language.say('forms.share.snippet.text')}</p>
        <Island name="copy" data={copy(language.say('forms.share.copySnippet'))}>
          <pre tabindex={0}>
            <code>{snippet}</code>
          </pre>
        </Island>
      </details>
    </Card>
  );
}

function Deletion({ form }: { form: Form }) {
  const language = useLanguage();
  return (
    <Confirm
      id="delete-form"
      action={`/forms/${form.id}/delete`}
      label={language.say('forms.delete')}
      title={language.say('forms.delete.title', { name: form.name })}
    >
      <p>{language.say('forms.delete.text', { count: form.confirmed })}</p>
    </Confirm>
  );
}
