/** The page that edits an automation: its settings, and the list of its steps, in which steps are added, opened, moved and removed. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Choices, readChoices } from '../../campaigns/screens/compose/step.tsx';
import { BRANCHES } from '../../database/schema/index.ts';
import { type ByUtr, pageRoute } from '../../http/pages/layout.ts';
import type { Deps } from '../../operations/deps.ts';
import { readHasCaps } from '../../senders/sending-times/screens/times.tsx';
import { Button, LinkButton } from '../../ui/components/button.tsx';
import type { Problems } from '../../ui/components/field.tsx';
import { Flow } from '../../ui/components/flow.tsx';
import { Subject } from '../../ui/components/subject.tsx';
import { Card, Notice, Problem } from '../../ui/components/surface.tsx';
import { setFlash } from '../../ui/flash.ts';
import { ask } from '../../ui/operations.ts';
import { languageOf } from '../../ui/page.tsx';
import { recordTime } from '../../ui/record-time.ts';
import { viewerOf } from '../../ui/signed-in.ts';
import { field, texts } from '../../ui/submitted.ts';
import { withQuery } from '../../ui/with-query.ts';
import { useLanguage } from '../../ui/words/index.ts';
import { readSeries, type Series, type SeriesStep } from '../operations/automations.ts';
import { changeAutomation, orderAutomation } from '../operations/changes.ts';
import { type CountedTrigger, countTrigger } from '../operations/trigger-count.ts';
import { inReadingOrder, isDeciding } from '../path.ts';
import { Wait } from './automation.tsx';
import {
  type AutomationFields,
  AutomationFieldset,
  DEFAULT_RE_ENTRY_DAYS,
  submittedFields,
} from './automation-fields.tsx';
import {
  attemptChange,
  automationAddress,
  editAddress,
  mailAddress,
  refusalText,
  sendAutomationPage,
  sendQuestion,
  stepAddress,
} from './changing.tsx';
import { branchText, pathSteps, STEP_ICONS, stepText } from './path.tsx';
import { PersonForecast, readForecast } from './people.tsx';
import { readTriggerChoices, storedTrigger, type TriggerChoices, triggerCountText, triggerText } from './trigger.tsx';

interface Call extends ByUtr {
  Querystring: { email?: string };
}

/** Registers the page on which the steps and settings of an automation are edited. */
export async function editScreen(app: FastifyInstance, { clock }: Pick<Deps, 'clock'>): Promise<void> {
  pageRoute<Call>(app, '/automations/:utr/edit', (request, reply) => show(request, reply));
  app.post<Call>('/automations/:utr/edit', save);
  app.post<Call>('/automations/:utr/order', moveStep);

  async function show(
    request: FastifyRequest<Call>,
    reply: FastifyReply,
    rejected: { values?: AutomationFields; problems?: Problems; problem?: string } = {},
  ) {
    const [email = ''] = texts(request.query.email);
    const { series } = await ask(request, readSeries, { utr: request.params.utr });
    const [choices, forecast, hasCaps, triggers, { trigger }] = await Promise.all([
      readChoices(request),
      readForecast(request, series.utr, email),
      readHasCaps(request),
      readTriggerChoices(request),
      ask(request, countTrigger, { utr: series.utr }),
    ]);
    const content = (
      <>
        <Editing {...{ series, choices, hasCaps, triggers, trigger }} {...rejected} />
        <PersonForecast {...{ email, forecast }} now={clock.now()} isTrial={series.is_live === 0} />
      </>
    );
    return sendAutomationPage(request, reply, { utr: series.utr, title: series.automation_name }, content);
  }

  /** Saves the settings, or asks first if contacts would leave the automation. */
  async function save(request: FastifyRequest<Call>, reply: FastifyReply) {
    const { utr } = request.params;
    const values = submittedFields(request);
    const unchanged_since = field(request, 'unchanged_since');
    const language = languageOf(request, viewerOf(request));
    const { series } = await ask(request, readSeries, { utr });
    const changesExits =
      values.automation_for !== series.automation_for ||
      Number(values.exit_criteria) !== series.exit_criteria ||
      Number(values.goal_segment_id ?? 0) !== (series.goal_segment_id ?? 0) ||
      Number(values.exit_segment_id ?? 0) !== (series.exit_segment_id ?? 0);
    const changed = await attemptChange(request, changeAutomation, { ...values, utr, unchanged_since }, (effects) => ({
      people: [],
      ahead: 0,
      behind: 0,
      leaving: changesExits ? effects.leaving : 0,
    }));
    if ('asked' in changed)
      return sendQuestion(request, reply, {
        series,
        effects: changed.asked,
        action: editAddress(utr),
        fields: { ...values, unchanged_since },
        submit: language.say('compose.save'),
      });
    if ('output' in changed) {
      setFlash(reply, 'good', 'compose.saved');
      return reply.redirect(editAddress(utr), 303);
    }
    const names = [language.say('compose.name'), values.automation_name, series.automation_name] as const;
    const problem = refusalText(request, changed, series, [names]);
    return show(request, reply.code(changed.status), { values, problems: changed.problems, problem });
  }

  /** Moves a step up or down, or asks first if this changes which step contacts wait for. */
  async function moveStep(request: FastifyRequest<Call>, reply: FastifyReply) {
    const { utr } = request.params;
    const { series } = await ask(request, readSeries, { utr });
    const fields = {
      mail: field(request, 'mail'),
      where: field(request, 'where'),
      unchanged_since: field(request, 'unchanged_since'),
    };
    const after = withStepMoved(series.steps, fields.mail, fields.where === 'up' ? -1 : 1);
    const order = { utr, mails: after.map((step) => step.utr), unchanged_since: fields.unchanged_since };
    const ordered = await attemptChange(request, orderAutomation, order, ({ people }) => ({
      people,
      ahead: 0,
      behind: 0,
      leaving: 0,
    }));
    if ('asked' in ordered)
      return sendQuestion(request, reply, {
        series,
        effects: ordered.asked,
        action: `${automationAddress(utr)}/order`,
        fields,
        submit: languageOf(request, viewerOf(request)).say('automations.move'),
      });
    if ('output' in ordered) return reply.redirect(`${editAddress(utr)}#mails`, 303);
    const problem = refusalText(request, ordered, series) || ordered.text;
    return show(request, reply.code(ordered.status), { problem });
  }
}

/** Returns the steps after a step changed places with its neighbour on the same path. The paths that begin at the two move with them. */
function withStepMoved(steps: readonly SeriesStep[], utr: string, by: -1 | 1): readonly SeriesStep[] {
  const step = steps.find((candidate) => candidate.utr === utr);
  const neighbour = neighbourOf(steps, utr, by);
  if (step === undefined || neighbour === undefined) return steps;
  const swapped = steps.with(steps.indexOf(step), neighbour).with(steps.indexOf(neighbour), step);
  return inReadingOrder(
    swapped.map((swappedStep) => ({ ...swappedStep, id: swappedStep.utr, parent_id: swappedStep.parent })),
  );
}

/** Returns the step that comes right after (1) or before (-1) a step on the same path; undefined if there is none. */
function neighbourOf(steps: readonly SeriesStep[], utr: string, by: -1 | 1): SeriesStep | undefined {
  const step = steps.find((candidate) => candidate.utr === utr);
  if (step === undefined) return undefined;
  const path = steps.filter(({ parent, branch }) => parent === step.parent && branch === step.branch);
  return path[path.indexOf(step) + by];
}

interface EditingProps {
  series: Series;
  choices: Choices;
  hasCaps: boolean;
  triggers: TriggerChoices;
  /** The number of contacts who met the stored trigger lately. */
  trigger: CountedTrigger;
  values?: AutomationFields;
  problems?: Problems;
  problem?: string;
}

function Editing({ series, choices, hasCaps, triggers, trigger, values, problems = {}, problem }: EditingProps) {
  const language = useLanguage();
  const target = choices.targets.find(({ value }) => value === series.automation_for);
  const count = triggerCountText(language, trigger, series);
  const saved = recordTime(series.updated_at);
  const stored = {
    automation_name: series.automation_name,
    automation_for: series.automation_for,
    unsubscribe_group_id: String(series.unsubscribe_group_id),
    exit_criteria: String(series.exit_criteria),
    ...storedTrigger(series),
    goal_segment_id: String(series.goal_segment_id ?? 0),
    exit_segment_id: String(series.exit_segment_id ?? 0),
    re_entry: series.re_entry,
    re_entry_days: String(series.re_entry_days || DEFAULT_RE_ENTRY_DAYS),
    hold_out: String(series.hold_out),
    ...(hasCaps && { ignores_caps: String(series.ignores_caps) }),
  };
  return (
    <>
      <Problem>{problem}</Problem>
      {series.is_live === 1 && <Notice>{language.say('automations.isLive', { count: series.people.waiting })}</Notice>}
      <Card title={language.say('automations.mails')}>
        <StepList series={series} />
      </Card>
      <Card title={language.say('automations.settings')}>
        {target !== undefined && <p>{triggerText(language, series, target, triggers.forms)}</p>}
        {count !== null && <p>{count}</p>}
        <form method="post" action={editAddress(series.utr)} class="narrow">
          <AutomationFieldset values={values ?? stored} choices={choices} triggers={triggers} problems={problems} />
          <input type="hidden" name="unchanged_since" value={series.updated_at} />
          <div class="buttons">
            <Button label={language.say('compose.save')} />
            {saved !== null && (
              <span class="small quiet-text">
                {language.say('compose.savedAt', { time: language.dateTime(saved) })}
              </span>
            )}
          </div>
        </form>
      </Card>
    </>
  );
}

/** The steps of an automation in their flow, with the links and buttons that change them. */
function StepList({ series }: { series: Series }) {
  const language = useLanguage();
  const { steps, utr } = series;
  return (
    <div id="mails">
      {steps.length === 0 ? (
        <p class="quiet-text">{language.say('automations.noMails')}</p>
      ) : (
        <Flow
          label={language.say('automations.mails')}
          steps={pathSteps(language, series, (step) => ({
            key: step.utr,
            icon: STEP_ICONS[step.kind],
            wait: <Wait mail={step} />,
            kind: language.say(`automations.step.${step.kind}`),
            title:
              step.kind === 'mail' ? (
                <a href={mailAddress(utr, step.utr)}>
                  <Subject text={step.subject} />
                </a>
              ) : (
                <a href={stepAddress(utr, step.utr)}>{stepText(language, step)}</a>
              ),
            content: <StepActions series={series} step={step} />,
          }))}
        />
      )}
      <AddLinks utr={utr} query={{}} look={steps.length === 0 ? 'primary' : 'plain'} />
    </div>
  );
}

/** The links and buttons that move a step on its path, add a step before it or on its paths, and remove the step. */
function StepActions({ series, step }: { series: Series; step: SeriesStep }) {
  const language = useLanguage();
  const { utr } = series;
  const mail = series.mails.find((candidate) => candidate.utr === step.utr);
  const hasNeighbour = (by: -1 | 1) => neighbourOf(series.steps, step.utr, by) !== undefined;
  return (
    <>
      {mail?.content === 'none' && <Notice tone="warn">{language.say('automations.noContent')}</Notice>}
      {isDeciding(step) &&
        BRANCHES.map((branch) => (
          <div key={branch}>
            <p class="quiet-text">{branchText(language, step, branch)}</p>
            <AddLinks utr={utr} query={{ parent: step.utr, branch }} look="quiet" />
          </div>
        ))}
      <div class="buttons">
        {hasNeighbour(-1) && <Move series={series} step={step} where="up" />}
        {hasNeighbour(1) && <Move series={series} step={step} where="down" />}
        <LinkButton
          look="quiet"
          href={`${automationAddress(utr)}/mails/new?before=${step.utr}`}
          label={language.say('automations.addBefore')}
        />
        <LinkButton
          look="quiet"
          href={`${automationAddress(utr)}/steps/new?before=${step.utr}`}
          label={language.say('automations.addStepBefore')}
        />
        <LinkButton
          look="quiet"
          href={step.kind === 'mail' ? mailAddress(utr, step.utr, 'remove') : `${stepAddress(utr, step.utr)}/remove`}
          label={language.say('automations.remove')}
        />
      </div>
    </>
  );
}

/** The links to the forms that add a mail or another step at the end of a path, which `query` names. */
function AddLinks({
  utr,
  query,
  look,
}: {
  utr: string;
  query: Record<string, string>;
  look: 'primary' | 'plain' | 'quiet';
}) {
  const language = useLanguage();
  return (
    <div class="buttons add-links">
      <LinkButton
        look={look}
        href={withQuery(`${automationAddress(utr)}/mails/new`, query)}
        label={language.say('automations.addMail')}
      />
      <LinkButton
        look={look === 'primary' ? 'plain' : look}
        href={withQuery(`${automationAddress(utr)}/steps/new`, query)}
        label={language.say('automations.addStep')}
      />
    </div>
  );
}

/** The button that moves a step up or down on its path. */
function Move({ series, step, where }: { series: Series; step: SeriesStep; where: 'up' | 'down' }) {
  const language = useLanguage();
  return (
    <form method="post" action={`${automationAddress(series.utr)}/order`}>
      <Button look="quiet" label={language.say(`automations.move.${where}`)} />
      <input type="hidden" name="mail" value={step.utr} />
      <input type="hidden" name="where" value={where} />
      <input type="hidden" name="unchanged_since" value={series.updated_at} />
    </form>
  );
}
