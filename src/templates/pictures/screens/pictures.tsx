/** The image library: thumbnails with their uses, a search, the form to add more, and the page of one picture. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pageRoute } from '../../../http/pages/layout.ts';
import { installMultipart } from '../../../http/requests/forms.ts';
import { Button } from '../../../ui/components/button.tsx';
import { Confirm } from '../../../ui/components/confirm.tsx';
import { TextField } from '../../../ui/components/field.tsx';
import { Island } from '../../../ui/components/island.tsx';
import { Card, Empty, NothingFound, Notice } from '../../../ui/components/surface.tsx';
import { Pager, SearchForm } from '../../../ui/components/table.tsx';
import { setFlash } from '../../../ui/flash.ts';
import { ask, attempt, attemptWith, type Refusal } from '../../../ui/operations.ts';
import { languageOf, sendPage } from '../../../ui/page.tsx';
import { requireEditor, viewerOf } from '../../../ui/signed-in.ts';
import { withQuery } from '../../../ui/with-query.ts';
import { type Language, useLanguage } from '../../../ui/words/index.ts';
import {
  deletePicture,
  listPictures,
  listPictureUses,
  type Picture,
  type PictureUse,
  readPicture,
  updatePicture,
} from '../operations.ts';
import { receivePicture } from '../routes.ts';

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

  pageRoute<{ Querystring: ListQuery }>(app, '/images', show);

  app.post('/images', { config: { upload: true } }, async (request: ListRequest, reply) => {
    const added = await add(request);
    if ('problem' in added)
      return show(request, reply.code(added.status), added.problems.file?.join(' ') ?? added.text);
    const { picture, is_new } = added.output;
    setFlash(reply, 'good', is_new ? 'images.added' : 'images.known', { name: picture.name });
    return reply.redirect('/images', SEE_OTHER);
  });

  // For the script, which adds several pictures and reports the result of each.
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

interface List {
  /** One more than a page shows if there is a further page. */
  pictures: Picture[];
  search: string;
  isLater: boolean;
  mayAdd: boolean;
  problem: string | undefined;
}

function Library({ mayAdd, problem, ...list }: List) {
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
            {language.sentence(problem)}
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

function Pictures({ pictures, search, isLater }: Omit<List, 'mayAdd' | 'problem'>) {
  const language = useLanguage();
  const shown = pictures.slice(0, ROWS);
  const href = (before?: number) => withQuery('/images', { search, before });
  if (shown.length === 0 && search === '' && !isLater) {
    return <Empty title={language.say('images.empty.title')}>{language.say('images.empty.text')}</Empty>;
  }
  return (
    <>
      <SearchForm
        name="search"
        label={language.say('images.search')}
        find={language.say('campaigns.find')}
        value={search}
      />
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
              <p class="quiet-text">{measures(language, picture)}</p>
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

const MAX_USES = 100;

interface WithId {
  Params: { id: string };
  Body: { name?: unknown; alt?: unknown } | undefined;
}
type PictureRequest = FastifyRequest<WithId>;

/** The submitted values and their problems, shown instead of the stored values. */
interface SubmittedPicture extends Partial<Pick<Refusal, 'problems' | 'problem'>> {
  values?: { name: string; alt: string };
}

async function pictureScreen(app: FastifyInstance): Promise<void> {
  pageRoute<WithId>(app, '/images/:id(^\\d+$)', (request, reply) => show(request, reply));

  app.post<WithId>('/images/:id', async (request, reply) => {
    requireEditor(request);
    const values = { name: textOf(request.body?.name), alt: textOf(request.body?.alt) };
    const updated = await attempt(request, updatePicture, { ...request.params, ...values });
    if ('problems' in updated) return show(request, reply.code(updated.status), { values, ...updated });
    setFlash(reply, 'good', 'images.saved');
    return reply.redirect(`/images/${encodeURIComponent(request.params.id)}`, SEE_OTHER);
  });

  app.post<WithId>('/images/:id/delete', async (request, reply) => {
    requireEditor(request);
    const deleted = await attempt(request, deletePicture, request.params);
    if ('problems' in deleted) return show(request, reply.code(deleted.status), deleted);
    setFlash(reply, 'good', 'images.deleted');
    return reply.redirect('/images', SEE_OTHER);
  });

  async function show(request: PictureRequest, reply: FastifyReply, refused: SubmittedPicture = {}) {
    const viewer = viewerOf(request);
    const picture = await ask(request, readPicture, request.params);
    const uses = await ask(request, listPictureUses, { ...request.params, limit: MAX_USES });
    const title = languageOf(request, viewer).say('images.one');
    const frame = { title, section: 'images', back: { href: '/images', label: 'nav.images' } } as const;
    const content = <OnePicture picture={picture} uses={uses} mayChange={viewer.role !== 'viewer'} {...refused} />;
    return sendPage(request, reply, viewer, frame, content);
  }
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '');

interface OnePictureProps extends SubmittedPicture {
  picture: Picture;
  uses: PictureUse[];
  mayChange: boolean;
}

function OnePicture({ picture, uses, mayChange, values, problems, problem }: OnePictureProps) {
  const language = useLanguage();
  const { name, alt } = values ?? picture;
  return (
    <div class="stack">
      {problem && (
        <Notice tone="bad" isNews>
          {problem}
        </Notice>
      )}
      <Card>
        <figure class="picture">
          <img src={pathOf(picture)} alt={picture.alt} />
          <figcaption>
            <b>
              <bdi>{picture.name}</bdi>
            </b>
            <span class="quiet-text">{`${picture.kind.toUpperCase()} · ${measures(language, picture)}`}</span>
          </figcaption>
        </figure>
      </Card>
      <Card title={language.say('images.address')}>
        <Island name="pictures" data={{ copied: language.say('images.copied') }}>
          <div class="picture-address">
            <input readOnly value={picture.url} aria-label={language.say('images.address')} />
            <button type="button" class="plain" data-copy={picture.url} hidden>
              {language.say('images.copy')}
            </button>
          </div>
          <p class="visually-hidden" role="status" data-pictures="news" />
        </Island>
        <p class="quiet-text">{language.say('images.address.hint')}</p>
      </Card>
      {mayChange && (
        <Card title={language.say('images.texts')}>
          <form method="post" action={`/images/${picture.id}`}>
            <TextField
              name="name"
              label={language.say('compose.name')}
              value={name}
              maxLength={255}
              required
              problems={problems}
            />
            <TextField
              name="alt"
              label={language.say('images.alt')}
              hint={language.say('images.alt.hint')}
              value={alt}
              maxLength={255}
              problems={problems}
            />
            <div class="buttons">
              <Button label={language.say('compose.save')} />
            </div>
          </form>
        </Card>
      )}
      <Uses picture={picture} uses={uses} />
      {mayChange && <Delete picture={picture} />}
    </div>
  );
}

function Uses({ picture, uses }: { picture: Picture; uses: PictureUse[] }) {
  const language = useLanguage();
  const { single_sends, automation_mails, templates, blocks, brands, sent_mails } = picture;
  const count = single_sends + automation_mails + templates + blocks + brands + sent_mails;
  return (
    <Card title={language.say('images.where')}>
      <p>{usesInWords(language, picture)}</p>
      {uses.length > 0 && (
        <ul class="picture-uses">
          {uses.map((use) => (
            <li key={use.id}>
              <UseName use={use} />{' '}
              <span class="quiet-text">
                {use.sent_at === null
                  ? language.say(`images.use.${use.kind}`)
                  : language.say('images.use.sent', { day: language.date(new Date(use.sent_at)) })}
              </span>
            </li>
          ))}
        </ul>
      )}
      {count > uses.length && <p class="quiet-text">{language.say('images.uses.first', { count: uses.length })}</p>}
    </Card>
  );
}

/** The campaign with a link to it; only the subject if the campaign is deleted. */
function UseName({ use: { kind, campaign, utr, name, subject } }: { use: PictureUse }) {
  const language = useLanguage();
  if (kind === 'template' || kind === 'block') return <bdi>{name}</bdi>;
  if (kind === 'brand') return <a href="/settings/brand">{language.say('settings.brand')}</a>;
  if (utr === null) return <bdi>{subject || language.say('outbox.noSubject')}</bdi>;
  const isAutomation = campaign === 'automation';
  return (
    <a href={`/${isAutomation ? 'automations' : 'campaigns'}/${utr}`}>
      <bdi>{isAutomation ? `${name}: ${subject}` : name}</bdi>
    </a>
  );
}

function Delete({ picture }: { picture: Picture }) {
  const language = useLanguage();
  const { single_sends, automation_mails, templates, blocks, brands, sent_mails } = picture;
  if (sent_mails > 0) return <p class="quiet-text">{language.say('images.keep.sent')}</p>;
  if (single_sends + automation_mails + templates + blocks + brands > 0)
    return <p class="quiet-text">{language.say('images.keep.used')}</p>;
  return (
    <Confirm
      id="delete-picture"
      action={`/images/${picture.id}/delete`}
      label={language.say('images.delete')}
      title={language.say('images.delete.title')}
    >
      <p>{language.say('images.delete.text')}</p>
    </Confirm>
  );
}

/** Returns where the browser loads a picture: from this page's own origin, which may differ from that in mails. */
function pathOf({ url }: Picture): string {
  return new URL(url).pathname;
}

/** Returns the size in pixels and bytes, such as “600 × 400 · 24 kB”. */
function measures(language: Language, { width, height, size }: Picture): string {
  return `${language.number(width)} × ${language.number(height)} · ${language.bytes(size)}`;
}

/** Returns how often a picture is used, by kind of use. */
function usesInWords(
  language: Language,
  { single_sends, automation_mails, sent_mails, templates, blocks, brands }: Picture,
): string {
  const parts = [
    ...(single_sends > 0 ? [language.say('images.uses.mailings', { count: single_sends })] : []),
    ...(automation_mails > 0 ? [language.say('images.uses.automations', { count: automation_mails })] : []),
    ...(templates > 0 ? [language.say('images.uses.templates', { count: templates })] : []),
    ...(blocks > 0 ? [language.say('images.uses.blocks', { count: blocks })] : []),
    ...(brands > 0 ? [language.say('images.uses.brand')] : []),
    ...(sent_mails > 0 ? [language.say('images.uses.sent', { count: sent_mails })] : []),
  ];
  return parts.length === 0 ? language.say('images.uses.none') : parts.join(' · ');
}
