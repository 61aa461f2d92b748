/** The links of a campaign by their clicks: as a table that leads to who clicked, and beside each link in the mail. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Card, Empty } from '../../dashboard/components/surface.tsx';
import { Table } from '../../dashboard/components/table.tsx';
import { orBusy, sendBusyFrame, sendMailFrame } from '../../dashboard/mail-frame.ts';
import { ask } from '../../dashboard/operations.ts';
import { languageOf } from '../../dashboard/page.tsx';
import { viewerOf } from '../../dashboard/signed-in.ts';
import { useLanguage } from '../../dashboard/words/index.ts';
import type { MarkedLink } from '../../delivery/shown/click-map.ts';
import { namesOfLinks } from '../../delivery/shown/show.ts';
import { READ } from '../../http/pages/layout.ts';
import type { Clock } from '../../time/clock.ts';
import { type Report, readReport, readSummary } from '../operations/reports.ts';
import { showSingleSendHtml } from '../operations/shown-mails.ts';
import { sendPart } from './head.tsx';

/** Links that are listed; a mail can have thousands. */
const MAX_ROWS = 500;

interface Link {
  number: number;
  url: string;
  /** What the mail shows for it. */
  text: string;
  people: number;
  machines: number;
}

/** Registers the table of the links and the mail for the frame below it. */
export async function linksScreen(app: FastifyInstance, { clock }: { clock: Clock }): Promise<void> {
  app.route<{ Params: { utr: string } }>({
    method: READ,
    url: '/mailings/:utr/links',
    handler: async (request, reply) => {
      const { utr } = request.params;
      const summary = await ask(request, readSummary, { utr });
      const { report, html } = await readClicks(request, utr);
      const names = await namesOfLinks(viewerOf(request).accountId, html ?? '');
      const content = <Links utr={utr} report={report} links={linksOf(report, names)} hasMail={html !== ''} />;
      return sendPart(request, reply, { summary, now: clock.now(), current: 'links' }, content);
    },
  });

  app.route<{ Params: { utr: string } }>({
    method: READ,
    url: '/mailings/:utr/links/mail',
    handler: async (request, reply) => {
      const language = languageOf(request, viewerOf(request));
      const { report, html } = await readClicks(request, request.params.utr);
      if (html === null) return sendBusyFrame(reply, language);
      const badges = linksOf(report, []).map(
        ({ number, people }) => [number, { text: language.number(people), isQuiet: people === 0 }] as const,
      );
      return sendMailFrame(reply, html, viewerOf(request).accountId, { badges: new Map(badges) });
    },
  });
}

async function readClicks(request: FastifyRequest, utr: string): Promise<{ report: Report; html: string | null }> {
  const [{ report }, html] = await Promise.all([
    ask(request, readReport, { utr }),
    orBusy(ask(request, showSingleSendHtml, { utr })),
  ]);
  return { report, html };
}

/** The links by clicks of people, the most first. */
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
  /** False where the mail cannot be shown. */
  hasMail: boolean;
}

function Links({ utr, report, links, hasMail }: LinksProps) {
  const language = useLanguage();
  if (links.length === 0) {
    return (
      <Empty icon="mail" title={language.say('links.none.title')}>
        {language.say(report.tracking === 0 ? 'mailings.untracked' : 'links.none.text')}
      </Empty>
    );
  }
  const all = links.reduce((sum, { people }) => sum + people, 0);
  return (
    <>
      <p class="quiet-text">{language.say('links.about')}</p>
      <Table
        caption={language.say('mailings.part.links')}
        rows={links.slice(0, MAX_ROWS)}
        keyOf={({ number }) => number}
        columns={[
          {
            heading: language.say('links.link'),
            cell: ({ number, url, text }) => (
              <span class="named">
                <a href={`/mailings/${utr}/recipients?link=${number}`}>
                  <bdi>{text || url}</bdi>
                </a>
                {text && <bdi class="small quiet-text">{url}</bdi>}
              </span>
            ),
          },
          { heading: language.say('links.people'), isNumber: true, cell: ({ people }) => language.number(people) },
          {
            heading: language.say('links.share'),
            isNumber: true,
            cell: ({ people }) => language.share(people, all),
          },
          {
            heading: language.say('links.machines'),
            isNumber: true,
            cell: ({ machines }) => language.number(machines),
          },
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
        <iframe sandbox="" src={`/mailings/${utr}/links/mail`} title={title} />
      </div>
    </Card>
  );
}
