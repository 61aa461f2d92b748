/** The second step of composing: the subject and the preview text, with merge tags and hints, and the content of the mail. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { listPlaceholders } from '../../../audience/fields/operations.ts';
import { MAX_LINE_CHARACTERS } from '../../../errors/field-errors.ts';
import { LanguagesCard } from '../../../templates/languages/screens/versions.tsx';
import { listTemplates } from '../../../templates/operations.ts';
import { LinkButton } from '../../../ui/components/button.tsx';
import { type Problems, SelectField, TextField } from '../../../ui/components/field.tsx';
import { Island } from '../../../ui/components/island.tsx';
import { Card } from '../../../ui/components/surface.tsx';
import { ask } from '../../../ui/operations.ts';
import { languageOf } from '../../../ui/page.tsx';
import { viewerOf } from '../../../ui/signed-in.ts';
import { field } from '../../../ui/submitted.ts';
import { withQuery } from '../../../ui/with-query.ts';
import { useLanguage } from '../../../ui/words/index.ts';
import { fieldLabel, templateName } from '../../../ui/words/known.ts';
import type { Draft } from '../../operations/drafts.ts';
import { AttachmentsCard } from '../attachments.tsx';
import { TestCard } from '../variants.tsx';
import { LinkFields } from './link-fields.tsx';
import { type Composed, composedCampaign } from './mail-content.tsx';
import { type Fields, SavedForm, savedStep, seenValue, stepPath } from './step.tsx';
import { subjectHints, subjectLength } from './subject-hints.ts';

/** Registers the step with the subject and the content. */
export function contentStep(app: FastifyInstance): void {
  savedStep(app, { step: 'content', submitted: submittedFields, stored: storedFields, content });
}

const submittedFields = (request: FastifyRequest): Fields => ({
  subject: field(request, 'subject').trim(),
  preheader: field(request, 'preheader').trim(),
  single_send_name: field(request, 'single_send_name').trim(),
  utm_mode: field(request, 'utm_mode') || 'account',
  utm_source: field(request, 'utm_source').trim(),
  utm_medium: field(request, 'utm_medium').trim(),
  utm_campaign: field(request, 'utm_campaign').trim(),
  utm_content: field(request, 'utm_content') === '1' ? '1' : '0',
});

const storedFields = (draft: Draft): Fields => ({
  subject: draft.subject,
  preheader: draft.preheader,
  single_send_name: draft.single_send_name,
  utm_mode: draft.utm_mode,
  utm_source: draft.utm_source,
  utm_medium: draft.utm_medium,
  utm_campaign: draft.utm_campaign,
  utm_content: String(draft.utm_content),
});

/** Returns the form of the step. */
async function content(request: FastifyRequest, draft: Draft, values: Fields, problems: Problems) {
  const { contents: placeholders } = await ask(request, listPlaceholders, {});
  const template = draft.content === 'template' ? await findTemplateName(request, draft.template_id) : '';
  const mail = composedCampaign(request, draft);
  return <ContentForm {...{ draft, mail, values, problems, placeholders, template }} />;
}

/** Returns the name of the template with this id, in the user's language if it is built in; empty if there is none. */
export async function findTemplateName(request: FastifyRequest, id: number): Promise<string> {
  const templates = await ask(request, listTemplates, { built_in: 1 });
  const template = templates.find((listed) => listed.id === id);
  return template === undefined ? '' : templateName(languageOf(request, viewerOf(request)), template);
}

interface FormProps {
  draft: Draft;
  mail: Composed;
  values: Fields;
  problems: Problems;
  placeholders: readonly string[];
  /** The name of the template, if the content is an unchanged template; otherwise empty. */
  template: string;
}

function ContentForm({ draft, mail, values, problems, placeholders, template }: FormProps) {
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
          <LanguagesCard languages={draft.languages} href={stepPath(draft.utr, 'languages')} />
          <AttachmentsCard draft={draft} />
        </>
      }
    >
      <SubjectFields subject={String(values.subject)} preheader={String(values.preheader)} problems={problems} />
      <Hints {...draft} />
      <Placeholders names={placeholders} />
      <TextField
        name="single_send_name"
        label={language.say('compose.name')}
        hint={language.say('compose.name.hint')}
        value={String(values.single_send_name)}
        maxLength={MAX_LINE_CHARACTERS}
        autocomplete="off"
        required
        problems={problems}
      />
      <LinkParameters draft={draft} values={values} problems={problems} />
    </SavedForm>
  );
}

/** The fields of the parameters that are added to links. */
function LinkParameters({ draft, values, problems }: Pick<FormProps, 'draft' | 'values' | 'problems'>) {
  const language = useLanguage();
  const text = (name: string) => String(values[name] ?? '');
  return (
    <details open={values.utm_mode === 'own' || problems.utm_source !== undefined}>
      <summary>{language.say('links.title')}</summary>
      <div class="stack">
        <p class="small quiet-text" id="link-parameters" data-fresh>
          {draft.link_parameters === ''
            ? language.say('links.none')
            : language.say('links.get', { parameters: draft.link_parameters })}
        </p>
        <SelectField
          name="utm_mode"
          label={language.say('links.mode')}
          value={text('utm_mode')}
          options={(['account', 'off', 'own'] as const).map((value) => ({
            value,
            label: language.say(`links.mode.${value}`),
          }))}
        />
        <LinkFields
          values={{
            utm_source: text('utm_source'),
            utm_medium: text('utm_medium'),
            utm_campaign: text('utm_campaign'),
            utm_content: values.utm_content === '1' ? 1 : 0,
          }}
          sourceHint={language.say('links.own.hint')}
          problems={problems}
        />
      </div>
    </details>
  );
}

interface SubjectFieldsProps {
  subject: string;
  preheader: string;
  /** True if the subject is required. */
  isRequired?: boolean;
  problems: Problems;
}

/** The fields of the subject and the preview text, which can have merge tags. */
export function SubjectFields({ subject, preheader, isRequired = false, problems }: SubjectFieldsProps) {
  const language = useLanguage();
  const text = {
    maxLength: MAX_LINE_CHARACTERS,
    autocomplete: 'off',
    'data-takes-placeholders': true,
    problems,
  } as const;
  return (
    <>
      <TextField
        name="subject"
        label={language.say('compose.subject')}
        value={subject}
        required={isRequired}
        {...text}
      />
      <TextField
        name="preheader"
        label={language.say('compose.preheader')}
        hint={language.say('compose.preheader.hint')}
        value={preheader}
        {...text}
      />
    </>
  );
}

/** Hints about the saved subject and preview text. */
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

/** The merge tags, each with its label, which by default is that of the field. A script inserts a chosen merge tag into the last used field. */
export function Placeholders({
  names,
  labels = {},
}: {
  names: readonly string[];
  labels?: Readonly<Record<string, string>>;
}) {
  const language = useLanguage();
  return (
    <Island name="placeholders">
      <details class="placeholders">
        <summary>{language.say('compose.placeholders')}</summary>
        <p class="small quiet-text">{language.say('compose.placeholders.about')}</p>
        <ul data-insert-label={language.fill('compose.placeholders.insert', {})}>
          {names.map((name) => (
            <li key={name}>
              <bdi>{labels[name] ?? fieldLabel(language, name)}</bdi>
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

/**
 * The current mail, and links to the pages that change its content. `template` is the name of its template, if its content is an unchanged
 * template.
 */
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
          <LinkButton look="plain" href={mail.address('design')} label={language.say('compose.content.design')} />
        )}
        <LinkButton look="plain" href={mail.address('templates')} label={language.say('compose.content.choose')} />
        <LinkButton look="plain" href={mail.address('html')} label={language.say('compose.content.paste')} />
        <LinkButton look="quiet" href={`/versions/${utr}`} label={language.say('versions.open')} />
        {source !== 'none' && (
          <LinkButton
            look="quiet"
            href={withQuery('/templates/new', { mail: utr, name })}
            label={language.say('templates.keep')}
          />
        )}
      </div>
    </Card>
  );
}
