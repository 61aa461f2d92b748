/** Home: what to do next, what is under way, how it went, and whether all is well. */
import type { FastifyInstance } from 'fastify';
import { LinkButton } from '../../dashboard/components/button.tsx';
import { resultColumns } from '../../dashboard/components/campaign-list.tsx';
import { StateBadge } from '../../dashboard/components/campaign-state.tsx';
import { Chart } from '../../dashboard/components/chart.tsx';
import { Meter, Stats, Time } from '../../dashboard/components/figures.tsx';
import { Island } from '../../dashboard/components/island.tsx';
import { Card, Empty } from '../../dashboard/components/surface.tsx';
import { Table } from '../../dashboard/components/table.tsx';
import { ask } from '../../dashboard/operations.ts';
import { languageOf, sendPage } from '../../dashboard/page.tsx';
import { recordTime } from '../../dashboard/record-time.ts';
import { viewerOf } from '../../dashboard/signed-in.ts';
import type { Viewer } from '../../dashboard/viewer.ts';
import { useLanguage } from '../../dashboard/words/index.ts';
import { READ } from '../../http/pages/layout.ts';
import type { Deps } from '../../operations/deps.ts';
import { type Campaign, type Mailing, type Overview, readOverview } from '../operations.ts';
import { Checklist, needsChecklist } from './checklist.tsx';
import { Alerts, Health } from './health.tsx';

export async function homeScreen(app: FastifyInstance, { clock }: Deps): Promise<void> {
  app.route({
    method: READ,
    url: '/',
    handler: async (request, reply) => {
      const viewer = viewerOf(request);
      const { overview } = await ask(request, readOverview, {});
      const language = languageOf(request, viewer);
      const frame = {
        title: language.say('nav.home'),
        section: 'home',
        ...(viewer.role !== 'viewer' && {
          action: (
            <div class="buttons">
              <LinkButton href="/people/import" look="plain" icon="plus">
                {language.say('home.import')}
              </LinkButton>
              <LinkButton href="/mailings/new" icon="plus">
                {language.say('compose.new')}
              </LinkButton>
            </div>
          ),
        }),
      } as const;
      return sendPage(request, reply, viewer, frame, <Home overview={overview} now={clock.now()} viewer={viewer} />);
    },
  });
}

function Home({ overview, now, viewer }: { overview: Overview; now: Date; viewer: Viewer }) {
  const { campaigns, last_mailings: mailings, audience, health, setup } = overview;
  return (
    <>
      <Alerts health={health} />
      {needsChecklist(overview) && <Checklist overview={overview} now={now} viewer={viewer} />}
      {(campaigns.length > 0 || mailings.length > 0) && <UnderWay campaigns={campaigns} now={now} />}
      {(campaigns.length > 0 || mailings.length > 0) && <LastMailings mailings={mailings} now={now} />}
      <div class="two-thirds">
        <Audience audience={audience} />
        <Health health={health} setup={setup} now={now} isOwner={viewer.role === 'owner'} />
      </div>
    </>
  );
}

/** How often what is under way is looked up while it moves. */
const LOOK_MS = 5000;

function UnderWay({ campaigns, now }: { campaigns: readonly Campaign[]; now: Date }) {
  const language = useLanguage();
  const isMoving = campaigns.some(({ state }) => ['preparing', 'sending', 'cancelling'].includes(state));
  const list = (
    <ul class="under-way" id="under-way" data-active={isMoving ? 'yes' : 'no'}>
      {campaigns.map((campaign) => (
        <li key={campaign.utr}>
          <div class="row">
            <h3>
              <a href={`/${campaign.kind === 'automation' ? 'automations' : 'mailings'}/${campaign.utr}`}>
                {campaign.name}
              </a>
            </h3>
            <StateBadge state={campaign.state} />
          </div>
          <Progress campaign={campaign} now={now} />
          {campaign.waits_for_choice === 1 && (
            <p class="reason">
              <a href={`/mailings/${campaign.utr}`}>{language.say('home.underWay.choice')}</a>
            </p>
          )}
          {/* What keeps all mail from leaving stands above, once. */}
          {campaign.held_reason && campaign.held_code !== 'sending_held' && campaign.held_code !== 'mail_waits' && (
            <p class="reason">{language.sentence(campaign.held_reason)}</p>
          )}
        </li>
      ))}
    </ul>
  );
  return (
    <Card title={language.say('home.underWay.title')}>
      {campaigns.length === 0 && <p class="quiet-text">{language.say('home.underWay.none')}</p>}
      {campaigns.length > 0 &&
        (isMoving ? (
          <Island name="live" data={{ every: LOOK_MS, results: '#under-way' }}>
            {list}
          </Island>
        ) : (
          list
        ))}
    </Card>
  );
}

function Progress({ campaign, now }: { campaign: Campaign; now: Date }) {
  const language = useLanguage();
  const { kind, recipients, finished, delivered, kept, starts_at: startsAt } = campaign;
  if (kind === 'automation') {
    return (
      <p class="small quiet-text">
        {language.say('home.underWay.live', { count: delivered - kept })}
        {kept > 0 && ` ${language.say('outbox.kept', { count: kept })}`}
      </p>
    );
  }
  const start = recordTime(startsAt);
  if (start !== null && start > now) {
    const time = `${language.dateTime(start)} ${language.zone}`;
    return <p class="small quiet-text">{language.say('home.underWay.starts', { time })}</p>;
  }
  if (recipients === 0) return null;
  const text = language.say('home.underWay.progress', { finished, count: recipients });
  return (
    <>
      <Meter label={text} value={finished} max={recipients} />
      <p class="small quiet-text">{text}</p>
    </>
  );
}

function LastMailings({ mailings, now }: { mailings: readonly Mailing[]; now: Date }) {
  const language = useLanguage();
  const title = language.say('home.last.title');
  if (mailings.length === 0) {
    return (
      <Empty icon="mail" title={language.say('home.last.empty.title')}>
        {language.say('home.last.empty.text')}
      </Empty>
    );
  }
  return (
    <section class="list">
      <header class="card-head">
        <h2>{title}</h2>
        <a href="/mailings">{language.say('home.last.all')}</a>
      </header>
      <Table
        caption={title}
        rows={mailings}
        keyOf={({ utr }) => utr}
        columns={[
          { heading: language.say('home.last.name'), cell: ({ utr, name }) => <a href={`/mailings/${utr}`}>{name}</a> },
          { heading: language.say('mailings.state'), cell: ({ state }) => <StateBadge state={state} /> },
          {
            heading: language.say('home.last.sent'),
            cell: ({ sent_at: at }) => <Time at={recordTime(at)} now={now} />,
          },
          ...resultColumns<Mailing>(language, ['delivered', 'opened', 'left', 'bounced']),
        ]}
      />
    </section>
  );
}

type Day = Overview['audience']['days'][number];

/** How the audience grew and shrank over the last 30 days. */
function Audience({ audience: { contacts, days } }: Pick<Overview, 'audience'>) {
  const language = useLanguage();
  const total = (count: (day: Day) => number) => days.reduce((sum, day) => sum + count(day), 0);
  const lost = ({ deleted, unsubscribed, suppressed }: Day) => deleted + unsubscribed + suppressed;
  const title = language.say('home.audience.title');
  const series = (label: string, colour: 1 | 2 | 3 | 4, count: (day: Day) => number) => ({
    label,
    colour,
    kind: 'bars' as const,
    values: days.map(count),
  });
  return (
    <Card title={title}>
      <Stats
        figures={[
          { label: language.say('home.audience.now'), value: language.number(contacts) },
          { label: language.say('home.audience.joined'), value: language.number(total(({ added }) => added)) },
          { label: language.say('home.audience.lost'), value: language.number(total(lost)) },
        ]}
      />
      {total(({ added }) => added) + total(lost) === 0 ? (
        <p class="quiet-text">{language.say('home.audience.none')}</p>
      ) : (
        <Chart
          title={title}
          heading={language.say('home.audience.day')}
          labels={days.map(({ day }) => language.calendarDay(day))}
          series={[
            series(language.say('home.audience.joined'), 1, ({ added }) => added),
            series(language.say('home.audience.lost'), 2, (day) => -lost(day)),
          ]}
        />
      )}
    </Card>
  );
}
