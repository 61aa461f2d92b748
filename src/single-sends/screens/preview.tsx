/** The mail of a campaign as somebody of its audience sees it: on a desk, on a phone, and as plain text. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Button, LinkButton } from '../../dashboard/components/button.tsx';
import { MailFrames, PlainText } from '../../dashboard/components/mail-frames.tsx';
import { Card, Empty, Notice } from '../../dashboard/components/surface.tsx';
import { orBusy, sendBusyFrame, sendKeptMailFrame } from '../../dashboard/mail-frame.ts';
import { ask } from '../../dashboard/operations.ts';
import { languageOf } from '../../dashboard/page.tsx';
import { viewerOf } from '../../dashboard/signed-in.ts';
import { withQuery } from '../../dashboard/with-query.ts';
import { useLanguage } from '../../dashboard/words/index.ts';
import { Failure } from '../../errors/failure.ts';
import { READ } from '../../http/pages/layout.ts';
import type { Clock } from '../../time/clock.ts';
import { readDraft } from '../operations/drafts.ts';
import { readSummary } from '../operations/reports.ts';
import { type ShownMail, showSingleSendHtml, showSingleSendMail } from '../operations/shown-mails.ts';
import { VariantField } from './compose/test-parts.tsx';
import { sendPart } from './head.tsx';

interface Call {
  Params: { utr: string };
  /** The number of a variant of its A/B test. */
  Querystring: { variant?: string };
}

const TOO_MANY_REQUESTS = 429;
/** When to try again; most templates are compiled within this time. */
const RETRY_SECONDS = 2;

/** Registers the preview and the mail for the frames in it. */
export async function previewScreen(app: FastifyInstance, { clock }: { clock: Clock }): Promise<void> {
  app.route<Call>({
    method: READ,
    url: '/mailings/:utr/preview',
    handler: async (request, reply) => {
      const { utr } = request.params;
      const { variant = '' } = request.query;
      const summary = await ask(request, readSummary, { utr });
      const mail = await readMail(request, mailQuery(utr, variant));
      const { variants } = (await ask(request, readDraft, { utr })).draft;
      if (mail === null) reply.code(TOO_MANY_REQUESTS).header('retry-after', RETRY_SECONDS);
      // Viewers add no templates.
      const keep = viewerOf(request).role === 'viewer' ? null : summary.single_send_name;
      const content = mail === null ? <Busy utr={utr} /> : <Preview {...{ utr, mail, keep, variant, variants }} />;
      return sendPart(request, reply, { summary, now: clock.now(), current: 'preview' }, content);
    },
  });

  app.route<Call>({
    method: READ,
    url: '/mailings/:utr/preview/mail',
    handler: async (request, reply) => {
      const query = mailQuery(request.params.utr, request.query.variant);
      const html = await orBusy(ask(request, showSingleSendHtml, query));
      if (html !== null) return sendKeptMailFrame(reply, html, viewerOf(request).accountId);
      return sendBusyFrame(reply, languageOf(request, viewerOf(request)));
    },
  });
}

const mailQuery = (utr: string, variant = '') => ({ utr, ...(variant && { variant }) });

/** The mail as somebody sees it, without its HTML; null while too many templates of the account are being compiled. */
async function readMail(request: FastifyRequest, query: ReturnType<typeof mailQuery>): Promise<ShownMail | null> {
  try {
    return await ask(request, showSingleSendMail, { ...query, html: 0 });
  } catch (error) {
    if (error instanceof Failure && error.status === TOO_MANY_REQUESTS) return null;
    throw error;
  }
}

function Busy({ utr }: { utr: string }) {
  const language = useLanguage();
  return (
    <Empty
      icon="mail"
      title={language.say('preview.busy.title')}
      action={
        <LinkButton href={`/mailings/${utr}/preview`} look="plain">
          {language.say('preview.again')}
        </LinkButton>
      }
    >
      {language.say('preview.busy')}
    </Empty>
  );
}

interface PreviewProps {
  utr: string;
  mail: ShownMail;
  /** What a template made of it is called first; null where none can be made. */
  keep: string | null;
  /** The number of the variant that is shown, and how many there are. */
  variant: string;
  variants: number;
}

function Preview({ utr, mail: { subject, problem, ...mail }, keep, variant, variants }: PreviewProps) {
  const language = useLanguage();
  if (problem !== null)
    return <Notice tone="warn">{language.say('preview.problem', { problem: language.sentence(problem) })}</Notice>;
  return (
    <>
      <p class="quiet-text">
        {language.say('preview.about')} {language.say('mail.note')}
      </p>
      {variants > 1 && (
        <form method="get" action={`/mailings/${utr}/preview`} class="search">
          <VariantField name="variant" variants={variants} value={variant} />
          <Button look="plain">{language.say('compose.check.see')}</Button>
        </form>
      )}
      <p>
        <span class="quiet-text">{language.say('preview.subject')}</span> <bdi>{subject}</bdi>
      </p>
      <MailFrames source={withQuery(`/mailings/${utr}/preview/mail`, { variant })} />
      {keep !== null && (
        <div class="buttons">
          <LinkButton look="plain" href={withQuery('/templates/new', { mail: utr, name: keep })}>
            {language.say('templates.keep')}
          </LinkButton>
        </div>
      )}
      <Card title={language.say('mail.plainText')}>
        <PlainText {...mail} />
      </Card>
    </>
  );
}
