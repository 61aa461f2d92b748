/** The pages on which versions of a mail in other languages are added, changed and removed. They serve all kinds of mails. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ComponentChildren, VNode } from 'preact';
import { MAX_LINE_CHARACTERS } from '../../../errors/field-errors.ts';
import { pageRoute } from '../../../http/pages/layout.ts';
import { Button, LinkButton } from '../../../ui/components/button.tsx';
import { Confirm } from '../../../ui/components/confirm.tsx';
import { type Problems, SelectField, TextField } from '../../../ui/components/field.tsx';
import { Card, Notice } from '../../../ui/components/surface.tsx';
import { setFlash } from '../../../ui/flash.ts';
import { type Attempt, ask } from '../../../ui/operations.ts';
import { requireEditor } from '../../../ui/signed-in.ts';
import { field } from '../../../ui/submitted.ts';
import { type PlainKey, useLanguage } from '../../../ui/words/index.ts';
import { languageNamer, languageOptions, templateName } from '../../../ui/words/known.ts';
import { type ListedTemplate, listTemplates } from '../../operations.ts';
import type { Versions } from '../operations.ts';

/** The id of the form that adds a version. The other forms have the code of their language as id. */
const NEW = 'new';
const FIELDS = ['language', 'subject', 'preheader', 'template_id'] as const;
type Values = Record<(typeof FIELDS)[number], string>;

/** The submitted form of a version, and its problems. */
interface SubmittedVersion {
  values: Values;
  problems: Problems;
}

/** A mail with versions, as the pages of its versions need it. */
export interface Translated {
  /** The subject of the mail itself; empty if the mail gets its subject from a program. */
  subject: string;
  versions: Versions;
  /** The path of the page with the versions. */
  address: string;
  /** The link back. */
  back: { href: string; label: PlainKey };
  /** When the mail was last changed. A form is refused if the mail was changed later; absent: no form is refused for this. */
  updatedAt?: string;
  /** Returns the path of the page that shows the version with this number; absent if there is no such page. */
  see?(number: number): string;
  save(values: Values & { unchanged_since: string }): Promise<Attempt<unknown>>;
  remove(values: { language: string; unchanged_since: string }): Promise<Attempt<unknown>>;
  /** Sends the page. */
  send(reply: FastifyReply, content: VNode, problem: string | undefined): unknown;
}

/** A kind of mails with versions. */
export interface TranslatedKind<Params> {
  /** The route of the pages, with parameters. */
  route: string;
  /** Reads the mail that the parameters name. Throws 404 if the account has no such mail. */
  read(request: FastifyRequest, params: Params): Promise<Translated>;
}

/** Registers the pages for the versions of a kind of mail in other languages. */
export function languageVersionScreens<Params>(app: FastifyInstance, { route, read }: TranslatedKind<Params>): void {
  type Call = { Params: Params };
  const paramsOf = (request: FastifyRequest<Call>): Params => request.params as Params;
  pageRoute<Call>(app, route, async (request, reply) => {
    requireEditor(request);
    return show(request, reply, await read(request, paramsOf(request)));
  });

  app.post<Call>(route, async (request, reply) => {
    requireEditor(request);
    const translated = await read(request, paramsOf(request));
    const value = (name: (typeof FIELDS)[number]) => field(request, name).trim();
    const values = {
      language: value('language'),
      subject: value('subject'),
      preheader: value('preheader'),
      template_id: value('template_id'),
    };
    const saved = await translated.save({ ...values, unchanged_since: field(request, 'unchanged_since') });
    if ('problems' in saved) {
      const submitted = { values, problems: saved.problems };
      return show(request, reply.code(saved.status), translated, submitted, saved.text);
    }
    setFlash(reply, 'good', 'compose.saved');
    return reply.redirect(translated.address, 303);
  });

  app.post<Call>(`${route}/remove`, async (request, reply) => {
    requireEditor(request);
    const translated = await read(request, paramsOf(request));
    const values = { unchanged_since: field(request, 'unchanged_since'), language: field(request, 'language') };
    const removed = await translated.remove(values);
    if ('problems' in removed) return show(request, reply.code(removed.status), translated, undefined, removed.text);
    setFlash(reply, 'good', 'languages.removed');
    return reply.redirect(translated.address, 303);
  });

  async function show(
    request: FastifyRequest,
    reply: FastifyReply,
    translated: Translated,
    submitted?: SubmittedVersion,
    problem?: string,
  ) {
    const templates = await ask(request, listTemplates, { built_in: 1 });
    return translated.send(reply, <VersionsPage {...{ translated, templates, submitted }} />, problem);
  }
}

interface PageProps {
  translated: Translated;
  templates: readonly ListedTemplate[];
  submitted: SubmittedVersion | undefined;
}

function VersionsPage({ translated, templates, submitted }: PageProps) {
  const { versions, address, back, see, updatedAt } = translated;
  const { languages, account_language, missing } = versions;
  const language = useLanguage();
  const nameOf = languageNamer(language);
  const isNew = !languages.some((version) => version.language === submitted?.values.language);
  return (
    <div class="stack">
      <h2>{language.say('languages.title')}</h2>
      <p class="quiet-text">{language.say('languages.about', { name: nameOf(account_language) })}</p>
      {missing.length > 0 && (
        <Notice>
          {language.say('languages.missing', {
            names: missing.map(({ language: code, count }) => `${nameOf(code)} (${language.number(count)})`).join(', '),
          })}
        </Notice>
      )}
      <Card title={`${language.say('languages.main')} (${nameOf(account_language)})`}>
        <p>
          <bdi>{translated.subject || language.say('compose.none')}</bdi>
        </p>
      </Card>
      {languages.map((stored, index) => (
        <Card key={stored.language} title={nameOf(stored.language)}>
          <VersionForm
            translated={translated}
            templates={templates}
            id={stored.language}
            {...(submitted?.values.language === stored.language
              ? submitted
              : { values: { ...stored, template_id: String(stored.template_id || '') }, problems: {} })}
          >
            <input type="hidden" name="language" value={stored.language} />
          </VersionForm>
          <div class="buttons">
            {see && <LinkButton look="plain" href={see(index + 1)} label={language.say('languages.see')} />}
            <Confirm
              id={`remove-${stored.language}`}
              action={`${address}/remove`}
              label={language.say('languages.remove')}
              title={language.say('languages.remove.title', { name: nameOf(stored.language) })}
            >
              <p>{language.say('languages.remove.text')}</p>
              <input type="hidden" name="language" value={stored.language} />
              {updatedAt && <input type="hidden" name="unchanged_since" value={updatedAt} />}
            </Confirm>
          </div>
        </Card>
      ))}
      <Card title={language.say('languages.add')}>
        <VersionForm
          translated={translated}
          templates={templates}
          id={NEW}
          values={{ language: '', subject: '', preheader: '', template_id: '' }}
          problems={{}}
          {...(isNew && submitted)}
        >
          <SelectField
            name="language"
            label={language.say('field.language')}
            value={isNew ? (submitted?.values.language ?? '') : ''}
            options={[{ value: '', label: '–' }, ...languageOptions(language)]}
            {...(isNew && submitted && { problems: submitted.problems })}
          />
        </VersionForm>
      </Card>
      <div class="buttons">
        <LinkButton look="quiet" href={back.href} label={language.say(back.label)} />
      </div>
    </div>
  );
}

interface FormProps extends SubmittedVersion {
  translated: Translated;
  templates: readonly ListedTemplate[];
  /** The code of the version's language, or `NEW`. */
  id: string;
  /** The field of the language. */
  children: ComponentChildren;
}

function VersionForm({ translated: { address, updatedAt }, templates, id, values, problems, children }: FormProps) {
  const language = useLanguage();
  const asMail = language.say('languages.asMail');
  const text = (name: 'subject' | 'preheader', label: string) => (
    <TextField
      name={name}
      label={label}
      value={values[name]}
      placeholder={asMail}
      maxLength={MAX_LINE_CHARACTERS}
      autocomplete="off"
      problems={problems}
    />
  );
  return (
    <form method="post" action={address} class="stack" id={`version-${id}`}>
      {children}
      {text('subject', language.say('compose.subject'))}
      {text('preheader', language.say('compose.preheader'))}
      <SelectField
        name="template_id"
        label={language.say('compose.variants.content')}
        value={values.template_id}
        options={[
          { value: '', label: asMail },
          ...templates.map((template) => ({ value: String(template.id), label: templateName(language, template) })),
        ]}
        problems={problems}
      />
      {updatedAt && <input type="hidden" name="unchanged_since" value={updatedAt} />}
      <Button look={id === NEW ? 'primary' : 'plain'} label={language.say('languages.save')} />
    </form>
  );
}

/** The card on the page of a mail that names the `languages` of its versions and links to them. */
export function LanguagesCard({ languages, href }: { languages: readonly string[]; href: string }) {
  const language = useLanguage();
  const names = languages.map(languageNamer(language)).join(', ');
  return (
    <Card title={language.say('languages.title')}>
      <p>{languages.length === 0 ? language.say('languages.none') : language.say('languages.are', { names })}</p>
      <div class="buttons">
        <LinkButton
          look="plain"
          href={href}
          label={language.say(languages.length === 0 ? 'languages.open' : 'languages.change')}
        />
      </div>
    </Card>
  );
}
