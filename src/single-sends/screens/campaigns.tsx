/** Campaigns: the single sends, newest first, found by their state, name or subject. */
import type { FastifyInstance } from 'fastify';
import { readArchivedMail } from '../../archive/operations.ts';
import { LinkButton } from '../../dashboard/components/button.tsx';
import {
  CampaignList,
  type ListQuery,
  readListQuery,
  resultColumns,
} from '../../dashboard/components/campaign-list.tsx';
import { StateBadge } from '../../dashboard/components/campaign-state.tsx';
import { Meter, Time } from '../../dashboard/components/figures.tsx';
import { Empty } from '../../dashboard/components/surface.tsx';
import { Table } from '../../dashboard/components/table.tsx';
import { ask } from '../../dashboard/operations.ts';
import { languageOf, sendPage } from '../../dashboard/page.tsx';
import { recordTime } from '../../dashboard/record-time.ts';
import { viewerOf } from '../../dashboard/signed-in.ts';
import { useLanguage } from '../../dashboard/words/index.ts';
import { pageRoute } from '../../http/pages/layout.ts';
import type { Deps } from '../../operations/deps.ts';
import { listSummaries, readReport, readSummary, type Summary } from '../operations/reports.ts';
import { SHOWN_STATES } from '../status.ts';
import { Actions, ArchiveCard, archiveActions, campaignActions, resendScreen, sendPart } from './campaign.tsx';
import { linksScreen, previewScreen } from './mail.tsx';
import { Overview } from './overview.tsx';
import { recipientsScreen } from './recipients.tsx';
import { Variants, variantChoice } from './variants.tsx';

/** Registers the list and the pages of one campaign. */
export async function campaignScreens(app: FastifyInstance, { clock }: Deps): Promise<void> {
  pageRoute<{ Querystring: ListQuery }>(app, '/campaigns', async (request, reply) => {
    const viewer = viewerOf(request);
    const { looked, given, isAll } = readListQuery(request.query, SHOWN_STATES);
    const { summaries, next_before_id: next } = await ask(request, listSummaries, given);
    const action = viewer.role !== 'viewer' && <NewCampaign />;
    const frame = { title: languageOf(request, viewer).say('nav.campaigns'), section: 'campaigns', action } as const;
    const table = summaries.length === 0 ? null : <CampaignTable summaries={summaries} now={clock.now()} />;
    const content = (
      <>
        {isAll && table === null ? (
          <NoCampaign />
        ) : (
          <CampaignList kind="campaigns" states={SHOWN_STATES} {...{ looked, next, table }} />
        )}
        <TransactionalLink />
      </>
    );
    return sendPage(request, reply, viewer, frame, content);
  });
  await campaignScreen(app, { clock });
}

/** Registers the page of a campaign, its subpages and its actions. */
async function campaignScreen(app: FastifyInstance, { clock }: Pick<Deps, 'clock'>): Promise<void> {
  pageRoute<{ Params: { utr: string } }>(app, '/campaigns/:utr', async (request, reply) => {
    const { utr } = request.params;
    const summary = await ask(request, readSummary, { utr });
    const { report } = await ask(request, readReport, { utr });
    const { archived } = await ask(request, readArchivedMail, { utr });
    const mayChange = viewerOf(request).role !== 'viewer';
    const action = mayChange && <Actions summary={summary} report={report} />;
    const content = (
      <>
        {report.ab_test !== null && <Variants utr={utr} test={report.ab_test} mayChoose={mayChange} />}
        <Overview summary={summary} report={report} />
        <ArchiveCard {...{ utr, archived, mayChange }} />
      </>
    );
    return sendPart(request, reply, { summary, now: clock.now(), current: 'overview' }, content, action);
  });
  await variantChoice(app);
  await campaignActions(app);
  await archiveActions(app);
  await app.register(resendScreen);
  await linksScreen(app, { clock });
  await previewScreen(app, { clock });
  await recipientsScreen(app, { clock });
}

function NewCampaign() {
  return (
    <LinkButton icon="plus" href="/campaigns/new">
      {useLanguage().say('compose.new')}
    </LinkButton>
  );
}

function NoCampaign() {
  const language = useLanguage();
  return (
    <Empty icon="mail" title={language.say('campaigns.empty.title')}>
      {language.say('campaigns.empty.text')}
    </Empty>
  );
}

/** To the mails that are of no campaign. */
function TransactionalLink() {
  return (
    <p>
      <a href="/transactional">{useLanguage().say('transactional.all')}</a>
    </p>
  );
}

function CampaignTable({ summaries, now }: { summaries: readonly Summary[]; now: Date }) {
  const language = useLanguage();
  return (
    <Table
      caption={language.say('nav.campaigns')}
      rows={summaries}
      keyOf={({ id }) => id}
      columns={[
        {
          heading: language.say('campaigns.name'),
          cell: ({ utr, single_send_name: name, subject }) => (
            <span class="named">
              <a href={`/campaigns/${utr}`}>
                <bdi>{name}</bdi>
              </a>
              {subject !== name && <bdi class="small quiet-text">{subject}</bdi>}
            </span>
          ),
        },
        { heading: language.say('campaigns.state'), cell: (summary) => <State summary={summary} /> },
        {
          heading: language.say('campaigns.start'),
          cell: ({ state, starts_at: at }) => (state === 'draft' ? '–' : <Time at={recordTime(at)} now={now} />),
        },
        ...resultColumns<Summary>(language, ['delivered', 'opened', 'clicked', 'left']),
      ]}
    />
  );
}

/** The state, and how far it is while that is still open. */
function State({ summary: { state, recipients, finished } }: { summary: Summary }) {
  const language = useLanguage();
  const isOpen = finished < recipients;
  return (
    <span class="progress-cell">
      <StateBadge state={state} />
      {isOpen && (
        <Meter
          label={language.say('campaigns.progress', { finished, count: recipients })}
          value={finished}
          max={recipients}
        />
      )}
    </span>
  );
}
