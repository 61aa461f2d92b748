/** The page of an image: the image, its URL, its texts, the records that use it, and the button that deletes it. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { MAX_LINE_CHARACTERS } from '../../../errors/field-errors.ts';
import { type ById, pageRoute } from '../../../http/pages/layout.ts';
import { Button } from '../../../ui/components/button.tsx';
import { Confirm } from '../../../ui/components/confirm.tsx';
import { TextField } from '../../../ui/components/field.tsx';
import { Island } from '../../../ui/components/island.tsx';
import { Card, Problem } from '../../../ui/components/surface.tsx';
import { setFlash } from '../../../ui/flash.ts';
import { ask, attempt, type Refusal } from '../../../ui/operations.ts';
import { languageOf, sendPage } from '../../../ui/page.tsx';
import { requireEditor, viewerOf } from '../../../ui/signed-in.ts';
import { type Language, useLanguage } from '../../../ui/words/index.ts';
import {
  deletePicture,
  listPictureUses,
  type Picture,
  type PictureUse,
  readPicture,
  updatePicture,
} from '../operations.ts';

/** The maximum number of uses that the page lists. */
const MAX_USES = 100;

interface Call extends ById {
  Body: { name?: unknown; alt?: unknown } | undefined;
}
type PictureRequest = FastifyRequest<Call>;

/** The submitted values and their problems, which the page shows in place of the stored values. */
interface SubmittedPicture extends Partial<Pick<Refusal, 'problems' | 'problem'>> {
  values?: { name: string; alt: string };
}

/** Registers the page of an image. */
export async function pictureScreen(app: FastifyInstance): Promise<void> {
  pageRoute<Call>(app, '/images/:id(^\\d+$)', (request, reply) => show(request, reply));

  app.post<Call>('/images/:id', async (request, reply) => {
    requireEditor(request);
    const values = { name: textOf(request.body?.name), alt: textOf(request.body?.alt) };
    const updated = await attempt(request, updatePicture, { ...request.params, ...values });
    if ('problems' in updated) return show(request, reply.code(updated.status), { values, ...updated });
    setFlash(reply, 'good', 'images.saved');
    return reply.redirect(`/images/${encodeURIComponent(request.params.id)}`, 303);
  });

  app.post<Call>('/images/:id/delete', async (request, reply) => {
    requireEditor(request);
    const deleted = await attempt(request, deletePicture, request.params);
    if ('problems' in deleted) return show(request, reply.code(deleted.status), deleted);
    setFlash(reply, 'good', 'images.deleted');
    return reply.redirect('/images', 303);
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
      <Problem>{problem}</Problem>
      <Card>
        <figure class="picture">
          <img src={pathOf(picture)} alt={picture.alt} />
          <figcaption>
            <b>
              <bdi>{picture.name}</bdi>
            </b>
            <span class="quiet-text">{`${picture.kind.toUpperCase()} · ${sizeInWords(language, picture)}`}</span>
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
              maxLength={MAX_LINE_CHARACTERS}
              required
              problems={problems}
            />
            <TextField
              name="alt"
              label={language.say('images.alt')}
              hint={language.say('images.alt.hint')}
              value={alt}
              maxLength={MAX_LINE_CHARACTERS}
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

/** The name of a record that uses the image, with a link to a campaign; only the subject if the campaign was deleted. */
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

/** The button that deletes the image, or why the image cannot be deleted. */
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

/** Returns the path of a picture. The page loads the picture from its own origin, which may differ from that of the URL in mails. */
export function pathOf({ url }: Picture): string {
  return new URL(url).pathname;
}

/** Returns the size of a picture in pixels and bytes, such as “600 × 400 · 24 kB”. */
export function sizeInWords(language: Language, { width, height, size }: Picture): string {
  return `${language.number(width)} × ${language.number(height)} · ${language.bytes(size)}`;
}

/** Returns how often a picture is used as a text, with a number for each kind of use. */
export function usesInWords(
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
