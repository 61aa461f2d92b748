/** The page with the clicks on the links of a campaign's mail: a table, and the mail with the number of clicks on each link. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { readLinkTexts } from '../../delivery/compiling/show.ts';
import type { MarkedLink } from '../../delivery/shown/link-badges.ts';
import { type ByUtr, pageRoute } from '../../http/pages/layout.ts';
import type { Clock } from '../../time/clock.ts';
import { LinkButton } from '../../ui/components/button.tsx';
import { Card, Empty } from '../../ui/components/surface.tsx';
import { numberColumn, Table } from '../../ui/components/table.tsx';
import { orBusy, sendBusyFrame, sendMailFrame } from '../../ui/mail-frame.ts';
import { ask } from '../../ui/operations.ts';
import { languageOf } from '../../ui/page.tsx';
import { viewerOf } from '../../ui/signed-in.ts';
import { useLanguage } from '../../ui/words/index.ts';
import { type Report, readReport, readSummary } from '../operations/reports.ts';
import { showSingleSendHtml } from '../operations/shown-mails.ts';
import { sendPart } from './campaign.tsx';

/** The maximum number of listed links, because a mail can have thousands. */
const MAX_ROWS = 500;

interface Link {
  /** The number of the link in the mail. */
  number: number;
  url: string;
  /** The text of the link in the mail. */
  text: string;
  /** The number of clicks by people. */
  people: number;
  /** The number of clicks by bots. */
  machines: number;
}

/** Registers the page with the table of the links, and the mail with the clicks for the frame below the table. */
export async function linksScreen(app: FastifyInstance, { clock }: { clock: Clock }): Promise<void> {
  pageRoute<ByUtr>(app, '/campaigns/:utr/links', async (request, reply) => {
    const { utr } = request.params;
    const summary = await ask(request, readSummary, { utr });
    const { report, html } = await readClicks(request, utr);
    const names = await readLinkTexts(viewerOf(request).accountId, html ?? '');
    const content = <Links utr={utr} report={report} links={linksOf(report, names)} hasMail={html !== ''} />;
    return sendPart(request, reply, { summary, now: clock.now(), current: 'links' }, content);
  });

  pageRoute<ByUtr>(app, '/campaigns/:utr/links/mail', async (request, reply) => {
    const language = languageOf(request, viewerOf(request));
    const { report, html } = await readClicks(request, request.params.utr);
    if (html === null) return sendBusyFrame(reply, language);
    const links = linksOf(report, []);
    const allClicks = links.reduce((sum, { people }) => sum + people, 0);
    const badges = links.map(({ number, people }) => {
      const text =
        people === 0 ? language.number(0) : `${language.number(people)} · ${language.share(people, allClicks)}`;
      return [number, { text, isQuiet: people === 0 }] as const;
    });
    return sendMailFrame(reply, html, viewerOf(request).accountId, { badges: new Map(badges) });
  });
}

/**
 * Reads the report of a campaign and the HTML of its mail; `html` is null while too many templates are being compiled, and empty without a
 * preview.
 */
async function readClicks(request: FastifyRequest, utr: string): Promise<{ report: Report; html: string | null }> {
  const [{ report }, html] = await Promise.all([
    ask(request, readReport, { utr }),
    orBusy(ask(request, showSingleSendHtml, { utr })),
  ]);
  return { report, html };
}

/** Returns the links of a report with their texts, the links with the most clicks by people first. */
function linksOf(report: Report, linkTexts: readonly MarkedLink[]): Link[] {
  const texts = new Map(linkTexts.map(({ number, text }) => [number, text]));
  return report.links
    .map(({ number, url, clicks, machine_clicks: machines }) => ({
      number,
      url,
      text: texts.get(number) ?? '',
      people: clicks - machines,
      machines,
    }))
    .sort((a, b) => b.people - a.people || a.number - b.number);
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
  const allClicks = links.reduce((sum, { people }) => sum + people, 0);
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
            cell: ({ people }) => language.share(people, allClicks),
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

/** The mail with the number of clicks on each link. */
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
