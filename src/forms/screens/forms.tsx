/** The list of forms with their figures, and the page that adds a form. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pageRoute } from '../../http/pages/layout.ts';
import { Button, LinkButton } from '../../ui/components/button.tsx';
import type { Problems } from '../../ui/components/field.tsx';
import { Card, Empty, Problem } from '../../ui/components/surface.tsx';
import { numberColumn, Table } from '../../ui/components/table.tsx';
import { setFlash } from '../../ui/flash.ts';
import { ask, attempt, type Refusal } from '../../ui/operations.ts';
import { languageOf, sendPage } from '../../ui/page.tsx';
import { requireEditor, viewerOf } from '../../ui/signed-in.ts';
import { useLanguage } from '../../ui/words/index.ts';
import { createForm, type Form, listForms } from '../operations/forms.ts';
import { Basics, FormState } from './basics.tsx';
import { type Choices, type Draft, readChoices, typedDraft } from './draft.ts';
import { formScreen } from './form.tsx';

type Typed = Pick<Draft, 'name' | 'contact_type_id' | 'sender_id' | 'language'>;

/** Registers the list of forms, the page that adds a form, and the page of a form. */
export async function formScreens(app: FastifyInstance): Promise<void> {
  pageRoute(app, '/forms', async (request, reply) => {
    const viewer = viewerOf(request);
    const language = languageOf(request, viewer);
    const { forms } = await ask(request, listForms, {});
    const canChange = viewer.role !== 'viewer';
    const frame = {
      title: language.say('forms.title'),
      section: 'forms',
      ...(canChange && forms.length > 0 && { action: <AddButton /> }),
    } as const;
    return sendPage(request, reply, viewer, frame, <Forms forms={forms} canChange={canChange} />);
  });

  app.get('/forms/new', (request, reply) => {
    requireEditor(request);
    const { code } = languageOf(request, viewerOf(request));
    return showNew(request, reply, { name: '', contact_type_id: '', sender_id: '', language: code });
  });

  app.post('/forms/new', async (request, reply) => {
    requireEditor(request);
    const { name, contact_type_id, sender_id, language } = typedDraft(request);
    const typed = { name, contact_type_id, sender_id, language };
    // The new form is switched off, so that visitors do not see it before the owner has checked its texts.
    const created = await attempt(request, createForm, { ...typed, is_active: 0 });
    if ('problems' in created) return showNew(request, reply.code(created.status), typed, created);
    setFlash(reply, 'good', 'forms.added', { name });
    return reply.redirect(`/forms/${created.output.id}`, 303);
  });
  await formScreen(app);

  async function showNew(
    request: FastifyRequest,
    reply: FastifyReply,
    typed: Typed,
    { problems = {}, problem }: Partial<Refusal> = {},
  ) {
    const viewer = viewerOf(request);
    const choices = await readChoices(request);
    const frame = {
      title: languageOf(request, viewer).say('forms.new'),
      section: 'forms',
      back: { href: '/forms', label: 'forms.title' },
    } as const;
    const content = (
      <>
        <Problem>{problem}</Problem>
        <NewForm {...{ typed, choices, problems }} />
      </>
    );
    return sendPage(request, reply, viewer, frame, content);
  }
}

function AddButton() {
  return <LinkButton href="/forms/new" icon="plus" label={useLanguage().say('forms.new')} />;
}

function Forms({ forms, canChange }: { forms: readonly Form[]; canChange: boolean }) {
  const language = useLanguage();
  if (forms.length === 0)
    return (
      <Empty title={language.say('forms.none.title')} action={canChange && <AddButton />}>
        {language.say('forms.none.text')}
      </Empty>
    );
  return (
    <Table
      caption={language.say('forms.title')}
      rows={forms}
      keyOf={({ id }) => id}
      columns={[
        {
          heading: language.say('forms.name'),
          cell: ({ id, name }) => (
            <a href={`/forms/${id}`}>
              <bdi>{name}</bdi>
            </a>
          ),
        },
        { heading: language.say('forms.state'), cell: (form) => <FormState form={form} /> },
        numberColumn(language, 'forms.shown', 'shown'),
        numberColumn(language, 'forms.sent', 'sent'),
        numberColumn(language, 'forms.confirmed', 'confirmed'),
      ]}
    />
  );
}

function NewForm({ typed, choices, problems }: { typed: Typed; choices: Choices; problems: Problems }) {
  const language = useLanguage();
  if (choices.types.length === 0)
    return (
      <Empty
        title={language.say('forms.noTypes.title')}
        action={<LinkButton href="/settings/lists" label={language.say('forms.toTypes')} />}
      >
        {language.say('forms.noTypes.text')}
      </Empty>
    );
  if (choices.senders.length === 0)
    return (
      <Empty
        pose="flies"
        title={language.say('forms.noSenders.title')}
        action={<LinkButton href="/settings/senders" label={language.say('forms.toSenders')} />}
      >
        {language.say('forms.noSenders.text')}
      </Empty>
    );
  return (
    <Card>
      <form method="post" action="/forms/new" class="narrow">
        <Basics {...{ typed, choices, problems }} />
        <Button label={language.say('forms.create')} />
      </form>
    </Card>
  );
}
