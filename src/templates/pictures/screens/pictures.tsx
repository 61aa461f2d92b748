/** The image library: thumbnails with their uses, a search, and the form that adds images. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pageRoute } from '../../../http/pages/layout.ts';
import { installMultipart } from '../../../http/requests/forms.ts';
import { Button } from '../../../ui/components/button.tsx';
import { Island } from '../../../ui/components/island.tsx';
import { Empty, NothingFound } from '../../../ui/components/surface.tsx';
import { Pager, SearchForm } from '../../../ui/components/table.tsx';
import { setFlash } from '../../../ui/flash.ts';
import { ask, attemptWith } from '../../../ui/operations.ts';
import { languageOf, sendPage } from '../../../ui/page.tsx';
import { requireEditor, viewerOf } from '../../../ui/signed-in.ts';
import { withQuery } from '../../../ui/with-query.ts';
import { useLanguage } from '../../../ui/words/index.ts';
import { listPictures, type Picture } from '../operations.ts';
import { receivePicture } from '../routes.ts';
import { pathOf, pictureScreen, sizeInWords, usesInWords } from './picture.tsx';

const ROWS = 24;

interface ListQuery {
  search?: string;
  before?: string;
}
type ListRequest = FastifyRequest<{ Querystring: ListQuery }>;

/** Registers the image library, the requests that add images, and the page of an image. */
export async function pictureScreens(app: FastifyInstance): Promise<void> {
  await installMultipart(app);

  pageRoute<{ Querystring: ListQuery }>(app, '/images', show);

  app.post('/images', { config: { upload: true } }, async (request: ListRequest, reply) => {
    const added = await add(request);
    if ('problem' in added)
      return show(request, reply.code(added.status), added.problems.file?.join(' ') ?? added.text);
    const { picture, is_new } = added.output;
    setFlash(reply, 'good', is_new ? 'images.added' : 'images.known', { name: picture.name });
    return reply.redirect('/images', 303);
  });

  // The script posts here, once for each of several images, and reports the results.
  app.post('/images/add', { config: { upload: true } }, async (request, reply) => {
    const added = await add(request);
    if ('problem' in added) return reply.header('cache-control', 'no-store').send({ problem: added.text, note: null });
    const { picture, is_new } = added.output;
    const language = languageOf(request, viewerOf(request));
    const note = is_new === 0 ? language.say('images.known', { name: picture.name }) : null;
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
    const frame = { title: languageOf(request, viewer).say('nav.images'), section: 'images' } as const;
    const list = { pictures, search, isLater: before !== undefined, mayAdd: viewer.role !== 'viewer', problem };
    return sendPage(request, reply, viewer, frame, <Library {...list} />);
  }
}

interface ListProps {
  /** The images of a page; if there is a further page, its first image, too. */
  pictures: Picture[];
  search: string;
  /** True for every page but the first. */
  isLater: boolean;
  mayAdd: boolean;
  problem: string | undefined;
}

function Library({ mayAdd, problem, ...list }: ListProps) {
  const language = useLanguage();
  const words = {
    sending: language.say('images.sending'),
    failed: language.say('images.failed'),
    done: language.say('images.done'),
    some: language.say('images.some'),
  };
  return (
    <Island name="pictures" data={{ words, copied: language.say('images.copied') }}>
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
    <form method="post" action="/images" enctype="multipart/form-data" class="add-pictures">
      <div class="drop">
        <label for="file">
          <b>{language.say('images.file')}</b>
          <span class="quiet-text">{language.say('images.file.hint')}</span>
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
            {language.fullSentence(problem)}
          </p>
        )}
        <ul class="uploads" data-pictures="uploads" hidden />
        <div class="buttons" data-pictures="send">
          <Button icon="plus" label={language.say('images.add')} />
        </div>
      </div>
    </form>
  );
}

function Pictures({ pictures, search, isLater }: Omit<ListProps, 'mayAdd' | 'problem'>) {
  const language = useLanguage();
  const shown = pictures.slice(0, ROWS);
  const href = (before?: number) => withQuery('/images', { search, before });
  if (shown.length === 0 && search === '' && !isLater) {
    return <Empty title={language.say('images.empty.title')}>{language.say('images.empty.text')}</Empty>;
  }
  return (
    <>
      <SearchForm name="search" label={language.say('images.search')} find={language.say('word.find')} value={search} />
      {shown.length === 0 ? (
        <NothingFound title={language.say('images.none')} all="/images" />
      ) : (
        <ul class="pictures">
          {shown.map((picture) => (
            <li key={picture.id}>
              <a href={`/images/${picture.id}`}>
                <img src={pathOf(picture)} alt="" loading="lazy" decoding="async" />
                <b>
                  <bdi>{picture.name}</bdi>
                </b>
              </a>
              <p class="quiet-text">{sizeInWords(language, picture)}</p>
              <p class="quiet-text">{usesInWords(language, picture)}</p>
              <button type="button" class="plain" data-copy={picture.url} hidden>
                {language.say('images.copy')}
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
