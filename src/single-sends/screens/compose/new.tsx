/** A new mailing: asks for its name, and leads to the first step. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Button, LinkButton } from '../../../dashboard/components/button.tsx';
import { type Problems, TextField } from '../../../dashboard/components/field.tsx';
import { Card } from '../../../dashboard/components/surface.tsx';
import { attempt } from '../../../dashboard/operations.ts';
import { languageOf, sendPage } from '../../../dashboard/page.tsx';
import { field } from '../../../dashboard/sign-in/fields.ts';
import { viewerOf } from '../../../dashboard/signed-in.ts';
import { useLanguage } from '../../../dashboard/words/index.ts';
import { READ } from '../../../http/pages/layout.ts';
import { createDraft } from '../../operations/drafts.ts';
import { stepAddress } from './frame.tsx';

const SEE_OTHER = 303;

export async function newMailingScreen(app: FastifyInstance): Promise<void> {
  app.route({
    method: READ,
    url: '/mailings/new',
    handler: (request, reply) => send(request, reply, <NewMailing />),
  });

  app.post('/mailings/new', async (request, reply) => {
    const name = field(request, 'single_send_name');
    const created = await attempt(request, createDraft, { single_send_name: name });
    if (!('problems' in created)) return reply.redirect(stepAddress(created.output.utr, 'audience'), SEE_OTHER);
    const { status, problems } = created;
    return send(request, reply.code(status), <NewMailing name={name} problems={problems} />);
  });
}

function send(request: FastifyRequest, reply: FastifyReply, content: Parameters<typeof sendPage>[4]) {
  const viewer = viewerOf(request);
  const title = languageOf(request, viewer).say('compose.new');
  return sendPage(request, reply, viewer, { title, section: 'mailings' }, content);
}

function NewMailing({ name = '', problems }: { name?: string; problems?: Problems }) {
  const language = useLanguage();
  return (
    <Card>
      <p class="quiet-text">{language.say('compose.new.about')}</p>
      <form method="post" action="/mailings/new" class="narrow">
        <TextField
          name="single_send_name"
          label={language.say('compose.name')}
          hint={language.say('compose.name.hint')}
          value={name}
          maxLength={255}
          autocomplete="off"
          required
          problems={problems}
        />
        <div class="buttons">
          <Button>{language.say('compose.create')}</Button>
          <LinkButton look="quiet" href="/mailings">
            {language.say('confirm.cancel')}
          </LinkButton>
        </div>
      </form>
    </Card>
  );
}
