/** One picture: as it is, where it is used, its address, what it is called, and deleting it. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Button } from '../../dashboard/components/button.tsx';
import { Confirm } from '../../dashboard/components/confirm.tsx';
import { TextField } from '../../dashboard/components/field.tsx';
import { Island } from '../../dashboard/components/island.tsx';
import { Card, Notice } from '../../dashboard/components/surface.tsx';
import { setFlash } from '../../dashboard/flash.ts';
import { ask, attempt, type Refusal } from '../../dashboard/operations.ts';
import { languageOf, sendPage } from '../../dashboard/page.tsx';
import { requireEditor, viewerOf } from '../../dashboard/signed-in.ts';
import { type Language, useLanguage } from '../../dashboard/words/index.ts';
import { READ } from '../../http/pages/layout.ts';
import {
  deletePicture,
  listPictureUses,
  type Picture,
  type PictureUse,
  readPicture,
  updatePicture,
} from '../operations.ts';

const SEE_OTHER = 303;
const MAX_USES = 100;

interface WithId {
  Params: { id: string };
  Body: { name?: unknown; alt?: unknown } | undefined;
}
type PictureRequest = FastifyRequest<WithId>;

/** What the page shows in place of what is stored: what was just typed, and what is wrong with it. */
interface Refused extends Partial<Pick<Refusal, 'problems' | 'problem'>> {
  given?: { name: string; alt: string };
}

export async function pictureScreen(app: FastifyInstance): Promise<void> {
  app.route<WithId>({ method: READ, url: '/pictures/:id', handler: (request, reply) => show(request, reply) });

  app.post<WithId>('/pictures/:id', async (request, reply) => {
    requireEditor(request);
    const given = { name: textOf(request.body?.name), alt: textOf(request.body?.alt) };
    const updated = await attempt(request, updatePicture, { ...request.params, ...given });
    if ('problems' in updated) return show(request, reply.code(updated.status), { given, ...updated });
    setFlash(reply, 'good', 'pictures.saved');
    return reply.redirect(`/pictures/${encodeURIComponent(request.params.id)}`, SEE_OTHER);
  });

  app.post<WithId>('/pictures/:id/delete', async (request, reply) => {
    requireEditor(request);
    const deleted = await attempt(request, deletePicture, request.params);
    if ('problems' in deleted) return show(request, reply.code(deleted.status), deleted);
    setFlash(reply, 'good', 'pictures.deleted');
    return reply.redirect('/pictures', SEE_OTHER);
  });

  async function show(request: PictureRequest, reply: FastifyReply, refused: Refused = {}) {
    const viewer = viewerOf(request);
    const picture = await ask(request, readPicture, request.params);
    const uses = await ask(request, listPictureUses, { ...request.params, limit: MAX_USES });
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

function OnePicture({ picture, uses, mayChange, given, problems, problem }: Shown) {
  const language = useLanguage();
  const { name, alt } = given ?? picture;
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

/** Where the browser loads a picture: on this page's own origin, which may differ from that in mails. */
export function pathOf({ url }: Picture): string {
  return new URL(url).pathname;
}

/** Pixels and bytes, such as “600 × 400 · 24 kB”. */
export function measures(language: Language, { width, height, size }: Picture): string {
  return `${language.number(width)} × ${language.number(height)} · ${language.bytes(size)}`;
}

/** How often a picture is used, by what uses it. */
export function usesInWords(
  language: Language,
  { single_sends, automation_mails, sent_mails, templates, blocks, brands }: Picture,
): string {
  const parts = [
    ...(single_sends > 0 ? [language.say('pictures.uses.mailings', { count: single_sends })] : []),
    ...(automation_mails > 0 ? [language.say('pictures.uses.automations', { count: automation_mails })] : []),
    ...(templates > 0 ? [language.say('pictures.uses.templates', { count: templates })] : []),
    ...(blocks > 0 ? [language.say('pictures.uses.blocks', { count: blocks })] : []),
    ...(brands > 0 ? [language.say('pictures.uses.brand')] : []),
    ...(sent_mails > 0 ? [language.say('pictures.uses.sent', { count: sent_mails })] : []),
  ];
  return parts.length === 0 ? language.say('pictures.uses.none') : parts.join(' · ');
}
