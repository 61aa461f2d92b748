/** The public archive: where it is, and what its owner calls it. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { READ } from '../../../http/pages/layout.ts';
import { ApiClient, refusalOf } from '../../api-client.ts';
import { Button } from '../../components/button.tsx';
import { type Problems, TextField } from '../../components/field.tsx';
import { Card } from '../../components/surface.tsx';
import { field } from '../../sign-in/fields.ts';
import { requireOwner } from '../../signed-in.ts';
import { useLanguage } from '../../words/index.ts';
import { backTo, sendSettings } from './frame.tsx';

interface Archive {
  slug: string;
  title: string;
  /** Empty while there is no page. */
  url: string;
  mails: number;
}

export async function archiveScreen(app: FastifyInstance): Promise<void> {
  app.addHook('onRequest', async (request) => requireOwner(request));

  app.route({ method: READ, url: '/settings/archive', handler: (request, reply) => show(request, reply) });

  app.post('/settings/archive', async (request, reply) => {
    const given = { slug: field(request, 'slug'), title: field(request, 'title') };
    const answer = await new ApiClient(app, request).send('POST', '/archive/save', given);
    if (answer.message !== undefined) return backTo(reply, 'archive', 'settings.done.archiveSaved');
    const { problems, problem } = refusalOf(answer);
    return show(request, reply.code(answer.status), given, problems, problem);
  });

  async function show(
    request: FastifyRequest,
    reply: FastifyReply,
    given: Partial<Archive> = {},
    problems: Problems = {},
    problem = '',
  ) {
    const { archive } = await new ApiClient(app, request).get<{ archive: Archive }>('/archive');
    const content = <ArchiveForm archive={{ ...archive, ...given }} problems={problems} />;
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
            maxLength={255}
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
          <Button>{language.say('archive.save')}</Button>
        </form>
      </Card>
    </div>
  );
}
