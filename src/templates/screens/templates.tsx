/** The list of templates, with previews and a search, and the page that adds a template. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pageRoute } from '../../http/pages/layout.ts';
import { LinkButton } from '../../ui/components/button.tsx';
import { form, SentForm } from '../../ui/components/form.tsx';
import { TemplatePicture } from '../../ui/components/mail-frames.tsx';
import { Card, Empty, NothingFound, Problem } from '../../ui/components/surface.tsx';
import { Pager, SearchForm } from '../../ui/components/table.tsx';
import { setFlash } from '../../ui/flash.ts';
import { ask, attempt, type Refusal } from '../../ui/operations.ts';
import { languageOf, sendPage } from '../../ui/page.tsx';
import { recordTime } from '../../ui/record-time.ts';
import { requireEditor, viewerOf } from '../../ui/signed-in.ts';
import { field } from '../../ui/submitted.ts';
import { withQuery } from '../../ui/with-query.ts';
import { useLanguage } from '../../ui/words/index.ts';
import { templateName } from '../../ui/words/known.ts';
import { isOwn } from '../mail-content.ts';
import { createTemplate, type ListedTemplate, listTemplates } from '../operations.ts';
import { templateScreen } from './template.tsx';

const ROWS = 12;
const NAME_FORM = form(createTemplate.input, [{ name: 'template_name', label: 'templates.name' }]);
const NEW_FORM = form(createTemplate.input, [
  { name: 'template_name', label: 'templates.name' },
  { name: 'template_id', label: 'templates.begin' },
]);

interface ListQuery {
  search?: string;
  before?: string;
}

/** Registers the list of templates, the page that adds a template, and the page of a template. */
export async function templateScreens(app: FastifyInstance): Promise<void> {
  pageRoute<{ Querystring: ListQuery }>(app, '/templates', async (request, reply) => {
    const viewer = viewerOf(request);
    const { search = '', before } = request.query;
    const part = { order: 'newest', limit: ROWS + 1, before_id: before };
    const templates = await ask(request, listTemplates, { ...part, search });
    const mayAdd = viewer.role !== 'viewer';
    const title = languageOf(request, viewer).say('nav.templates');
    const frame = { title, section: 'templates', ...(mayAdd && { action: <AddButton /> }) } as const;
    const isFirstPage = search === '' && before === undefined;
    const all = isFirstPage ? await ask(request, listTemplates, { built_in: 1 }) : [];
    const builtIn = all.filter((template) => !isOwn(template) && template.is_blank === 0);
    const list = { templates, builtIn, search, isLater: before !== undefined, mayAdd };
    return sendPage(request, reply, viewer, frame, <List {...list} />);
  });
  await newTemplateScreen(app);
  await templateScreen(app);
}

function AddButton() {
  return <LinkButton href="/templates/new" icon="plus" label={useLanguage().say('templates.new')} />;
}

interface ListProps {
  /** The own templates of a page; if there is a further page, its first template, too. */
  templates: readonly ListedTemplate[];
  /** The built-in templates, which only the first page shows. */
  builtIn: readonly ListedTemplate[];
  search: string;
  /** True for every page but the first. */
  isLater: boolean;
  mayAdd: boolean;
}

function List({ templates, builtIn, search, isLater, mayAdd }: ListProps) {
  const language = useLanguage();
  const shown = templates.slice(0, ROWS);
  const href = (before?: number) => withQuery('/templates', { search, before });
  const isLong = isLater || search !== '' || templates.length > ROWS;
  return (
    <div class="stack">
      <p class="quiet-text">{language.say('templates.about')}</p>
      {builtIn.length > 0 && <Gallery templates={builtIn} mayAdd={mayAdd} />}
      {builtIn.length > 0 && <h2>{language.say('templates.own')}</h2>}
      {isLong && (
        <SearchForm
          name="search"
          label={language.say('templates.name')}
          find={language.say('word.find')}
          value={search}
        />
      )}
      {shown.length === 0 && isLong && <NothingFound title={language.say('templates.none')} all="/templates" />}
      {shown.length === 0 && !isLong && (
        <Empty
          title={language.say('templates.empty.title')}
          action={mayAdd && <LinkButton look="plain" href="/templates/new" label={language.say('templates.new')} />}
        >
          {language.say('templates.empty.text')}
        </Empty>
      )}
      {shown.length > 0 && (
        <ul class="templates">
          {shown.map((template) => (
            <li key={template.id} class="card">
              <TemplatePicture id={template.id} image={template.preview_image} isOwn />
              <a href={`/templates/${template.id}`}>
                <b>
                  <bdi>{template.template_name}</bdi>
                </b>
              </a>
              <ChangeDay at={template.updated_at} />
            </li>
          ))}
        </ul>
      )}
      <Pager first={isLater ? href() : null} next={templates.length > ROWS ? href(shown.at(-1)?.id) : null} />
    </div>
  );
}

/** The built-in templates. Each links to the page that adds a copy of it. */
function Gallery({ templates, mayAdd }: { templates: readonly ListedTemplate[]; mayAdd: boolean }) {
  const language = useLanguage();
  return (
    <>
      <h2>{language.say('templates.builtIn')}</h2>
      <ul class="templates">
        {templates.map((template) => {
          const { id, preview_image: image } = template;
          const name = templateName(language, template);
          return (
            <li key={id} class="card">
              <TemplatePicture id={id} image={image} isOwn={false} />
              {mayAdd ? (
                <a href={withQuery('/templates/new', { template: id, name })}>
                  <b>{name}</b>
                </a>
              ) : (
                <b>{name}</b>
              )}
            </li>
          );
        })}
      </ul>
    </>
  );
}

function ChangeDay({ at }: { at: string | null }) {
  const language = useLanguage();
  const changed = at === null ? null : recordTime(at);
  if (changed === null) return null;
  return <p class="small quiet-text">{language.say('templates.changed', { day: language.date(changed) })}</p>;
}

/** The values of the form for a new template, and their problems. */
interface SubmittedTemplate extends Partial<Pick<Refusal, 'problems' | 'problem'>> {
  name: string;
  /** The utr of the mail to copy; empty to copy a template. */
  mail: string;
  /** The id of the template to copy. */
  template: string;
}

interface NewQuery {
  /** The utr of the mail to copy. */
  mail?: string;
  /** The proposed name. */
  name?: string;
  /** The id of the template to copy. */
  template?: string;
}

async function newTemplateScreen(app: FastifyInstance): Promise<void> {
  pageRoute<{ Querystring: NewQuery }>(app, '/templates/new', (request, reply) => {
    requireEditor(request);
    const { mail = '', name = '', template = '' } = request.query;
    return show(request, reply, { mail: String(mail), name: String(name), template: String(template) });
  });

  app.post('/templates/new', async (request, reply) => {
    requireEditor(request);
    const values = {
      name: field(request, 'template_name').trim(),
      mail: field(request, 'mail'),
      template: field(request, 'template_id'),
    };
    const created = await attempt(request, createTemplate, {
      template_name: values.name,
      ...(values.mail ? { mail_utr: values.mail } : { template_id: values.template }),
    });
    if ('problems' in created) return show(request, reply.code(created.status), { ...values, ...created });
    setFlash(reply, 'good', 'templates.added', { name: values.name });
    return reply.redirect(`/templates/${created.output.id}`, 303);
  });

  async function show(request: FastifyRequest, reply: FastifyReply, values: SubmittedTemplate) {
    const viewer = viewerOf(request);
    const templates = values.mail === '' ? await ask(request, listTemplates, { built_in: 1 }) : [];
    const title = languageOf(request, viewer).say('templates.new');
    const content = <NewTemplate values={values} templates={templates} />;
    return sendPage(request, reply, viewer, { title, section: 'templates' }, content);
  }
}

function NewTemplate({ values, templates }: { values: SubmittedTemplate; templates: readonly ListedTemplate[] }) {
  const language = useLanguage();
  const { name, mail, template, problems, problem } = values;
  const ownFirst = [...templates.filter(isOwn), ...templates.filter((listed) => !isOwn(listed))];
  const options = ownFirst.map((listed) => ({ value: String(listed.id), label: templateName(language, listed) }));
  const blank = templates.find(({ is_blank }) => is_blank === 1);
  return (
    <Card>
      <Problem>{problem}</Problem>
      <p class="quiet-text">{language.say(mail === '' ? 'templates.new.about' : 'templates.new.ofMail')}</p>
      <SentForm
        form={mail === '' ? NEW_FORM : NAME_FORM}
        action="/templates/new"
        values={{ template_name: name, template_id: template || String(blank?.id ?? '') }}
        options={{ template_id: options }}
        problems={problems}
        submit={language.say('templates.create')}
        back={{ href: '/templates', label: 'confirm.cancel' }}
      >
        {mail !== '' && <input type="hidden" name="mail" value={mail} />}
      </SentForm>
    </Card>
  );
}
