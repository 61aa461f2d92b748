/** What is under way, and how the last mailings went. */
import { StateBadge } from '../../components/campaign-state.tsx';
import { Meter, Time } from '../../components/figures.tsx';
import { Island } from '../../components/island.tsx';
import { Card, Empty } from '../../components/surface.tsx';
import { Table } from '../../components/table.tsx';
import { recordTime } from '../../record-time.ts';
import { useLanguage } from '../../words/index.ts';
import type { Campaign, Mailing } from './overview.ts';

/** How often what is under way is looked up while it moves. */
const LOOK_MS = 5000;

export function UnderWay({ campaigns, now }: { campaigns: readonly Campaign[]; now: Date }) {
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

export function LastMailings({ mailings, now }: { mailings: readonly Mailing[]; now: Date }) {
  const language = useLanguage();
  const title = language.say('home.last.title');
  const share = (part: number, whole: number) => (whole <= 0 ? '–' : language.percent(part / whole));
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
          { heading: language.say('home.last.state'), cell: ({ state }) => <StateBadge state={state} /> },
          {
            heading: language.say('home.last.sent'),
            cell: ({ sent_at: at }) => <Time at={recordTime(at)} now={now} />,
          },
          {
            heading: language.say('home.last.delivered'),
            isNumber: true,
            cell: ({ delivered, kept }) => language.number(delivered - kept),
          },
          {
            heading: language.say('home.last.opened'),
            isNumber: true,
            cell: (row) => share(row.people_opens, row.delivered - row.kept - row.unmeasured),
          },
          {
            heading: language.say('home.last.left'),
            isNumber: true,
            cell: (row) => share(row.unsubscribes, row.delivered - row.kept),
          },
          {
            heading: language.say('home.last.bounced'),
            isNumber: true,
            cell: ({ bounces }) => language.number(bounces),
          },
        ]}
      />
    </section>
  );
}
