/** Registers the pages with which a campaign is composed: a page that begins it, four steps that can be opened in any order, and their subpages. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { MAX_LINE_CHARACTERS } from '../../../errors/field-errors.ts';
import { type ByUtr, pageRoute } from '../../../http/pages/layout.ts';
import type { Deps } from '../../../operations/deps.ts';
import { languageVersionScreens } from '../../../templates/languages/screens/versions.tsx';
import { Button, LinkButton } from '../../../ui/components/button.tsx';
import { type Problems, TextField } from '../../../ui/components/field.tsx';
import { Card } from '../../../ui/components/surface.tsx';
import { attempt } from '../../../ui/operations.ts';
import { languageOf, sendPage } from '../../../ui/page.tsx';
import { requireEditor, viewerOf } from '../../../ui/signed-in.ts';
import { field } from '../../../ui/submitted.ts';
import { useLanguage } from '../../../ui/words/index.ts';
import { createDraft } from '../../operations/drafts.ts';
import { attachmentsScreen } from '../attachments.tsx';
import { CAMPAIGN_LANGUAGES } from '../languages.tsx';
import { variantsScreen } from '../variants.tsx';
import { audienceStep } from './audience.tsx';
import { checkStep } from './check.tsx';
import { contentStep } from './content.tsx';
import { CAMPAIGN, designScreen, htmlScreen, templatesScreen } from './mail-content.tsx';
import { scheduleStep } from './schedule.tsx';
import { stepPath } from './step.tsx';

/** Registers the pages for composing, which only editors can open. */
export async function composeScreens(app: FastifyInstance, { clock, db, config }: Deps): Promise<void> {
  app.addHook('onRequest', async (request) => requireEditor(request));
  pageRoute<ByUtr>(app, '/campaigns/:utr/edit', (request, reply) =>
    reply.redirect(stepPath(request.params.utr, 'audience')),
  );
  await newCampaignScreen(app);
  audienceStep(app);
  contentStep(app);
  await templatesScreen(app, CAMPAIGN);
  await htmlScreen(app, CAMPAIGN);
  await designScreen(app, CAMPAIGN);
  await variantsScreen(app);
  languageVersionScreens(app, CAMPAIGN_LANGUAGES);
  await app.register(attachmentsScreen);
  await checkStep(app, CAMPAIGN, { db, config });
  await scheduleStep(app, { clock });
}

/** Registers the page that begins a campaign with its name. */
async function newCampaignScreen(app: FastifyInstance): Promise<void> {
  pageRoute(app, '/campaigns/new', (request, reply) => send(request, reply, <NewCampaign />));

  app.post('/campaigns/new', async (request, reply) => {
    const name = field(request, 'single_send_name');
    const created = await attempt(request, createDraft, { single_send_name: name });
    if (!('problems' in created)) return reply.redirect(stepPath(created.output.utr, 'audience'), 303);
    const { status, problems } = created;
    return send(request, reply.code(status), <NewCampaign name={name} problems={problems} />);
  });
}

function send(request: FastifyRequest, reply: FastifyReply, content: Parameters<typeof sendPage>[4]) {
  const viewer = viewerOf(request);
  const title = languageOf(request, viewer).say('compose.new');
  return sendPage(request, reply, viewer, { title, section: 'campaigns' }, content);
}

function NewCampaign({ name = '', problems }: { name?: string; problems?: Problems }) {
  const language = useLanguage();
  return (
    <Card>
      <p class="quiet-text">{language.say('compose.new.about')}</p>
      <form method="post" action="/campaigns/new" class="narrow">
        <TextField
          name="single_send_name"
          label={language.say('compose.name')}
          hint={language.say('compose.name.hint')}
          value={name}
          maxLength={MAX_LINE_CHARACTERS}
          autocomplete="off"
          required
          problems={problems}
        />
        <div class="buttons">
          <Button label={language.say('compose.create')} />
          <LinkButton look="quiet" href="/campaigns" label={language.say('confirm.cancel')} />
        </div>
      </form>
    </Card>
  );
}
