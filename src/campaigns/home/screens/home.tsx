/**
 * Home: the next steps of the setup, the last campaign compared with the average, the campaigns under way, the last results, the
 * audience over a year, and the health of the service.
 */
import type { FastifyInstance } from 'fastify';
import type { ComponentChildren } from 'preact';
import { pageRoute } from '../../../http/pages/layout.ts';
import type { Deps } from '../../../operations/deps.ts';
import { LinkButton } from '../../../ui/components/button.tsx';
import { StateBadge } from '../../../ui/components/campaign-state.tsx';
import { Chart } from '../../../ui/components/chart.tsx';
import { Facts, Meter, Stats, Time } from '../../../ui/components/figures.tsx';
import { Icon } from '../../../ui/components/icon.tsx';
import { Island } from '../../../ui/components/island.tsx';
import { measured, resultColumns } from '../../../ui/components/search-list.tsx';
import { Badge, Card, Empty, Notice, type Tone } from '../../../ui/components/surface.tsx';
import { NamedLink, Table } from '../../../ui/components/table.tsx';
import { ask } from '../../../ui/operations.ts';
import { languageOf, sendPage } from '../../../ui/page.tsx';
import { recordTime } from '../../../ui/record-time.ts';
import { viewerOf } from '../../../ui/signed-in.ts';
import type { Viewer } from '../../../ui/viewer.ts';
import { type Language, useLanguage } from '../../../ui/words/index.ts';
import { DAY_MS } from '../../../units.ts';
import { readUsualRates } from '../../operations/reports.ts';
import { difference } from '../../screens/overview.tsx';
import { type Campaign, type Mailing, type Overview, readOverview } from '../operations.ts';

/** Registers Home. */
export async function homeScreen(app: FastifyInstance, { clock }: Deps): Promise<void> {
  pageRoute(app, '/', async (request, reply) => {
    const viewer = viewerOf(request);
    const { overview } = await ask(request, readOverview, {});
    const last = lastReceived(overview.last_mailings);
    const usual = last && (await ask(request, readUsualRates, { utr: last.utr }));
    const language = languageOf(request, viewer);
    const frame = {
      title: language.say('nav.home'),
      section: 'home',
      ...(viewer.role !== 'viewer' && {
        action: (
          <div class="buttons">
            <LinkButton href="/contacts/import" look="plain" icon="plus" label={language.say('home.import')} />
            <LinkButton href="/campaigns/new" icon="plus" label={language.say('compose.new')} />
          </div>
        ),
      }),
    } as const;
    return sendPage(
      request,
      reply,
      viewer,
      frame,
      <Home overview={overview} usual={usual} now={clock.now()} viewer={viewer} />,
    );
  });
}

interface HomeProps {
  overview: Overview;
  /** The average rates with which the last campaign is compared; undefined if no campaign has been sent. */
  usual: UsualRates | undefined;
  now: Date;
  viewer: Viewer;
}

function Home({ overview, usual, now, viewer }: HomeProps) {
  const { campaigns, last_mailings: mailings, audience, health, setup } = overview;
  const last = lastReceived(mailings);
  return (
    <>
      <Alerts health={health} />
      {needsChecklist(overview) && <Checklist overview={overview} now={now} viewer={viewer} />}
      {last && usual && <LastCampaign mailing={last} usual={usual} now={now} mayResend={viewer.role !== 'viewer'} />}
      {(campaigns.length > 0 || mailings.length > 0) && <UnderWay campaigns={campaigns} now={now} />}
      <div class="two-thirds">
        <Audience audience={audience} />
        <Health health={health} setup={setup} now={now} isOwner={viewer.role === 'owner'} />
      </div>
      {(campaigns.length > 0 || mailings.length > 0) && <LastMailings mailings={mailings} now={now} />}
    </>
  );
}

/** The maximum number of campaigns under way that Home shows. */
const MAX_UNDER_WAY = 5;
/** The states in which the numbers of a campaign change by themselves. */
const MOVING = ['preparing', 'sending', 'cancelling'];

/** Returns the most urgent campaigns: first those that wait for a decision of a user, then those that are being sent, then all others. */
function mostUrgent(campaigns: readonly Campaign[]): Campaign[] {
  const rank = ({ held_reason, waits_for_choice, state }: Campaign) => {
    if (held_reason !== null || waits_for_choice === 1) return 0;
    return MOVING.includes(state) ? 1 : 2;
  };
  return campaigns.toSorted((a, b) => rank(a) - rank(b)).slice(0, MAX_UNDER_WAY);
}

/** The interval in milliseconds at which the page updates running campaigns. */
const UPDATE_MS = 5000;

function UnderWay({ campaigns, now }: { campaigns: readonly Campaign[]; now: Date }) {
  const language = useLanguage();
  const isMoving = campaigns.some(({ state }) => MOVING.includes(state));
  const more = campaigns.length - MAX_UNDER_WAY;
  const list = (
    <ul class="under-way" id="under-way" data-active={isMoving ? 'yes' : 'no'}>
      {mostUrgent(campaigns).map((campaign) => (
        <li key={campaign.utr}>
          <div class="row">
            <h3>
              <a href={`/${campaign.kind === 'automation' ? 'automations' : 'campaigns'}/${campaign.utr}`}>
                {campaign.name}
              </a>
            </h3>
            <StateBadge state={campaign.state} />
          </div>
          <Progress campaign={campaign} now={now} />
          {campaign.waits_for_choice === 1 && (
            <p class="reason">
              <a href={`/campaigns/${campaign.utr}`}>{language.say('home.underWay.choice')}</a>
            </p>
          )}
          {/* A reason that holds all mail is shown once, at the top of the page. */}
          {campaign.held_reason && campaign.held_code !== 'sending_held' && campaign.held_code !== 'mail_waits' && (
            <p class="reason">{language.fullSentence(campaign.held_reason)}</p>
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
          <Island name="live" data={{ every: UPDATE_MS, results: '#under-way' }}>
            {list}
          </Island>
        ) : (
          list
        ))}
      {more > 0 && (
        <p class="small">
          <a href="/campaigns">{language.say('home.underWay.more', { count: more })}</a>
        </p>
      )}
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
      <Empty
        pose="flies"
        title={language.say('campaigns.empty.title')}
        action={<LinkButton look="plain" href="/campaigns" label={language.say('home.last.all')} />}
      >
        {language.say('home.last.empty.text')}
      </Empty>
    );
  }
  return (
    <Card title={title} action={<a href="/campaigns">{language.say('home.last.all')}</a>} isList>
      <Table
        caption={title}
        rows={mailings}
        keyOf={({ utr }) => utr}
        columns={[
          {
            heading: language.say('campaigns.name'),
            cell: ({ utr, name }) => <a href={`/campaigns/${utr}`}>{name}</a>,
          },
          { heading: language.say('word.status'), cell: ({ state }) => <StateBadge state={state} /> },
          {
            heading: language.say('home.last.sent'),
            cell: ({ sent_at: at }) => <Time at={recordTime(at)} now={now} />,
          },
          ...resultColumns<Mailing>(language, ['delivered', 'opened', 'unsubscribed', 'bounced']),
        ]}
      />
    </Card>
  );
}

type Day = Overview['audience']['days'][number];

/** The number of contacts over twelve months, and how many joined and were lost in the last 30 days. */
function Audience({ audience: { contacts, days, months } }: Pick<Overview, 'audience'>) {
  const language = useLanguage();
  const total = (count: (day: Day) => number) => language.number(days.reduce((sum, day) => sum + count(day), 0));
  const title = language.say('home.audience.title');
  return (
    <Card title={title}>
      <Stats
        figures={[
          { label: language.say('home.audience.now'), value: language.number(contacts) },
          { label: language.say('home.audience.joined'), value: total(({ added }) => added) },
          {
            label: language.say('home.audience.lost'),
            value: total(({ deleted, unsubscribed, suppressed }) => deleted + unsubscribed + suppressed),
          },
        ]}
      />
      {months.every((month) => month.contacts === 0) ? (
        <p class="quiet-text">{language.say('contacts.none.title')}</p>
      ) : (
        <Chart
          title={title}
          heading={language.say('home.audience.month')}
          labels={months.map(({ month }) => language.shortMonth(month))}
          series={[
            {
              label: language.say('home.audience.now'),
              colour: 1,
              kind: 'line',
              values: months.map((month) => month.contacts),
            },
          ]}
        />
      )}
    </Card>
  );
}

type UsualRates = Awaited<ReturnType<typeof readUsualRates.run>>;

/** Returns the last completed campaign whose mails were sent to recipients. The rates of other campaigns mean nothing. */
function lastReceived(mailings: readonly Mailing[]): Mailing | undefined {
  return mailings.find(({ state, delivered, kept }) => state === 'done' && delivered > kept);
}

/** The rates of a campaign compared with the average of the campaigns before it, and a link to send it again to contacts who did not open it. */
function LastCampaign({ mailing, usual, now, mayResend }: LastCampaignProps) {
  const language = useLanguage();
  const { utr, name, sent_at: at, delivered, kept, people_opens: opens, people_clicks: clicks } = mailing;
  const received = delivered - kept;
  const measuredMails = measured(mailing);
  const unopened = measuredMails - opens;
  const rate = (name: 'opened' | 'clicked' | 'unsubscribed', count: number, total: number) => ({
    label: language.say(`campaigns.rate.${name}`),
    ...(total > 0
      ? { value: language.percent(count / total), detail: difference(language, count / total, usual[name]) }
      : { value: language.say('campaigns.rate.unmeasured') }),
  });
  return (
    <Card
      title={language.say('home.lastOne.title')}
      action={
        <span>
          <NamedLink href={`/campaigns/${utr}`} name={name} /> · <Time at={recordTime(at)} now={now} />
        </span>
      }
    >
      <div class="headline">
        <Stats
          figures={[
            rate('opened', opens, measuredMails),
            rate('clicked', clicks, measuredMails),
            rate('unsubscribed', mailing.unsubscribes, received),
          ]}
        />
      </div>
      {mayResend && unopened > 0 && (
        <LinkButton
          look="plain"
          href={`/campaigns/${utr}/again`}
          label={language.say('home.next.resend', { count: unopened })}
        />
      )}
    </Card>
  );
}

interface LastCampaignProps {
  mailing: Mailing;
  usual: UsualRates;
  now: Date;
  mayResend: boolean;
}

/** A step of the setup. */
interface Step {
  name: 'people' | 'design' | 'outbox' | 'address' | 'relay' | 'dns';
  isDone: boolean;
  /** The page on which the step is done. */
  href: string;
  /** True if users who may only read may not open the page. */
  isForEditors?: boolean;
  /** True if only owners may open the page. */
  isForOwners?: boolean;
  /** True if only operators may open the page. */
  isForOperators?: boolean;
  /** What is to be done, or what is known about the step; null if the title says everything. */
  text: string | null;
}

/** Returns the steps of the setup in their order. */
function stepsOf({ setup }: Overview, language: Language, now: Date): Step[] {
  const { contacts, has_design: hasDesign, has_sent: hasSent, public_url: hasAddress, relay, dns } = setup;
  const before = (at: string | null) => {
    const time = recordTime(at);
    return time === null ? '' : language.relative(time, now);
  };
  const todo = (name: 'design' | 'outbox' | 'address', isDone: boolean) =>
    isDone ? null : language.say(`home.step.${name}.text`);
  return [
    {
      name: 'people',
      isDone: contacts > 0,
      href: '/contacts/import',
      isForEditors: true,
      text:
        contacts > 0
          ? language.say('home.step.people.done', { count: contacts })
          : language.say('home.step.people.text'),
    },
    {
      name: 'design',
      isDone: hasDesign === 1,
      href: hasDesign === 1 ? '/campaigns' : '/campaigns/new',
      isForEditors: hasDesign === 0,
      text: todo('design', hasDesign === 1),
    },
    { name: 'outbox', isDone: hasSent === 1, href: '/outbox', text: todo('outbox', hasSent === 1) },
    {
      name: 'address',
      isDone: hasAddress === 1,
      href: '/settings/sending#address',
      isForOperators: true,
      text: todo('address', hasAddress === 1),
    },
    {
      name: 'relay',
      isDone: ['works', 'answers', 'nodes'].includes(relay.state),
      href: '/settings/sending',
      isForOperators: true,
      text: language.fill(`home.step.relay.${relay.state}`, { time: before(relay.seen_at) }),
    },
    {
      name: 'dns',
      isDone: dns.state === 'passed',
      href: '/settings/senders',
      isForOwners: true,
      text: language.fill(`home.step.dns.${dns.state}`, {
        time: before(dns.seen_at),
        domain: dns.domain ?? '',
        checks: dns.checks.map((check) => language.say(`home.dns.check.${check}`)).join(', '),
      }),
    },
  ];
}

/** Returns true if the checklist is still useful, because nothing has been sent, or no mail has left the machine. */
function needsChecklist({ setup }: Overview): boolean {
  const { has_sent: hasSent, courier, relay } = setup;
  return hasSent === 0 || courier === 'outbox' || (courier === 'smtp' && relay.has_worked === 0);
}

/** Returns true if the user may open the page of a step. */
function mayOpen({ isForEditors, isForOwners, isForOperators }: Step, { role, isOperator }: Viewer): boolean {
  if (isForOperators) return isOperator;
  if (isForEditors) return role !== 'viewer';
  return !isForOwners || role === 'owner';
}

/** The steps of the setup, with links to the pages that the user may open. */
function Checklist({ overview, now, viewer }: { overview: Overview; now: Date; viewer: Viewer }) {
  const language = useLanguage();
  const steps = stepsOf(overview, language, now);
  const done = steps.filter(({ isDone }) => isDone).length;
  const next = steps.find(({ isDone }) => !isDone);
  const progress = language.say('home.steps.done', { done, count: steps.length });
  const classOf = (step: Step) => {
    if (step.isDone) return 'done';
    return step === next ? 'next' : undefined;
  };
  return (
    <Card title={language.say('home.steps.title')} action={<small class="quiet-text">{progress}</small>}>
      <Meter label={progress} value={done} max={steps.length} />
      <ol class="steps">
        {steps.map((step) => (
          <li key={step.name} class={classOf(step)}>
            <span class="tick">
              <Icon name={step.isDone ? 'check' : 'next'} />
              <span class="visually-hidden">
                {language.say(step.isDone ? 'home.steps.isDone' : 'home.steps.isOpen')}
              </span>
            </span>
            <div>
              <h3>
                {mayOpen(step, viewer) ? (
                  <a href={step.href}>{language.say(`home.step.${step.name}.title`)}</a>
                ) : (
                  language.say(`home.step.${step.name}.title`)
                )}
              </h3>
              {step.text !== null && <p>{step.text}</p>}
            </div>
          </li>
        ))}
      </ol>
    </Card>
  );
}

/** The number of free bytes below which an import or a large campaign could fill the disk. */
const LITTLE_SPACE = 1_000_000_000;
const WEEK_MS = 7 * DAY_MS;

const RELAY_TONES = {
  none: 'plain',
  nodes: 'good',
  untried: 'plain',
  answers: 'good',
  works: 'good',
  fails: 'warn',
} as const;
const DNS_TONES = { none: 'plain', unknown: 'plain', passed: 'good', weak: 'warn', failed: 'bad' } as const;

/** The problems of the service, each with advice; nothing if all is well. The banner of every page says when all sending is held. */
function Alerts({ health }: Pick<Overview, 'health'>) {
  const language = useLanguage();
  const alerts = [
    health.background === 'stalled' && language.say('home.alert.stalled'),
    health.clock === 'wrong' && language.say('home.alert.clock'),
    health.free_bytes < LITTLE_SPACE && language.say('home.alert.disk', { free: language.bytes(health.free_bytes) }),
  ].filter((text) => text !== false);
  return alerts.map((text) => (
    <Notice key={text} tone="bad">
      {text}
    </Notice>
  ));
}

/** The facts about the health of the service. Only owners see the link to the page with all checks. */
function Health({ health, setup, now, isOwner }: Pick<Overview, 'health' | 'setup'> & { now: Date; isOwner: boolean }) {
  const language = useLanguage();
  const backup = recordTime(health.last_backup_at);
  const isBackupFresh = backup !== null && now.getTime() - backup.getTime() < WEEK_MS;
  const sending = health.background === 'stalled' ? 'stalled' : health.sending;
  const facts: { label: string; value: ComponentChildren; tone?: Tone }[] = [
    {
      label: language.say('home.health.sending'),
      value: language.say(`home.health.${sending}`),
      tone: sending === 'on' ? 'good' : 'bad',
    },
    {
      label: language.say('home.health.courier'),
      value: language.say(`home.health.relay.${setup.relay.state}`),
      tone: RELAY_TONES[setup.relay.state],
    },
    {
      label: language.say('home.health.dns'),
      value: language.say(`home.health.dns.${setup.dns.state}`),
      tone: DNS_TONES[setup.dns.state],
    },
    {
      label: language.say('home.health.disk'),
      value: language.bytes(health.free_bytes),
      tone: health.free_bytes < LITTLE_SPACE ? 'bad' : 'good',
    },
    {
      label: language.say('home.health.clock'),
      value: language.say(`home.health.${health.clock}`),
      tone: health.clock === 'right' ? 'good' : 'bad',
    },
    {
      label: language.say('home.health.backup'),
      value: backup === null ? language.say('home.health.never') : <Time at={backup} now={now} />,
      tone: isBackupFresh ? 'good' : 'warn',
    },
    { label: language.say('home.health.version'), value: health.version },
  ];
  const problems = facts.filter(({ tone }) => tone === 'warn' || tone === 'bad');
  const worst = problems.find(({ tone }) => tone === 'bad') ?? problems[0];
  return (
    <Card
      title={language.say('home.health.title')}
      action={isOwner && <a href="/settings/health">{language.say('home.health.more')}</a>}
    >
      <details class="health">
        <summary>
          <Badge tone={worst?.tone ?? 'good'}>
            {problems.length === 0
              ? language.say('home.health.good')
              : language.say('home.health.attention', { count: problems.length })}
          </Badge>
        </summary>
        <Facts
          facts={facts.map(({ label, value, tone }) => ({
            label,
            value: tone ? <Badge tone={tone}>{value}</Badge> : value,
          }))}
        />
      </details>
    </Card>
  );
}
