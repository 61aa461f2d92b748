/** The second step: subject and preview text with placeholders and hints, and the ways to make the mail itself. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { listPlaceholders } from '../../../audience/fields/operations.ts';
import { LinkButton } from '../../../dashboard/components/button.tsx';
import { type Problems, TextField } from '../../../dashboard/components/field.tsx';
import { Island } from '../../../dashboard/components/island.tsx';
import { Card } from '../../../dashboard/components/surface.tsx';
import { ask } from '../../../dashboard/operations.ts';
import { field } from '../../../dashboard/sign-in/fields.ts';
import { withQuery } from '../../../dashboard/with-query.ts';
import { useLanguage } from '../../../dashboard/words/index.ts';
import { READ } from '../../../http/pages/layout.ts';
import { listTemplates } from '../../../templates/operations.ts';
import { type Draft, readDraft } from '../../operations/drafts.ts';
import { type Composed, composedCampaign } from './composed.tsx';
import { SavedForm, sendStep } from './frame.tsx';
import { type Fields, saveStep, seenValue } from './save.tsx';
import { subjectHints, subjectLength } from './subject-hints.ts';
import { TestCard } from './test-parts.tsx';

interface ByUtr {
  Params: { utr: string };
}

export async function contentStep(app: FastifyInstance): Promise<void> {
  app.route<ByUtr>({
    method: READ,
    url: '/mailings/:utr/edit/content',
    handler: async (request, reply) => {
      const { draft } = await ask(request, readDraft, request.params);
      return sendStep(request, reply, draft, 'content', await content(request, draft, storedFields(draft)));
    },
  });

  app.post<ByUtr>('/mailings/:utr/edit/content', async (request, reply) => {
    const given = {
      subject: field(request, 'subject').trim(),
      preheader: field(request, 'preheader').trim(),
      single_send_name: field(request, 'single_send_name').trim(),
    };
    return saveStep({
      request,
      reply,
      utr: request.params.utr,
      step: 'content',
      given,
      stored: storedFields,
      again: async (draft, problems, problem) =>
        sendStep(request, reply, draft, 'content', await content(request, draft, given, problems), problem),
    });
  });
}

const storedFields = ({ subject, preheader, single_send_name }: Draft): Fields => ({
  subject,
  preheader,
  single_send_name,
});

async function content(request: FastifyRequest, draft: Draft, given: Fields, problems: Problems = {}) {
  const { contents: placeholders } = await ask(request, listPlaceholders, {});
  const template = draft.content === 'template' ? await findTemplateName(request, draft.template_id) : '';
  const mail = composedCampaign(request, draft);
  return <ContentForm {...{ draft, mail, given, problems, placeholders, template }} />;
}

/** The name of a template; empty where there is none with this id. */
export async function findTemplateName(request: FastifyRequest, id: number): Promise<string> {
  const templates = await ask(request, listTemplates, { built_in: 1 });
  return templates.find((template) => template.id === id)?.template_name ?? '';
}

interface FormProps {
  draft: Draft;
  mail: Composed;
  given: Fields;
  problems: Problems;
  placeholders: readonly string[];
  /** The name of its template, where it is one as it comes. */
  template: string;
}

function ContentForm({ draft, mail, given, problems, placeholders, template }: FormProps) {
  const language = useLanguage();
  return (
    <SavedForm
      draft={draft}
      step="content"
      seen={seenValue(storedFields(draft))}
      beside={
        <>
          <MailContent mail={mail} template={template} />
          <TestCard draft={draft} />
        </>
      }
    >
      <TextField
        name="subject"
        label={language.say('compose.subject')}
        value={String(given.subject)}
        maxLength={255}
        autocomplete="off"
        data-takes-placeholders
        problems={problems}
      />
      <TextField
        name="preheader"
        label={language.say('compose.preheader')}
        hint={language.say('compose.preheader.hint')}
        value={String(given.preheader)}
        maxLength={255}
        autocomplete="off"
        data-takes-placeholders
        problems={problems}
      />
      <Hints {...draft} />
      <Placeholders names={placeholders} />
      <TextField
        name="single_send_name"
        label={language.say('compose.name')}
        hint={language.say('compose.name.hint')}
        value={String(given.single_send_name)}
        maxLength={255}
        autocomplete="off"
        required
        problems={problems}
      />
    </SavedForm>
  );
}

/** What may be odd about the subject and preview text, as they are saved. */
export function Hints({ subject, preheader }: { subject: string; preheader: string }) {
  const language = useLanguage();
  return (
    <div id="compose-hints" data-fresh aria-live="polite">
      {subject !== '' && (
        <ul class="small quiet-text">
          <li>{language.say('compose.hint.length', { count: subjectLength(subject) })}</li>
          {subjectHints(subject, preheader).map(({ hint, ...values }) => (
            <li key={hint}>{language.fill(`compose.hint.${hint}`, values)}</li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** The names of the placeholders, each of which a script puts into the field that was used last. */
export function Placeholders({ names }: { names: readonly string[] }) {
  const language = useLanguage();
  return (
    <Island name="placeholders">
      <details class="placeholders">
        <summary>{language.say('compose.placeholders')}</summary>
        <p class="small quiet-text">{language.say('compose.placeholders.about')}</p>
        <ul data-insert-label={language.fill('compose.placeholders.insert', {})}>
          {names.map((name) => (
            <li key={name}>
              <code>
                ((<bdi>{name}</bdi>))
              </code>
            </li>
          ))}
        </ul>
      </details>
    </Island>
  );
}

/** The mail as it is now, and the ways to make it. `template` is the name of its template, where it is one as it comes. */
export function MailContent({ mail, template }: { mail: Composed; template: string }) {
  const { utr, name, content: source } = mail;
  const language = useLanguage();
  return (
    <Card title={language.say('compose.content.mail')}>
      <p>
        {source === 'template'
          ? language.say('compose.content.template', { name: template })
          : language.say(`compose.content.${source}`)}
      </p>
      {source !== 'none' && (
        <div class="mail-sheet small-sheet">
          <iframe sandbox="" src={mail.address('mail')} title={language.say('mail.phone')} loading="lazy" />
        </div>
      )}
      <div class="buttons">
        {source !== 'none' && (
          <LinkButton href={mail.address('design')}>{language.say('compose.content.design')}</LinkButton>
        )}
        <LinkButton look={source === 'none' ? 'primary' : 'plain'} href={mail.address('templates')}>
          {language.say('compose.content.choose')}
        </LinkButton>
        <LinkButton look="plain" href={mail.address('html')}>
          {language.say('compose.content.paste')}
        </LinkButton>
        <LinkButton look="quiet" href={`/versions/${utr}`}>
          {language.say('versions.open')}
        </LinkButton>
        {source !== 'none' && (
          <LinkButton look="quiet" href={withQuery('/templates/new', { mail: utr, name })}>
            {language.say('templates.keep')}
          </LinkButton>
        )}
      </div>
    </Card>
  );
}
