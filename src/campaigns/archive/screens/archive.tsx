/** The settings page of the public archive, with its URL and its title. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { MAX_LINE_CHARACTERS } from '../../../errors/field-errors.ts';
import { pageRoute } from '../../../http/pages/layout.ts';
import { Button } from '../../../ui/components/button.tsx';
import { type Problems, TextField } from '../../../ui/components/field.tsx';
import { Card } from '../../../ui/components/surface.tsx';
import { ask, attempt, type Refusal } from '../../../ui/operations.ts';
import { backTo, sendSettings } from '../../../ui/settings/frame.tsx';
import { requireOwner } from '../../../ui/signed-in.ts';
import { field } from '../../../ui/submitted.ts';
import { useLanguage } from '../../../ui/words/index.ts';
import { type Archive, changeArchive, readArchive } from '../operations.ts';

/** Registers the settings page of the archive. */
export async function archiveScreen(app: FastifyInstance): Promise<void> {
  app.addHook('onRequest', async (request) => requireOwner(request));

  pageRoute(app, '/settings/archive', (request, reply) => show(request, reply));

  app.post('/settings/archive', async (request, reply) => {
    const values = { slug: field(request, 'slug'), title: field(request, 'title') };
    const { archive: before } = await ask(request, readArchive, {});
    const saved = await attempt(request, changeArchive, values);
    const isMoved = before.slug !== '' && before.slug !== values.slug;
    if ('output' in saved)
      return backTo(reply, 'archive', isMoved ? 'settings.done.archiveSaved' : 'settings.done.changed');
    return show(request, reply.code(saved.status), values, saved);
  });

  async function show(
    request: FastifyRequest,
    reply: FastifyReply,
    values: Partial<Archive> = {},
    { problems = {}, problem = '' }: Partial<Refusal> = {},
  ) {
    const { archive } = await ask(request, readArchive, {});
    const content = <ArchiveForm archive={{ ...archive, ...values }} problems={problems} />;
    return sendSettings(request, reply, 'archive', content, problem);
  }
}

function ArchiveForm({ archive: { slug, title, url, mails }, problems }: { archive: Archive; problems: Problems }) {
  const language = useLanguage();
  return (
    <div class="stack">
      <p class="quiet-text">{language.say('archive.about')}</p>
      <Card title={language.say('archive.page')}>
        {url === '' ? (
          <p>{language.say('archive.none')}</p>
        ) : (
          <p>
            <a href={url}>{url}</a>
            <br />
            {language.say('archive.mails', { count: mails })}
          </p>
        )}
        <form method="post" action="/settings/archive" class="narrow">
          <TextField
            name="title"
            label={language.say('archive.title')}
            hint={language.say('archive.title.hint')}
            value={title}
            maxLength={MAX_LINE_CHARACTERS}
            autocomplete="off"
            problems={problems}
          />
          <TextField
            name="slug"
            label={language.say('archive.slug')}
            hint={language.say('archive.slug.hint')}
            value={slug}
            maxLength={60}
            autocomplete="off"
            spellcheck={false}
            required
            problems={problems}
          />
          <Button label={language.say('compose.save')} />
        </form>
      </Card>
    </div>
  );
}
