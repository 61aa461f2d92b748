/** The picture library: thumbnails with where they are used, a search, and the form to add more. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Button } from '../../dashboard/components/button.tsx';
import { Island } from '../../dashboard/components/island.tsx';
import { Empty } from '../../dashboard/components/surface.tsx';
import { Pager, SearchForm } from '../../dashboard/components/table.tsx';
import { setFlash } from '../../dashboard/flash.ts';
import { ask, attemptWith, sentenceOf } from '../../dashboard/operations.ts';
import { languageOf, sendPage } from '../../dashboard/page.tsx';
import { requireEditor, viewerOf } from '../../dashboard/signed-in.ts';
import { withQuery } from '../../dashboard/with-query.ts';
import { useLanguage } from '../../dashboard/words/index.ts';
import { READ } from '../../http/pages/layout.ts';
import { installMultipart } from '../../http/requests/forms.ts';
import { listPictures, type Picture } from '../operations.ts';
import { receivePicture } from '../routes.ts';
import { measures, pathOf, pictureScreen, usesInWords } from './picture.tsx';

const ROWS = 24;
const SEE_OTHER = 303;

interface ListQuery {
  search?: string;
  before?: string;
}
type ListRequest = FastifyRequest<{ Querystring: ListQuery }>;

/** Registers the library, the form to add pictures, and the page of one picture. */
export async function pictureScreens(app: FastifyInstance): Promise<void> {
  await installMultipart(app);

  app.route<{ Querystring: ListQuery }>({
    method: READ,
    url: '/pictures',
    handler: (request, reply) => show(request, reply),
  });

  app.post('/pictures', { config: { upload: true } }, async (request: ListRequest, reply) => {
    const added = await add(request);
    if ('problem' in added) return show(request, reply.code(added.status), sentenceOf(added));
    const { picture, is_new } = added.output;
    setFlash(reply, 'good', is_new ? 'pictures.added' : 'pictures.known', { name: picture.name });
    return reply.redirect('/pictures', SEE_OTHER);
  });

  // For the script, which adds several pictures and says what came of each.
  app.post('/pictures/add', { config: { upload: true } }, async (request, reply) => {
    const added = await add(request);
    if ('problem' in added)
      return reply.header('cache-control', 'no-store').send({ problem: sentenceOf(added), note: null });
    const { picture, is_new } = added.output;
    const language = languageOf(request, viewerOf(request));
    const note = is_new === 0 ? language.say('pictures.known', { name: picture.name }) : null;
    return reply.header('cache-control', 'no-store').send({ problem: null, note });
  });

  await pictureScreen(app);

  function add(request: FastifyRequest) {
    requireEditor(request);
    return attemptWith(request, async (context) => {
      const { picture, is_new } = await receivePicture(context, request);
      const stored: Picture = JSON.parse(picture);
      return { picture: stored, is_new };
    });
  }

  async function show(request: ListRequest, reply: FastifyReply, problem?: string) {
    const viewer = viewerOf(request);
    const { search = '', before } = request.query;
    const part = { order: 'newest', limit: ROWS + 1, before_id: before };
    const pictures = await ask(request, listPictures, { ...part, search });
    const frame = { title: languageOf(request, viewer).say('nav.pictures'), section: 'pictures' } as const;
    const list = { pictures, search, isLater: before !== undefined, mayAdd: viewer.role !== 'viewer', problem };
    return sendPage(request, reply, viewer, frame, <Library {...list} />);
  }
}

interface List {
  /** One more than a page shows where there is a further page. */
  pictures: Picture[];
  search: string;
  isLater: boolean;
  mayAdd: boolean;
  problem: string | undefined;
}

function Library({ mayAdd, problem, ...list }: List) {
  const language = useLanguage();
  const words = {
    sending: language.say('pictures.sending'),
    failed: language.say('pictures.failed'),
    done: language.say('pictures.done'),
    some: language.say('pictures.some'),
  };
  return (
    <Island name="pictures" data={{ words, copied: language.say('pictures.copied') }}>
      {mayAdd && <AddForm problem={problem} />}
      <p class="visually-hidden" role="status" data-pictures="news" />
      <div id="library" class="stack">
        <Pictures {...list} />
      </div>
    </Island>
  );
}

function AddForm({ problem }: { problem: string | undefined }) {
  const language = useLanguage();
  return (
    <form method="post" action="/pictures" enctype="multipart/form-data" class="add-pictures">
      <div class="drop">
        <label for="file">
          <b>{language.say('pictures.file')}</b>
          <span class="quiet-text">{language.say('pictures.file.hint')}</span>
        </label>
        <input
          type="file"
          id="file"
          name="file"
          accept="image/png,image/jpeg,image/gif,image/webp"
          required
          {...(problem && { 'aria-invalid': true, 'aria-describedby': 'file-problem' })}
        />
        {problem && (
          <p class="problem" id="file-problem">
            {language.sentence(problem)}
          </p>
        )}
        <ul class="uploads" data-pictures="uploads" hidden />
        <div class="buttons" data-pictures="send">
          <Button icon="plus">{language.say('pictures.add')}</Button>
        </div>
      </div>
    </form>
  );
}

function Pictures({ pictures, search, isLater }: Omit<List, 'mayAdd' | 'problem'>) {
  const language = useLanguage();
  const shown = pictures.slice(0, ROWS);
  const href = (before?: number) => withQuery('/pictures', { search, before });
  if (shown.length === 0 && search === '' && !isLater) {
    return (
      <Empty icon="picture" title={language.say('pictures.empty.title')}>
        {language.say('pictures.empty.text')}
      </Empty>
    );
  }
  return (
    <>
      <SearchForm
        name="search"
        label={language.say('pictures.search')}
        find={language.say('outbox.find')}
        value={search}
      />
      {shown.length === 0 ? (
        <p>{language.say('pictures.none')}</p>
      ) : (
        <ul class="pictures">
          {shown.map((picture) => (
            <li key={picture.id}>
              <a href={`/pictures/${picture.id}`}>
                <img src={pathOf(picture)} alt="" loading="lazy" decoding="async" />
                <b>
                  <bdi>{picture.name}</bdi>
                </b>
              </a>
              <p class="quiet-text">{measures(language, picture)}</p>
              <p class="quiet-text">{usesInWords(language, picture)}</p>
              <button type="button" class="plain" data-copy={picture.url} hidden>
                {language.say('pictures.copy')}
                <span class="visually-hidden"> {picture.name}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      <Pager first={isLater ? href() : null} next={pictures.length > ROWS ? href(shown.at(-1)?.id) : null} />
    </>
  );
}
