/** The page with the preview of a campaign's mail, and the small picture of the mail in the list of campaigns. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Failure } from '../../errors/failure.ts';
import { type ByUtr, pageRoute } from '../../http/pages/layout.ts';
import type { Clock } from '../../time/clock.ts';
import { Button, LinkButton } from '../../ui/components/button.tsx';
import { MailFrames, PlainText } from '../../ui/components/mail-frames.tsx';
import { Card, Empty, Notice } from '../../ui/components/surface.tsx';
import { orBusy, sendBusyFrame, sendKeptMailFrame } from '../../ui/mail-frame.ts';
import { ask } from '../../ui/operations.ts';
import { languageOf } from '../../ui/page.tsx';
import { viewerOf } from '../../ui/signed-in.ts';
import { withQuery } from '../../ui/with-query.ts';
import { useLanguage } from '../../ui/words/index.ts';
import { readDraft } from '../operations/drafts.ts';
import { readSummary } from '../operations/reports.ts';
import { type ShownMail, showSingleSendHtml, showSingleSendMail, sketchSingleSend } from '../operations/shown-mails.ts';
import { sendPart } from './campaign.tsx';
import { VariantField } from './variants.tsx';

interface Call extends ByUtr {
  /** The number of the previewed variant or version. */
  Querystring: { variant?: string };
}

/** The time after which a browser may try again. Most templates are compiled within this time. */
const RETRY_SECONDS = 2;

/** Registers the page of the preview, and the mail for its frames. */
export async function previewScreen(app: FastifyInstance, { clock }: { clock: Clock }): Promise<void> {
  pageRoute<Call>(app, '/campaigns/:utr/preview', async (request, reply) => {
    const { utr } = request.params;
    const { variant = '' } = request.query;
    const summary = await ask(request, readSummary, { utr });
    const mail = await readMail(request, mailQuery(utr, variant));
    const { variants, languages } = (await ask(request, readDraft, { utr })).draft;
    if (mail === null) reply.code(429).header('retry-after', RETRY_SECONDS);
    // Users with the read-only role cannot save the mail as a template.
    const templateName = viewerOf(request).role === 'viewer' ? null : summary.single_send_name;
    const content =
      mail === null ? <Busy utr={utr} /> : <Preview {...{ utr, mail, templateName, variant, variants, languages }} />;
    return sendPart(request, reply, { summary, now: clock.now(), current: 'preview' }, content);
  });

  pageRoute<Call>(app, '/campaigns/:utr/preview/mail', async (request, reply) => {
    const query = mailQuery(request.params.utr, request.query.variant);
    const html = await orBusy(ask(request, showSingleSendHtml, query));
    if (html !== null) return sendKeptMailFrame(reply, html, viewerOf(request).accountId);
    return sendBusyFrame(reply, languageOf(request, viewerOf(request)));
  });
}

const mailQuery = (utr: string, variant = '') => ({ utr, ...(variant && { variant }) });

/** The headers of a small picture. The picture loads nothing, and browsers keep it, because its URL changes with the mail. */
const SKETCH_HEADERS = {
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'cache-control': 'private, max-age=31536000, immutable',
};

/** Returns the URL of the small picture of a campaign's mail. The URL changes with each change of the campaign. */
export function sketchAddress({ utr, updated_at }: { utr: string; updated_at: string }): string {
  return withQuery(`/campaigns/${utr}/sketch.svg`, { of: Date.parse(updated_at) });
}

/** Registers the route of the small picture of a campaign's mail. */
export async function sketchOfMail(app: FastifyInstance): Promise<void> {
  pageRoute<Call>(app, '/campaigns/:utr/sketch.svg', async (request, reply) => {
    const svg = await ask(request, sketchSingleSend, { utr: request.params.utr });
    return reply.headers(SKETCH_HEADERS).type('image/svg+xml').send(svg);
  });
}

/** Reads the preview without its HTML. Returns null while too many templates of the account are being compiled. */
async function readMail(request: FastifyRequest, query: ReturnType<typeof mailQuery>): Promise<ShownMail | null> {
  try {
    return await ask(request, showSingleSendMail, { ...query, html: 0 });
  } catch (error) {
    if (error instanceof Failure && error.status === 429) return null;
    throw error;
  }
}

function Busy({ utr }: { utr: string }) {
  const language = useLanguage();
  return (
    <Empty
      pose="flies"
      title={language.say('preview.busy.title')}
      action={<LinkButton href={`/campaigns/${utr}/preview`} look="plain" label={language.say('preview.again')} />}
    >
      {language.say('preview.busy')}
    </Empty>
  );
}

interface PreviewProps {
  utr: string;
  mail: ShownMail;
  /** The proposed name of a template with the content of the mail; null if the user may not save templates. */
  templateName: string | null;
  /** The number of the previewed variant or version. */
  variant: string;
  /** The number of variants or versions, the mail itself included. */
  variants: number;
  /** The languages of the versions; empty if the mail has variants. */
  languages: readonly string[];
}

function Preview({
  utr,
  mail: { subject, problem, ...mail },
  templateName,
  variant,
  variants,
  languages,
}: PreviewProps) {
  const language = useLanguage();
  if (problem !== null)
    return <Notice tone="warn">{language.say('preview.problem', { problem: language.fullSentence(problem) })}</Notice>;
  return (
    <>
      <p class="quiet-text">
        {language.say('preview.about')} {language.say('mail.note')}
      </p>
      {variants > 1 && (
        <form method="get" action={`/campaigns/${utr}/preview`} class="search">
          <VariantField name="variant" variants={variants} languages={languages} value={variant} />
          <Button look="plain" label={language.say('compose.check.see')} />
        </form>
      )}
      <p>
        <span class="quiet-text">{language.say('compose.subject')}</span> <bdi>{subject}</bdi>
      </p>
      <MailFrames source={withQuery(`/campaigns/${utr}/preview/mail`, { variant })} />
      {templateName !== null && (
        <div class="buttons">
          <LinkButton
            look="plain"
            href={withQuery('/templates/new', { mail: utr, name: templateName })}
            label={language.say('templates.keep')}
          />
        </div>
      )}
      <Card title={language.say('mail.plainText')}>
        <PlainText {...mail} />
      </Card>
    </>
  );
}
