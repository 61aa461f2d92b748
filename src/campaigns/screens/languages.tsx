/** The versions of a campaign in other languages: adding, changing and removing them, beside the content. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ComponentChildren } from 'preact';
import type { Static } from 'typebox';
import { pageRoute } from '../../http/pages/layout.ts';
import { type ListedTemplate, listTemplates } from '../../templates/operations.ts';
import { Button, LinkButton } from '../../ui/components/button.tsx';
import { Confirm } from '../../ui/components/confirm.tsx';
import { type Problems, SelectField, TextField } from '../../ui/components/field.tsx';
import { Card } from '../../ui/components/surface.tsx';
import { setFlash } from '../../ui/flash.ts';
import { ask, attempt, sentenceOf } from '../../ui/operations.ts';
import { withQuery } from '../../ui/with-query.ts';
import { useLanguage } from '../../ui/words/index.ts';
import { languageNamer, languageOptions } from '../../ui/words/known.ts';
import { field } from '../../users/screens/sign-in/fields.ts';
import { type Draft, readDraft } from '../operations/drafts.ts';
import { listLanguages, removeLanguage, saveLanguage } from '../operations/languages.ts';
import { sendStep, stepPath } from './compose/step.tsx';

interface ByUtr {
  Params: { utr: string };
}

const SEE_OTHER = 303;
const FIELDS = ['language', 'subject', 'preheader', 'template_id'] as const;

/** A version as a form has it, and what is wrong with it. */
interface Given {
  values: Record<(typeof FIELDS)[number], string>;
  problems: Problems;
}

export async function languagesScreen(app: FastifyInstance): Promise<void> {
  pageRoute<ByUtr>(app, '/campaigns/:utr/edit/languages', (request, reply) => show(request, reply));

  app.post<ByUtr>('/campaigns/:utr/edit/languages', async (request, reply) => {
    const { utr } = request.params;
    const of = (name: (typeof FIELDS)[number]) => field(request, name).trim();
    const values = {
      language: of('language'),
      subject: of('subject'),
      preheader: of('preheader'),
      template_id: of('template_id'),
    };
    const unchanged_since = field(request, 'unchanged_since');
    const saved = await attempt(request, saveLanguage, { utr, unchanged_since, ...values });
    if ('problems' in saved)
      return show(request, reply.code(saved.status), { values, problems: saved.problems }, sentenceOf(saved));
    setFlash(reply, 'good', 'compose.saved');
    return reply.redirect(stepPath(utr, 'languages'), SEE_OTHER);
  });

  app.post<ByUtr>('/campaigns/:utr/edit/languages/remove', async (request, reply) => {
    const { utr } = request.params;
    const given = { utr, unchanged_since: field(request, 'unchanged_since'), language: field(request, 'language') };
    const removed = await attempt(request, removeLanguage, given);
    if ('problems' in removed) return show(request, reply.code(removed.status), undefined, sentenceOf(removed));
    setFlash(reply, 'good', 'languages.removed');
    return reply.redirect(stepPath(utr, 'languages'), SEE_OTHER);
  });

  async function show(request: FastifyRequest<ByUtr>, reply: FastifyReply, given?: Given, problem?: string) {
    const { utr } = request.params;
    const [{ draft }, stored, templates] = await Promise.all([
      ask(request, readDraft, { utr }),
      ask(request, listLanguages, { utr }),
      ask(request, listTemplates, { built_in: 1 }),
    ]);
    const content = <LanguagesPage {...{ draft, stored, templates, given }} />;
    return sendStep(request, reply, draft, 'content', content, problem);
  }
}

interface PageProps {
  draft: Draft;
  stored: Static<typeof listLanguages.output>;
  templates: readonly ListedTemplate[];
  given: Given | undefined;
}

function LanguagesPage({ draft, stored: { languages, account_language }, templates, given }: PageProps) {
  const language = useLanguage();
  const nameOf = languageNamer(language);
  const isNew = !languages.some((version) => version.language === given?.values.language);
  return (
    <div class="stack">
      <h2>{language.say('languages.title')}</h2>
      <p class="quiet-text">{language.say('languages.about', { name: nameOf(account_language) })}</p>
      <Card title={`${language.say('languages.main')} (${nameOf(account_language)})`}>
        <p>
          <bdi>{draft.subject || language.say('compose.none')}</bdi>
        </p>
      </Card>
      {languages.map((stored, at) => (
        <Card key={stored.language} title={nameOf(stored.language)}>
          <VersionForm
            draft={draft}
            templates={templates}
            id={stored.language}
            {...(given?.values.language === stored.language
              ? given
              : { values: { ...stored, template_id: String(stored.template_id || '') }, problems: {} })}
          >
            <input type="hidden" name="language" value={stored.language} />
          </VersionForm>
          <div class="buttons">
            <LinkButton look="plain" href={withQuery(stepPath(draft.utr, 'check'), { variant: String(at + 1) })}>
              {language.say('languages.see')}
            </LinkButton>
            <Confirm
              id={`remove-${stored.language}`}
              action={stepPath(draft.utr, 'languages/remove')}
              label={language.say('languages.remove')}
              title={language.say('languages.remove.title', { name: nameOf(stored.language) })}
            >
              <p>{language.say('languages.remove.text')}</p>
              <input type="hidden" name="language" value={stored.language} />
              <input type="hidden" name="unchanged_since" value={draft.updated_at} />
            </Confirm>
          </div>
        </Card>
      ))}
      <Card title={language.say('languages.add')}>
        <VersionForm
          draft={draft}
          templates={templates}
          id="new"
          values={{ language: '', subject: '', preheader: '', template_id: '' }}
          problems={{}}
          {...(isNew && given)}
        >
          <SelectField
            name="language"
            label={language.say('field.language')}
            value={isNew ? (given?.values.language ?? '') : ''}
            options={[{ value: '', label: '–' }, ...languageOptions(language)]}
            {...(isNew && given && { problems: given.problems })}
          />
        </VersionForm>
      </Card>
      <div class="buttons">
        <LinkButton look="quiet" href={stepPath(draft.utr, 'content')}>
          {language.say('compose.design.back')}
        </LinkButton>
      </div>
    </div>
  );
}

interface FormProps extends Given {
  draft: Draft;
  templates: readonly ListedTemplate[];
  /** Distinguishes the forms of the page. */
  id: string;
  /** The field of the language. */
  children: ComponentChildren;
}

function VersionForm({ draft, templates, id, values, problems, children }: FormProps) {
  const language = useLanguage();
  const asMail = language.say('languages.asMail');
  const text = (name: 'subject' | 'preheader', label: string) => (
    <TextField
      name={name}
      label={label}
      value={values[name]}
      placeholder={asMail}
      maxLength={255}
      autocomplete="off"
      problems={problems}
    />
  );
  return (
    <form method="post" action={stepPath(draft.utr, 'languages')} class="stack" id={`version-${id}`}>
      {children}
      {text('subject', language.say('compose.subject'))}
      {text('preheader', language.say('compose.preheader'))}
      <SelectField
        name="template_id"
        label={language.say('compose.variants.content')}
        value={values.template_id}
        options={[
          { value: '', label: asMail },
          ...templates.map(({ id: template, template_name: label }) => ({ value: String(template), label })),
        ]}
        problems={problems}
      />
      <input type="hidden" name="unchanged_since" value={draft.updated_at} />
      <Button look="plain">{language.say('languages.save')}</Button>
    </form>
  );
}

/** The card beside the content that leads to the versions. */
export function LanguagesCard({ draft: { utr, languages } }: { draft: Draft }) {
  const language = useLanguage();
  const names = languages.map(languageNamer(language)).join(', ');
  return (
    <Card title={language.say('languages.title')}>
      <p>{languages.length === 0 ? language.say('languages.none') : language.say('languages.are', { names })}</p>
      <div class="buttons">
        <LinkButton look="plain" href={stepPath(utr, 'languages')}>
          {language.say(languages.length === 0 ? 'languages.open' : 'languages.change')}
        </LinkButton>
      </div>
    </Card>
  );
}
