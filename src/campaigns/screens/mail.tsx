/** The mail of a campaign: its preview for a recipient, and the clicks on its links. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { linkTexts } from '../../delivery/compiling/show.ts';
import type { MarkedLink } from '../../delivery/shown/mail-frame.ts';
import { Failure } from '../../errors/failure.ts';
import { pageRoute } from '../../http/pages/layout.ts';
import type { Clock } from '../../time/clock.ts';
import { Button, LinkButton } from '../../ui/components/button.tsx';
import { MailFrames, PlainText } from '../../ui/components/mail-frames.tsx';
import { Card, Empty, Notice } from '../../ui/components/surface.tsx';
import { numberColumn, Table } from '../../ui/components/table.tsx';
import { orBusy, sendBusyFrame, sendKeptMailFrame, sendMailFrame } from '../../ui/mail-frame.ts';
import { ask } from '../../ui/operations.ts';
import { languageOf } from '../../ui/page.tsx';
import { viewerOf } from '../../ui/signed-in.ts';
import { withQuery } from '../../ui/with-query.ts';
import { useLanguage } from '../../ui/words/index.ts';
import { readDraft } from '../operations/drafts.ts';
import { type Report, readReport, readSummary } from '../operations/reports.ts';
import { type ShownMail, showSingleSendHtml, showSingleSendMail, sketchSingleSend } from '../operations/shown-mails.ts';
import { sendPart } from './campaign.tsx';
import { VariantField } from './variants.tsx';

interface Call {
  Params: { utr: string };
  /** The number of a variant of its A/B test. */
  Querystring: { variant?: string };
}

const TOO_MANY_REQUESTS = 429;
/** When to try again; most templates are compiled within this time. */
const RETRY_SECONDS = 2;

/** Registers the preview and the mail for its frames. */
export async function previewScreen(app: FastifyInstance, { clock }: { clock: Clock }): Promise<void> {
  pageRoute<Call>(app, '/campaigns/:utr/preview', async (request, reply) => {
    const { utr } = request.params;
    const { variant = '' } = request.query;
    const summary = await ask(request, readSummary, { utr });
    const mail = await readMail(request, mailQuery(utr, variant));
    const { variants, languages } = (await ask(request, readDraft, { utr })).draft;
    if (mail === null) reply.code(TOO_MANY_REQUESTS).header('retry-after', RETRY_SECONDS);
    // Users with the role viewer cannot save it as a template.
    const keep = viewerOf(request).role === 'viewer' ? null : summary.single_send_name;
    const content =
      mail === null ? <Busy utr={utr} /> : <Preview {...{ utr, mail, keep, variant, variants, languages }} />;
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

/** The headers of a small picture, which loads nothing and whose address changes with the mail. */
const SKETCH_HEADERS = {
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'cache-control': 'private, max-age=31536000, immutable',
};

/** Returns the address of the small picture of a campaign's mail, which is another one after each change. */
export function sketchAddress({ utr, updated_at }: { utr: string; updated_at: string }): string {
  return withQuery(`/campaigns/${utr}/sketch.svg`, { of: Date.parse(updated_at) });
}

/** Registers the small picture of a mail. */
export async function sketchOfMail(app: FastifyInstance): Promise<void> {
  pageRoute<Call>(app, '/campaigns/:utr/sketch.svg', async (request, reply) => {
    const svg = await ask(request, sketchSingleSend, { utr: request.params.utr });
    return reply.headers(SKETCH_HEADERS).type('image/svg+xml').send(svg);
  });
}

/** Reads the preview without its HTML; null while too many templates of the account are being compiled. */
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
  /** The proposed name of a template made from the mail; null if none can be made. */
  keep: string | null;
  /** The number of the previewed variant. */
  variant: string;
  /** The number of variants. */
  variants: number;
  /** The languages of its versions. */
  languages: readonly string[];
}

function Preview({ utr, mail: { subject, problem, ...mail }, keep, variant, variants, languages }: PreviewProps) {
  const language = useLanguage();
  if (problem !== null)
    return <Notice tone="warn">{language.say('preview.problem', { problem: language.sentence(problem) })}</Notice>;
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
      {keep !== null && (
        <div class="buttons">
          <LinkButton
            look="plain"
            href={withQuery('/templates/new', { mail: utr, name: keep })}
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

/** The maximum number of listed links, because a mail can have thousands. */
const MAX_ROWS = 500;

interface Link {
  number: number;
  url: string;
  /** The text of the link in the mail. */
  text: string;
  people: number;
  machines: number;
}

/** Registers the table of the links and the mail for the frame below it. */
export async function linksScreen(app: FastifyInstance, { clock }: { clock: Clock }): Promise<void> {
  pageRoute<{ Params: { utr: string } }>(app, '/campaigns/:utr/links', async (request, reply) => {
    const { utr } = request.params;
    const summary = await ask(request, readSummary, { utr });
    const { report, html } = await readClicks(request, utr);
    const names = await linkTexts(viewerOf(request).accountId, html ?? '');
    const content = <Links utr={utr} report={report} links={linksOf(report, names)} hasMail={html !== ''} />;
    return sendPart(request, reply, { summary, now: clock.now(), current: 'links' }, content);
  });

  pageRoute<{ Params: { utr: string } }>(app, '/campaigns/:utr/links/mail', async (request, reply) => {
    const language = languageOf(request, viewerOf(request));
    const { report, html } = await readClicks(request, request.params.utr);
    if (html === null) return sendBusyFrame(reply, language);
    const links = linksOf(report, []);
    const all = links.reduce((sum, { people }) => sum + people, 0);
    const badges = links.map(({ number, people }) => {
      const text = people === 0 ? language.number(0) : `${language.number(people)} · ${language.share(people, all)}`;
      return [number, { text, isQuiet: people === 0 }] as const;
    });
    return sendMailFrame(reply, html, viewerOf(request).accountId, { badges: new Map(badges) });
  });
}

async function readClicks(request: FastifyRequest, utr: string): Promise<{ report: Report; html: string | null }> {
  const [{ report }, html] = await Promise.all([
    ask(request, readReport, { utr }),
    orBusy(ask(request, showSingleSendHtml, { utr })),
  ]);
  return { report, html };
}

/** Returns the links by clicks of people, most clicks first. */
function linksOf(report: Report, names: readonly MarkedLink[]): Link[] {
  const texts = new Map(names.map(({ number, text }) => [number, text]));
  return report.links
    .map(({ number, url, clicks, machine_clicks: machines }) => ({
      number,
      url,
      text: texts.get(number) ?? '',
      people: clicks - machines,
      machines,
    }))
    .sort((one, other) => other.people - one.people || one.number - other.number);
}

interface LinksProps {
  utr: string;
  report: Report;
  links: readonly Link[];
  /** False if there is no preview. */
  hasMail: boolean;
}

function Links({ utr, report, links, hasMail }: LinksProps) {
  const language = useLanguage();
  if (links.length === 0) {
    return (
      <Empty
        pose="flies"
        title={language.say('links.none.title')}
        action={<LinkButton look="plain" href={`/campaigns/${utr}`} label={language.say('campaigns.part.overview')} />}
      >
        {language.say(report.tracking === 0 ? 'campaigns.untracked' : 'links.none.text')}
      </Empty>
    );
  }
  const all = links.reduce((sum, { people }) => sum + people, 0);
  return (
    <>
      <p class="quiet-text">{language.say('links.about')}</p>
      <Table
        caption={language.say('campaigns.part.links')}
        rows={links.slice(0, MAX_ROWS)}
        keyOf={({ number }) => number}
        columns={[
          {
            heading: language.say('links.link'),
            cell: ({ number, url, text }) => (
              <span class="named">
                <a href={`/campaigns/${utr}/recipients?link=${number}`}>
                  <bdi>{text || url}</bdi>
                </a>
                {text && <bdi class="small quiet-text">{url}</bdi>}
              </span>
            ),
          },
          numberColumn(language, 'links.people', 'people'),
          {
            heading: language.say('links.share'),
            isNumber: true,
            cell: ({ people }) => language.share(people, all),
          },
          numberColumn(language, 'links.machines', 'machines'),
        ]}
      />
      {links.length > MAX_ROWS && (
        <p class="small quiet-text">
          {language.fill('links.cut', { count: MAX_ROWS, all: language.number(links.length) })}
        </p>
      )}
      {hasMail && <ClickMap utr={utr} />}
    </>
  );
}

function ClickMap({ utr }: { utr: string }) {
  const language = useLanguage();
  const title = language.say('links.map');
  return (
    <Card title={title}>
      <p class="small quiet-text">{language.say('links.map.text')}</p>
      <div class="mail-sheet click-map">
        <iframe sandbox="" src={`/campaigns/${utr}/links/mail`} title={title} />
      </div>
    </Card>
  );
}
