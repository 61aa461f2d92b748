/** The pages that show a mail as it was sent to one contact. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { TObject } from 'typebox';
import type { MailParts } from '../../../delivery/checks/mail-checks.ts';
import { takeApart } from '../../../delivery/compiling/show.ts';
import { sendMailFile } from '../../../http/mail-file.ts';
import { pageRoute } from '../../../http/pages/layout.ts';
import type { Operation } from '../../../operations/operation.ts';
import type { UncheckedInput } from '../../../operations/perform.ts';
import { readSentTransactionalMail } from '../../../transactional/operations.ts';
import { LinkButton } from '../../../ui/components/button.tsx';
import { Time } from '../../../ui/components/figures.tsx';
import { MailFrames } from '../../../ui/components/mail-frames.tsx';
import { Notice, Tabs } from '../../../ui/components/surface.tsx';
import { sendMailFrame } from '../../../ui/mail-frame.ts';
import { ask, attempt } from '../../../ui/operations.ts';
import { languageOf, sendPage } from '../../../ui/page.tsx';
import { requireEditor, viewerOf } from '../../../ui/signed-in.ts';
import { useLanguage } from '../../../ui/words/index.ts';
import { readSentMail } from '../operations.ts';

/** The tabs of the page: the rendered HTML, the text part, and the source of the message. */
const VIEWS = ['look', 'text', 'source'] as const;
type View = (typeof VIEWS)[number];

interface Call {
  Params: { id: string; utr: string };
  Querystring: { view?: string };
}

/** Registers the pages of the sent mail of a delivery and of the sent transactional mail, with the HTML for their frames and the file. */
export async function sentMailScreens(app: FastifyInstance): Promise<void> {
  await sentMailScreen(app, '/deliveries/:id', readSentMail, ({ params: { id } }) => ({
    here: `/deliveries/${encodeURIComponent(id)}`,
    values: { id },
  }));
  await sentMailScreen(app, '/transactional/:utr/sent', readSentTransactionalMail, ({ params: { utr } }) => ({
    here: `/transactional/${encodeURIComponent(utr)}/sent`,
    back: `/transactional/${encodeURIComponent(utr)}`,
    values: { utr },
  }));
}

/**
 * Registers the page of a sent mail that an operation reads. `find` returns for a request the path of the page, the path of the page to which
 * it links back, and the input of the operation.
 */
async function sentMailScreen<Input extends TObject>(
  app: FastifyInstance,
  route: string,
  readMail: Operation<Input, string>,
  find: (request: FastifyRequest<Call>) => { here: string; back?: string; values: UncheckedInput<Input> },
): Promise<void> {
  pageRoute<Call>(app, route, async (request, reply) => {
    requireEditor(request);
    const viewer = viewerOf(request);
    const { here, back, values } = find(request);
    const language = languageOf(request, viewer);
    const outcome = await attempt(request, readMail, values);
    const frame = {
      title: language.say('sentMails.title'),
      section: 'campaigns',
      ...(back !== undefined && { action: <LinkButton href={back} label={language.say('sentMails.back')} /> }),
    } as const;
    if (!('output' in outcome)) {
      const problem = <Notice tone="warn">{outcome.text}</Notice>;
      // If the mail is no longer kept, the page says so with status 200, because this is no error.
      return sendPage(request, outcome.status === 409 ? reply : reply.code(outcome.status), viewer, frame, problem);
    }
    const raw = outcome.output;
    const view = VIEWS.find((name) => name === request.query.view) ?? 'look';
    const parts = await takeApart(viewer.accountId, raw);
    return sendPage(request, reply, viewer, frame, <Mail {...{ here, raw, parts, view }} />);
  });

  pageRoute<Call>(app, `${route}/html`, async (request, reply) => {
    requireEditor(request);
    const { accountId } = viewerOf(request);
    const { html } = await takeApart(accountId, await ask(request, readMail, find(request).values));
    return sendMailFrame(reply, html ?? '', accountId);
  });

  app.get<Call>(`${route}/mail.eml`, async (request, reply) => {
    requireEditor(request);
    return sendMailFile(reply, await ask(request, readMail, find(request).values));
  });
}

interface MailProps {
  /** The path of the page. */
  here: string;
  raw: string;
  parts: MailParts;
  view: View;
}

function Mail({ here, raw, parts, view }: MailProps) {
  const language = useLanguage();
  const header = (wanted: string) => parts.headers.find(({ name }) => name.toLowerCase() === wanted)?.value ?? '';
  return (
    <>
      <p class="quiet-text">{language.say('sentMails.about')}</p>
      <dl class="mail-facts">
        <dt>{language.say('outbox.from')}</dt>
        <dd>
          <bdi>{header('from')}</bdi>
        </dd>
        <dt>{language.say('outbox.to')}</dt>
        <dd>
          <bdi>{header('to')}</bdi>
        </dd>
        <dt>{language.say('outbox.time')}</dt>
        <dd>
          <Time at={new Date(header('date'))} />
        </dd>
      </dl>
      <div class="buttons">
        <LinkButton look="plain" href={`${here}/mail.eml`} label={language.say('sentMails.download')} />
      </div>
      <Tabs
        label={language.say('sentMails.views')}
        tabs={VIEWS.map((name) => ({
          href: name === 'look' ? here : `${here}?view=${name}`,
          label: language.say(`outbox.view.${name}`),
          isCurrent: name === view,
        }))}
      />
      {view === 'look' && <MailFrames source={`${here}/html`} />}
      {view === 'text' && <pre class="source">{parts.text ?? language.say('mail.noText')}</pre>}
      {view === 'source' && <pre class="source">{raw}</pre>}
    </>
  );
}
