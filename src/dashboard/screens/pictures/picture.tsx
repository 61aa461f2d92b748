/** One picture: as it is, where it is used, its address, what it is called, and deleting it. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { READ } from '../../../http/pages/layout.ts';
import { ApiClient, problemsOf, refusalText } from '../../api-client.ts';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { type Problems, TextField } from '../../components/field.tsx';
import { Island } from '../../components/island.tsx';
import { Card, Notice } from '../../components/surface.tsx';
import { setFlash } from '../../flash.ts';
import { languageOf, sendPage } from '../../page.tsx';
import { requireEditor, viewerOf } from '../../signed-in.ts';
import { useLanguage } from '../../words/index.ts';
import { measures, type Picture, type PictureUse, pathOf, usesInWords } from './records.ts';

const SEE_OTHER = 303;
const MAX_USES = 100;

interface WithId {
  Params: { id: string };
  Body: { name?: unknown; alt?: unknown } | undefined;
}
type PictureRequest = FastifyRequest<WithId>;

/** What the page shows in place of what is stored: what was just typed, and what is wrong with it. */
interface Refused {
  given?: { name: string; alt: string };
  problems?: Problems;
  refusal?: string;
}

export async function pictureScreen(app: FastifyInstance): Promise<void> {
  app.route<WithId>({ method: READ, url: '/pictures/:id', handler: (request, reply) => show(request, reply) });

  app.post<WithId>('/pictures/:id', async (request, reply) => {
    requireEditor(request);
    const given = { name: textOf(request.body?.name), alt: textOf(request.body?.alt) };
    const answer = await new ApiClient(app, request).send('POST', '/pictures/update', {
      id: request.params.id,
      ...given,
    });
    if (answer.message === undefined) {
      const problems = problemsOf(answer, 'name');
      return show(request, reply.code(answer.status), { given, problems });
    }
    setFlash(reply, 'good', 'pictures.saved');
    return reply.redirect(`/pictures/${encodeURIComponent(request.params.id)}`, SEE_OTHER);
  });

  app.post<WithId>('/pictures/:id/delete', async (request, reply) => {
    requireEditor(request);
    const answer = await new ApiClient(app, request).send('POST', '/pictures/delete', { id: request.params.id });
    if (answer.message === undefined) return show(request, reply.code(answer.status), { refusal: refusalText(answer) });
    setFlash(reply, 'good', 'pictures.deleted');
    return reply.redirect('/pictures', SEE_OTHER);
  });

  async function show(request: PictureRequest, reply: FastifyReply, refused: Refused = {}) {
    const viewer = viewerOf(request);
    const api = new ApiClient(app, request);
    const { id } = request.params;
    const [{ picture }, { uses }] = await Promise.all([
      api.get<{ picture: Picture }>('/pictures/details', { id }),
      api.get<{ uses: PictureUse[] }>('/pictures/uses', { id, limit: String(MAX_USES) }),
    ]);
    const title = languageOf(request, viewer).say('pictures.one');
    const frame = { title, section: 'pictures', back: { href: '/pictures', label: 'nav.pictures' } } as const;
    const content = <OnePicture picture={picture} uses={uses} mayChange={viewer.role !== 'viewer'} {...refused} />;
    return sendPage(request, reply, viewer, frame, content);
  }
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '');

interface Shown extends Refused {
  picture: Picture;
  uses: PictureUse[];
  mayChange: boolean;
}

function OnePicture({ picture, uses, mayChange, given, problems, refusal }: Shown) {
  const language = useLanguage();
  const { name, alt } = given ?? picture;
  return (
    <div class="stack">
      {refusal && (
        <Notice tone="bad" isNews>
          {language.sentence(refusal)}
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
      <Card title={language.say('pictures.address')}>
        <Island name="pictures" data={{ copied: language.say('pictures.copied') }}>
          <div class="picture-address">
            <input readOnly value={picture.url} aria-label={language.say('pictures.address')} />
            <button type="button" class="plain" data-copy={picture.url} hidden>
              {language.say('pictures.copy')}
            </button>
          </div>
          <p class="visually-hidden" role="status" data-pictures="news" />
        </Island>
        <p class="quiet-text">{language.say('pictures.address.hint')}</p>
      </Card>
      {mayChange && (
        <Card title={language.say('pictures.texts')}>
          <form method="post" action={`/pictures/${picture.id}`}>
            <TextField
              name="name"
              label={language.say('pictures.name')}
              value={name}
              maxLength={255}
              required
              problems={problems}
            />
            <TextField
              name="alt"
              label={language.say('pictures.alt')}
              hint={language.say('pictures.alt.hint')}
              value={alt}
              maxLength={255}
              problems={problems}
            />
            <div class="buttons">
              <Button>{language.say('pictures.save')}</Button>
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
    <Card title={language.say('pictures.where')}>
      <p>{usesInWords(language, picture)}</p>
      {uses.length > 0 && (
        <ul class="picture-uses">
          {uses.map((use) => (
            <li key={use.id}>
              <UseName use={use} />{' '}
              <span class="quiet-text">
                {use.sent_at === null
                  ? language.say(`pictures.use.${use.kind}`)
                  : language.say('pictures.use.sent', { day: language.date(new Date(use.sent_at)) })}
              </span>
            </li>
          ))}
        </ul>
      )}
      {count > uses.length && <p class="quiet-text">{language.say('pictures.uses.first', { count: uses.length })}</p>}
    </Card>
  );
}

/** The campaign with a link to it; only the subject where the campaign is deleted. */
function UseName({ use: { kind, campaign, utr, name, subject } }: { use: PictureUse }) {
  const language = useLanguage();
  if (kind === 'template' || kind === 'block') return <bdi>{name}</bdi>;
  if (kind === 'brand') return <a href="/settings/brand">{language.say('settings.brand')}</a>;
  if (utr === null) return <bdi>{subject || language.say('outbox.noSubject')}</bdi>;
  const isAutomation = campaign === 'automation';
  return (
    <a href={`/${isAutomation ? 'automations' : 'mailings'}/${utr}`}>
      <bdi>{isAutomation ? `${name}: ${subject}` : name}</bdi>
    </a>
  );
}

function Delete({ picture }: { picture: Picture }) {
  const language = useLanguage();
  const { single_sends, automation_mails, templates, blocks, brands, sent_mails } = picture;
  if (sent_mails > 0) return <p class="quiet-text">{language.say('pictures.keep.sent')}</p>;
  if (single_sends + automation_mails + templates + blocks + brands > 0)
    return <p class="quiet-text">{language.say('pictures.keep.used')}</p>;
  return (
    <Confirm
      id="delete-picture"
      action={`/pictures/${picture.id}/delete`}
      label={language.say('pictures.delete')}
      title={language.say('pictures.delete.title')}
    >
      <p>{language.say('pictures.delete.text')}</p>
    </Confirm>
  );
}
