/**
 * The page of one automation: its flow with the contacts at each step, its numbers of contacts, and the actions that start,
 * pause, duplicate and delete the automation.
 */
import type { FastifyInstance } from 'fastify';
import { readChoices } from '../../campaigns/screens/compose/step.tsx';
import type { Target } from '../../campaigns/screens/compose/targets.ts';
import { Findings } from '../../campaigns/screens/findings.tsx';
import { Waits } from '../../campaigns/screens/waits.tsx';
import { COMMON_HELD_CODES } from '../../delivery/queue/holds.ts';
import { listForms } from '../../forms/operations/forms.ts';
import { type ByUtr, pageRoute } from '../../http/pages/layout.ts';
import { unverifiedReason, WhyHeld } from '../../senders/screens/unverified.tsx';
import { readWindow } from '../../senders/sending-times/operations.ts';
import type { Clock } from '../../time/clock.ts';
import { Button, LinkButton } from '../../ui/components/button.tsx';
import { StateBadge } from '../../ui/components/campaign-state.tsx';
import { Confirm } from '../../ui/components/confirm.tsx';
import { Stats, Time } from '../../ui/components/figures.tsx';
import { Flow, type FlowStep } from '../../ui/components/flow.tsx';
import { measured } from '../../ui/components/search-list.tsx';
import { Subject } from '../../ui/components/subject.tsx';
import { Card, Notice } from '../../ui/components/surface.tsx';
import { numberColumn, Table } from '../../ui/components/table.tsx';
import { setFlash } from '../../ui/flash.ts';
import { ask, attempt } from '../../ui/operations.ts';
import { sendPage } from '../../ui/page.tsx';
import { viewerOf } from '../../ui/signed-in.ts';
import { texts } from '../../ui/submitted.ts';
import type { Viewer } from '../../ui/viewer.ts';
import { type Language, useLanguage } from '../../ui/words/index.ts';
import {
  deleteAutomation,
  duplicateAutomation,
  pauseAutomation,
  readSeries,
  type Series,
  type SeriesStep,
  setAutomationLive,
} from '../operations/automations.ts';
import { type Report, type ReportedMail, readReport, readSummary, type Summary } from '../operations/reports.ts';
import { type CountedTrigger, countTrigger } from '../operations/trigger-count.ts';
import {
  automationAddress,
  checkAddress,
  editAddress,
  enterAddress,
  logAddress,
  mailAddress,
  replayAddress,
  resultsAddress,
  stepAddress,
} from './changing.tsx';
import { pathSteps, STEP_ICONS, stepText } from './path.tsx';
import { PersonForecast, readForecast } from './people.tsx';
import { triggerCountText, triggerText } from './trigger.tsx';

/** Registers the page of an automation. */
export async function automationScreen(app: FastifyInstance, { clock }: { clock: Clock }): Promise<void> {
  pageRoute<ByUtr & { Querystring: { email?: string } }>(app, '/automations/:utr', async (request, reply) => {
    const viewer = viewerOf(request);
    const { utr } = request.params;
    const [email = ''] = texts(request.query.email);
    const summary = await ask(request, readSummary, { utr });
    const [{ report }, { series }, { targets }, forecast, times, { forms }, { trigger }] = await Promise.all([
      ask(request, readReport, { utr }),
      ask(request, readSeries, { utr }),
      readChoices(request),
      readForecast(request, utr, email),
      ask(request, readWindow, {}),
      ask(request, listForms, {}),
      ask(request, countTrigger, { utr }),
    ]);
    const target = targets.find(({ value }) => value === series.automation_for);
    const canChange = viewer.role !== 'viewer';
    const unverified = await unverifiedReason(
      request,
      series.mails.map(({ sender_id: id }) => id),
    );
    const frame = {
      title: summary.automation_name,
      section: 'automations',
      back: { href: '/automations', label: 'nav.automations' },
      action: canChange && <Actions {...{ series, target, forms, trigger }} isUnverified={unverified !== null} />,
    } as const;
    const now = clock.now();
    const content = (
      <>
        {summary.state === 'live' && <Waits waits_until={times.waits_until} />}
        {/* The overview already shows why the automation is held. */}
        {summary.held_reason === null && <WhyHeld reason={unverified} viewer={viewer} />}
        {series.is_entering === 1 && <Entering series={series} canChange={canChange} />}
        <Overview {...{ summary, report, series, target, forms, trigger, canChange, viewer, now }} />
        <PersonForecast {...{ email, forecast, now }} isTrial={series.is_live === 0} />
      </>
    );
    return sendPage(request, reply, viewer, frame, content);
  });
}

interface OverviewProps {
  summary: Summary;
  report: Report;
  series: Series;
  /** The list or segment whose contacts enter; undefined if no target is chosen. */
  target: Target | undefined;
  forms: readonly { id: number; name: string }[];
  /** The number of contacts who met the trigger lately. */
  trigger: CountedTrigger;
  now: Date;
  canChange: boolean;
  viewer: Viewer;
}

function Overview({ summary, report, series, target, forms, trigger, now, canChange, viewer }: OverviewProps) {
  const language = useLanguage();
  // If all mail is held, the banner on every page says why, and links to the page that ends it.
  const isAllHeld = COMMON_HELD_CODES.some((code) => code === summary.held_code);
  const deleted = report.mails.filter(({ utr }) => utr === null);
  const problems = report.mails.flatMap(({ utr, subject, findings }) =>
    utr !== null && findings !== null && findings.length > 0 ? [{ utr, subject, findings }] : [],
  );
  const mailProps = { utr: summary.utr, now, entered: report.entered, canChange };
  return (
    <>
      <WhyHeld reason={isAllHeld ? null : summary.held_reason} viewer={viewer} />
      <PeopleCard summary={summary} people={report.people} />
      <Card title={language.say('automations.flow')}>
        <Flow
          label={language.say('automations.flow')}
          entered={report.entered}
          steps={[
            triggerStep(language, { series, target, forms, trigger, canChange }, report.entered),
            ...pathSteps(language, series, (step) => {
              const mail = report.mails.find(({ utr }) => utr === step.utr);
              return mail === undefined
                ? otherStep(language, step, report, mailProps)
                : mailStep(language, mail, mailProps);
            }),
            endStep(language, summary),
          ]}
        />
        {report.mails.length === 0 && <p class="quiet-text">{language.say('automations.noMails')}</p>}
        {(
          [
            [checkAddress, 'automations.check.see'],
            [logAddress, 'automations.log.see'],
            [replayAddress, 'automations.replay.see'],
            [resultsAddress, 'automations.results.see'],
          ] as const
        ).map(([addressOf, label]) => (
          <p key={label}>
            <a href={addressOf(summary.utr)}>{language.say(label)}</a>
          </p>
        ))}
      </Card>
      {problems.length > 0 && (
        <Card title={language.say('automations.findings')}>
          {problems.map(({ utr, subject, findings }) => (
            <section key={utr}>
              <h3>
                <Subject text={subject} />
              </h3>
              <Findings findings={findings} />
            </section>
          ))}
        </Card>
      )}
      {deleted.length > 0 && (
        <Card title={language.say('automations.deletedMails')}>
          <ul class="stack">
            {deleted.map((mail, at) => (
              <li key={`deleted-${at}`}>
                <Subject text={mail.subject} />
                <MailFigures mail={mail} />
              </li>
            ))}
          </ul>
        </Card>
      )}
    </>
  );
}

/** The state of the automation, the numbers of its contacts, and why contacts exited. */
function PeopleCard({ summary, people }: { summary: Summary; people: Report['people'] }) {
  const language = useLanguage();
  const exited = people.filter(({ state }) => state === 'left');
  return (
    <Card title={language.say('automations.people')} action={<StateBadge state={summary.state} />}>
      <Stats
        figures={[
          { label: language.say('automations.people.waiting'), value: language.number(summary.waiting) },
          { label: language.say('automations.people.finished'), value: language.number(summary.finished) },
          { label: language.say('automations.people.left'), value: language.number(summary.left) },
        ]}
      />
      {exited.length > 0 && (
        <Table
          caption={language.say('automations.why')}
          rows={exited}
          keyOf={({ reason }) => String(reason)}
          columns={[
            {
              heading: language.say('automations.why'),
              cell: ({ reason }) => <span class="capitalized">{language.sentence(reason ?? '–')}</span>,
            },
            numberColumn(language, 'automations.people', 'count'),
          ]}
        />
      )}
    </Card>
  );
}

/** Returns the first box of the flow: the trigger in words, the number of contacts who entered, and when contacts exit. */
function triggerStep(
  language: Language,
  {
    series,
    target,
    forms,
    trigger,
    canChange,
  }: Pick<OverviewProps, 'series' | 'target' | 'forms' | 'trigger' | 'canChange'>,
  entered: number,
): FlowStep {
  const count = triggerCountText(language, trigger, series);
  const id = target?.value.split('_').at(-1);
  return {
    key: 'trigger',
    icon: 'play',
    kind: language.say('automations.who'),
    title: target === undefined ? language.say('automations.who.nobody') : triggerText(language, series, target, forms),
    content: (
      <>
        {count !== null && <p>{count}</p>}
        {target !== undefined && (
          <p>
            <a href={target.kind === 'segment' ? `/contacts/segments/${id}` : `/contacts?contact_type_id=${id}`}>
              {language.say('automations.who.now', { count: target.people })}
            </a>
            {canChange && series.is_live === 1 && target.people > 0 && (
              <>
                {' '}
                <a href={enterAddress(series.utr)}>{language.say('automations.enter.them')}</a>
              </>
            )}
          </p>
        )}
        <p class="quiet-text">
          {language.say(series.exit_criteria === 1 ? 'automations.leave.target' : 'automations.leave.end')}
        </p>
      </>
    ),
    passed: { count: entered, text: language.say('automations.flow.entered', { count: entered }) },
  };
}

/** Says that all contacts of the target or a segment enter in the background, and lets an editor stop this. */
function Entering({ series: { utr, is_live }, canChange }: { series: Series; canChange: boolean }) {
  const language = useLanguage();
  return (
    <Notice>
      <p>{language.say(is_live === 1 ? 'automations.enter.running' : 'automations.enter.waiting')}</p>
      {canChange && (
        <form method="post" action={`${enterAddress(utr)}/stop`}>
          <Button look="plain" label={language.say('automations.enter.stop')} />
        </form>
      )}
    </Notice>
  );
}

/** Returns the last box of the flow: the numbers of contacts who completed the automation, and who exited before. */
function endStep(language: Language, { finished, left }: Summary): FlowStep {
  return {
    key: 'end',
    icon: 'check',
    kind: language.say('automations.flow.end'),
    title: language.say('automations.flow.completed', { count: finished }),
    content: left > 0 && <p class="quiet-text">{language.say('automations.flow.exited', { count: left })}</p>,
  };
}

interface MailStepProps {
  /** The utr of the automation. */
  utr: string;
  now: Date;
  entered: number;
  /** True if each mail links to the page that changes it. */
  canChange: boolean;
}

/** Returns the box of a mail in the flow: its wait, the contacts who wait for the mail, its results, and how many contacts passed it. */
function mailStep(language: Language, mail: ReportedMail, { utr, now, entered, canChange }: MailStepProps): FlowStep {
  const { subject, waiting, passed, left } = mail;
  const page = mail.utr ?? '';
  return {
    key: page,
    icon: 'mail',
    wait: <Wait mail={mail} />,
    kind: language.say('automations.flow.mail'),
    title: canChange ? (
      <a href={mailAddress(utr, page)}>
        <Subject text={subject} />
      </a>
    ) : (
      <Subject text={subject} />
    ),
    active:
      waiting === 0 ? null : (
        <a href={mailAddress(utr, page, 'waiting')}>{language.say('automations.flow.active', { count: waiting })}</a>
      ),
    content: (
      <>
        {mail.next_due_at !== null && (
          <p class="small quiet-text">
            {language.say('automations.next')} <Time at={new Date(mail.next_due_at)} now={now} />
          </p>
        )}
        <MailFigures mail={mail} />
      </>
    ),
    passed: {
      count: passed,
      text: [
        language.say('automations.flow.passed', { count: passed, share: language.share(passed, entered) }),
        ...(left > 0 ? [language.say('automations.flow.exitedHere', { count: left })] : []),
      ].join(' · '),
    },
  };
}

/** Returns the box of a step other than a mail in the flow: its wait, and the contacts who wait for the step. */
function otherStep(
  language: Language,
  step: SeriesStep,
  { steps }: Report,
  { utr: automation, canChange }: MailStepProps,
): FlowStep {
  const waiting = steps.find(({ utr }) => utr === step.utr)?.waiting ?? 0;
  const text = stepText(language, step);
  return {
    key: step.utr,
    icon: STEP_ICONS[step.kind],
    wait: <Wait mail={step} />,
    kind: language.say(`automations.step.${step.kind}`),
    title: canChange ? <a href={stepAddress(automation, step.utr)}>{text}</a> : text,
    active: waiting === 0 ? null : language.say('automations.flow.active', { count: waiting }),
  };
}

function MailFigures({ mail }: { mail: ReportedMail }) {
  const language = useLanguage();
  return (
    <dl class="inline-figures">
      <Figure label={language.say('campaigns.delivered')} value={language.number(mail.delivered - mail.kept)} />
      {mail.kept > 0 && <Figure label={language.say('delivery.kept')} value={language.number(mail.kept)} />}
      <Figure label={language.say('campaigns.opened')} value={language.share(mail.people_opens, measured(mail))} />
      <Figure label={language.say('campaigns.unsubscribed')} value={language.number(mail.unsubscribes)} />
      <Figure label={language.say('campaigns.bounced')} value={language.number(mail.bounces)} />
    </dl>
  );
}

/** The wait before a step, in words. */
export function Wait({
  mail: { waiting_type: unit, waiting_period: period },
}: {
  mail: Pick<ReportedMail, 'waiting_type' | 'waiting_period'>;
}) {
  const language = useLanguage();
  if (unit === null || unit === 'instantly' || !period) return <>{language.say('automations.atOnce')}</>;
  const key = unit === 'days' ? 'automations.after.days' : 'automations.after.hours';
  return <>{language.say(key, { count: period })}</>;
}

function Figure({ label, value }: { label: string; value: string }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** Registers the routes that start, pause, duplicate and delete an automation. */
export async function stateActions(app: FastifyInstance): Promise<void> {
  for (const [action, operation, doneMessage] of [
    ['start', setAutomationLive, 'automations.started'],
    ['pause', pauseAutomation, 'automations.paused'],
  ] as const) {
    app.post<ByUtr>(`/automations/:utr/${action}`, async (request, reply) => {
      const { utr } = request.params;
      const changed = await attempt(request, operation, { utr });
      const { state } = await ask(request, readSummary, { utr });
      if ('problems' in changed) setFlash(reply, 'bad', 'automations.refused', { reason: changed.text });
      else if (state === 'held') setFlash(reply, 'warn', 'automations.startedHeld');
      else setFlash(reply, 'good', doneMessage);
      return reply.redirect(automationAddress(utr), 303);
    });
  }

  app.post<ByUtr>('/automations/:utr/duplicate', async (request, reply) => {
    const { utr } = await ask(request, duplicateAutomation, request.params);
    return reply.redirect(editAddress(utr), 303);
  });

  app.post<ByUtr>('/automations/:utr/delete', async (request, reply) => {
    await ask(request, deleteAutomation, request.params);
    setFlash(reply, 'good', 'automations.done.deleted');
    return reply.redirect('/automations', 303);
  });
}

interface ActionsProps extends Pick<OverviewProps, 'series' | 'target' | 'forms' | 'trigger'> {
  /** True if the sender of a mail must be verified before the automation can start. */
  isUnverified: boolean;
}

/** The buttons that edit, start, pause, duplicate and delete an automation. */
function Actions({ series, target, forms, trigger, isUnverified }: ActionsProps) {
  const language = useLanguage();
  const count = triggerCountText(language, trigger, series);
  const { utr, people } = series;
  const address = automationAddress(utr);
  const isReady = series.mails.length > 0 && series.unsubscribe_group_id !== 0 && target !== undefined;
  return (
    <div class="buttons">
      <LinkButton look={isReady ? 'plain' : 'primary'} href={editAddress(utr)} label={language.say('compose.edit')} />
      {series.is_live === 1 ? (
        <Confirm
          id="pause-automation"
          action={`${address}/pause`}
          label={language.say('automations.pause')}
          look="plain"
          title={language.say('automations.pause.title', { name: series.automation_name })}
        >
          <p>{language.say('automations.pause.about', { count: people.waiting })}</p>
          {people.queued > 0 && <p>{language.say('automations.pause.queued', { count: people.queued })}</p>}
        </Confirm>
      ) : (
        isReady &&
        !isUnverified && (
          <Confirm
            id="start-automation"
            action={`${address}/start`}
            label={language.say(people.waiting > 0 ? 'automations.goOn' : 'automations.start')}
            look="primary"
            title={language.say(people.waiting > 0 ? 'automations.goOn.title' : 'automations.start.title', {
              name: series.automation_name,
            })}
          >
            {series.trigger_kind === 'join' ? (
              <>
                <p>{language.say('automations.start.about', { name: target.name })}</p>
                <p>
                  {language.say('automations.start.notThese', { count: target.people })}{' '}
                  {target.people > 0 && <a href={enterAddress(utr)}>{language.say('automations.enter.too')}</a>}
                </p>
              </>
            ) : (
              <p>{triggerText(language, series, target, forms)}</p>
            )}
            {count !== null && <p>{count}</p>}
            {people.waiting > 0 && <p>{language.say('automations.start.goOn', { count: people.waiting })}</p>}
            {people.due_now > 0 && <p>{language.say('automations.start.due', { count: people.due_now })}</p>}
          </Confirm>
        )
      )}
      <form method="post" action={`${address}/duplicate`}>
        <Button look="plain" label={language.say('automations.duplicate')} />
      </form>
      <Confirm
        id="delete-automation"
        action={`${address}/delete`}
        label={language.say('automations.delete')}
        title={language.say('automations.delete.title', { name: series.automation_name })}
      >
        <p>{language.say('automations.delete.about', { count: people.waiting })}</p>
      </Confirm>
    </div>
  );
}
