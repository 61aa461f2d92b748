/** The account's own templates: how they look, a search, and the way to a new one. */
import type { FastifyInstance } from 'fastify';
import { LinkButton } from '../../dashboard/components/button.tsx';
import { TemplatePicture } from '../../dashboard/components/mail-frames.tsx';
import { Empty } from '../../dashboard/components/surface.tsx';
import { Pager, SearchForm } from '../../dashboard/components/table.tsx';
import { ask } from '../../dashboard/operations.ts';
import { languageOf, sendPage } from '../../dashboard/page.tsx';
import { recordTime } from '../../dashboard/record-time.ts';
import { viewerOf } from '../../dashboard/signed-in.ts';
import { withQuery } from '../../dashboard/with-query.ts';
import { useLanguage } from '../../dashboard/words/index.ts';
import { READ } from '../../http/pages/layout.ts';
import { type ListedTemplate, listTemplates } from '../operations.ts';
import { newTemplateScreen } from './new.tsx';
import { templateScreen } from './template.tsx';

const ROWS = 24;

interface ListQuery {
  search?: string;
  before?: string;
}

/** Registers the list, the form for a new template, and the page of one. */
export async function templateScreens(app: FastifyInstance): Promise<void> {
  app.route<{ Querystring: ListQuery }>({
    method: READ,
    url: '/templates',
    handler: async (request, reply) => {
      const viewer = viewerOf(request);
      const { search = '', before } = request.query;
      const part = { order: 'newest', limit: ROWS + 1, before_id: before };
      const templates = await ask(request, listTemplates, { ...part, search });
      const mayAdd = viewer.role !== 'viewer';
      const title = languageOf(request, viewer).say('nav.templates');
      const frame = { title, section: 'templates', ...(mayAdd && { action: <New /> }) } as const;
      const list = { templates, search, isLater: before !== undefined, mayAdd };
      return sendPage(request, reply, viewer, frame, <List {...list} />);
    },
  });
  await newTemplateScreen(app);
  await templateScreen(app);
}

function New() {
  return (
    <LinkButton href="/templates/new" icon="plus">
      {useLanguage().say('templates.new')}
    </LinkButton>
  );
}

interface Listed {
  /** One more than a page shows where there is a further page. */
  templates: readonly ListedTemplate[];
  search: string;
  isLater: boolean;
  mayAdd: boolean;
}

function List({ templates, search, isLater, mayAdd }: Listed) {
  const language = useLanguage();
  const shown = templates.slice(0, ROWS);
  const href = (before?: number) => withQuery('/templates', { search, before });
  if (shown.length === 0 && search === '' && !isLater)
    return (
      <Empty icon="template" title={language.say('templates.empty.title')} {...(mayAdd && { action: <New /> })}>
        {language.say('templates.empty.text')}
      </Empty>
    );
  const isLong = isLater || search !== '' || templates.length > ROWS;
  return (
    <div class="stack">
      <p class="quiet-text">{language.say('templates.about')}</p>
      {isLong && (
        <SearchForm
          name="search"
          label={language.say('templates.name')}
          find={language.say('mailings.find')}
          value={search}
        />
      )}
      {shown.length === 0 ? (
        <p>{language.say('templates.none')}</p>
      ) : (
        <ul class="templates">
          {shown.map((template) => (
            <li key={template.id} class="card">
              <TemplatePicture id={template.id} image={template.preview_image} isOwn />
              <a href={`/templates/${template.id}`}>
                <b>
                  <bdi>{template.template_name}</bdi>
                </b>
              </a>
              <Changed at={template.updated_at} />
            </li>
          ))}
        </ul>
      )}
      <Pager first={isLater ? href() : null} next={templates.length > ROWS ? href(shown.at(-1)?.id) : null} />
    </div>
  );
}

function Changed({ at }: { at: string | null }) {
  const language = useLanguage();
  const changed = at === null ? null : recordTime(at);
  if (changed === null) return null;
  return <p class="small quiet-text">{language.say('templates.changed', { day: language.date(changed) })}</p>;
}
