/**
 * The pages that create and edit an automation: its settings, and the list of its steps, in which steps are added, opened, moved and
 * removed.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { SenderField } from '../../campaigns/screens/compose/audience.tsx';
import { type Choices, readChoices } from '../../campaigns/screens/compose/step.tsx';
import { BRANCHES, RE_ENTRY } from '../../database/schema/index.ts';
import { MAX_LINE_CHARACTERS } from '../../errors/field-errors.ts';
import { type ByUtr, pageRoute } from '../../http/pages/layout.ts';
import type { Deps } from '../../operations/deps.ts';
import { CapField, readHasCaps } from '../../senders/sending-times/screens/times.tsx';
import { Button, LinkButton } from '../../ui/components/button.tsx';
import { CheckField, type Problems, SelectField, TextField } from '../../ui/components/field.tsx';
import { Flow } from '../../ui/components/flow.tsx';
import { Subject } from '../../ui/components/subject.tsx';
import { Card, Notice, Problem } from '../../ui/components/surface.tsx';
import { setFlash } from '../../ui/flash.ts';
import { ask, attempt, problemsAt } from '../../ui/operations.ts';
import { languageOf, sendPage } from '../../ui/page.tsx';
import { recordTime } from '../../ui/record-time.ts';
import { viewerOf } from '../../ui/signed-in.ts';
import { field, texts } from '../../ui/submitted.ts';
import { withQuery } from '../../ui/with-query.ts';
import { useLanguage } from '../../ui/words/index.ts';
import { createAutomation, readSeries, type Series, type SeriesStep } from '../operations/automations.ts';
import { changeAutomation, orderAutomation } from '../operations/changes.ts';
import { createFromRecipe } from '../operations/recipes.ts';
import { type CountedTrigger, countTrigger } from '../operations/trigger-count.ts';
import { inReadingOrder, isDeciding } from '../path.ts';
import { RECIPE_BY_NAME, RECIPES, type RecipeName } from '../recipes.ts';
import { Wait } from './automation.tsx';
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
import { branchText, eventWaitText, pathSteps, STEP_ICONS, stepText, targetOptions } from './path.tsx';
import { PersonForecast, readForecast } from './people.tsx';
import {
  readTriggerChoices,
  storedTrigger,
  submittedTrigger,
  type TriggerChoices,
  type TriggerFields,
  TriggerFieldset,
  triggerCountText,
  triggerText,
} from './trigger.tsx';

/** The number of days before a contact enters again that the form proposes. */
const DEFAULT_RE_ENTRY_DAYS = 90;

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
    sent: { values?: AutomationFields; problems?: Problems; problem?: string } = {},
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
        <Editing {...{ series, choices, hasCaps, triggers, trigger }} {...sent} />
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
    const after = moved(series.steps, fields.mail, fields.where === 'up' ? -1 : 1);
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

/** Returns the steps after a step changed places with its neighbour on the same path. The steps on the paths of both move with them. */
function moved(steps: readonly SeriesStep[], utr: string, by: -1 | 1): readonly SeriesStep[] {
  const step = steps.find((candidate) => candidate.utr === utr);
  const neighbour = neighbourOf(steps, utr, by);
  if (step === undefined || neighbour === undefined) return steps;
  const swapped = steps.with(steps.indexOf(step), neighbour).with(steps.indexOf(neighbour), step);
  return inReadingOrder(swapped.map((moved) => ({ ...moved, id: moved.utr, parent_id: moved.parent })));
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

/** Returns the values of a submitted form. Fields that the form did not have are absent. */
function submittedFields(request: FastifyRequest): AutomationFields {
  const ignores_caps = field(request, 'ignores_caps');
  const [goal, exit] = [field(request, 'goal_segment_id'), field(request, 'exit_segment_id')];
  const holdOut = field(request, 'hold_out').trim();
  const [reEntry, days] = [field(request, 're_entry'), field(request, 're_entry_days').trim()];
  return {
    automation_name: field(request, 'automation_name').trim(),
    automation_for: field(request, 'automation_for'),
    unsubscribe_group_id: field(request, 'unsubscribe_group_id') || '0',
    exit_criteria: field(request, 'exit_criteria') === '1' ? '1' : '0',
    ...submittedTrigger(request),
    ...(goal !== '' && { goal_segment_id: goal }),
    ...(exit !== '' && { exit_segment_id: exit }),
    ...(reEntry !== '' && { re_entry: reEntry }),
    ...(days !== '' && { re_entry_days: days }),
    ...(holdOut !== '' && { hold_out: holdOut }),
    ...(ignores_caps !== '' && { ignores_caps }),
  };
}

interface NewQuery {
  Querystring: { recipe?: string };
}

/** The fields of the form for a new automation, with the sender, for whom only a recipe asks. */
interface NewFields extends AutomationFields {
  sender_id: string;
}

/** Registers the pages that create an automation, from nothing or from a recipe. */
export async function newAutomationScreen(app: FastifyInstance): Promise<void> {
  const show = async (
    request: FastifyRequest,
    reply: FastifyReply,
    recipe: RecipeName | undefined,
    values?: NewFields,
    problems: Problems = {},
  ) => {
    const viewer = viewerOf(request);
    const language = languageOf(request, viewer);
    const choices = await readChoices(request);
    const { senders } = choices;
    const sender = senders.find(({ is_verified }) => is_verified === 1) ?? senders[0];
    const defaults = {
      automation_name: recipe === undefined ? '' : language.say(`automations.recipe.${recipe}`),
      automation_for: '',
      unsubscribe_group_id: String(choices.groups[0]?.id ?? 0),
      exit_criteria: '0',
      sender_id: String(sender?.id ?? ''),
    };
    const content = <NewAutomation {...{ recipe, choices, problems }} values={values ?? defaults} />;
    return sendPage(
      request,
      reply,
      viewer,
      { title: language.say('automations.new'), section: 'automations' },
      content,
    );
  };

  pageRoute<NewQuery>(app, '/automations/new', (request, reply) =>
    show(request, reply, recipeNamed(request.query.recipe)),
  );

  app.post('/automations/new', async (request, reply) => {
    const values = { ...submittedFields(request), sender_id: field(request, 'sender_id') };
    const recipe = recipeNamed(field(request, 'recipe'));
    const { automation_name, automation_for, unsubscribe_group_id, sender_id } = values;
    const created =
      recipe === undefined
        ? await attempt(request, createAutomation, { ...values, type: 'custom' })
        : await attempt(request, createFromRecipe, {
            recipe,
            language: languageOf(request, viewerOf(request)).code,
            automation_name,
            automation_for,
            unsubscribe_group_id,
            sender_id,
          });
    if ('output' in created) return reply.redirect(editAddress(created.output.utr), 303);
    const problems = problemsAt(created, 'automation_name');
    if (recipe === undefined || automation_for !== '')
      return show(request, reply.code(created.status), recipe, values, problems);
    const language = languageOf(request, viewerOf(request));
    const choose = language.say(isForSegment(recipe) ? 'automations.chooseSegment' : 'automations.chooseTarget');
    return show(request, reply.code(created.status), recipe, values, { ...problems, automation_for: [choose] });
  });
}

/** Returns true if a recipe is for a segment, because its contacts exit when they leave the segment. */
function isForSegment(recipe: RecipeName | undefined): boolean {
  return recipe !== undefined && RECIPE_BY_NAME[recipe].exit_criteria === 1;
}

function recipeNamed(name: string | undefined): RecipeName | undefined {
  return RECIPES.find((recipe) => recipe === name);
}

/** The list of recipes. Each recipe links to the form that creates an automation from it. */
export function Recipes() {
  const language = useLanguage();
  return (
    <ul class="recipes">
      {RECIPES.map((recipe) => (
        <li key={recipe} class="card">
          <h3>
            <a href={`/automations/new?recipe=${recipe}`}>{language.say(`automations.recipe.${recipe}`)}</a>
          </h3>
          <p class="quiet-text">{language.say(`automations.recipe.${recipe}.about`)}</p>
        </li>
      ))}
    </ul>
  );
}

interface NewAutomationProps {
  recipe: RecipeName | undefined;
  values: NewFields;
  choices: Choices;
  problems: Problems;
}

function NewAutomation({ recipe, values, choices, problems }: NewAutomationProps) {
  const language = useLanguage();
  return (
    <>
      {recipe === undefined && (
        <section class="stack">
          <h2>{language.say('automations.recipes')}</h2>
          <Recipes />
        </section>
      )}
      <Card title={language.say(recipe === undefined ? 'automations.own' : `automations.recipe.${recipe}`)}>
        <p class="quiet-text">
          {language.say(recipe === undefined ? 'automations.new.about' : `automations.recipe.${recipe}.trigger`)}
        </p>
        {isForSegment(recipe) && <InactiveSegment targets={choices.targets} />}
        <form method="post" action="/automations/new" class="narrow">
          <AutomationFieldset values={values} choices={choices} problems={problems} recipe={recipe} />
          {recipe !== undefined && (
            <>
              <SenderField senders={choices.senders} value={values.sender_id} problems={problems} />
              <input type="hidden" name="recipe" value={recipe} />
              <RecipeSteps recipe={recipe} />
            </>
          )}
          <div class="buttons">
            <Button label={language.say('automations.create')} />
            <LinkButton
              look="quiet"
              href={recipe === undefined ? '/automations' : '/automations/new'}
              label={language.say('confirm.cancel')}
            />
          </div>
        </form>
      </Card>
    </>
  );
}

/** The button that opens a new segment with the rules for inactive contacts, which the recipe needs. */
function InactiveSegment({ targets }: Pick<Choices, 'targets'>) {
  const language = useLanguage();
  const list = targets.find(({ kind }) => kind === 'list');
  const values = {
    segment_name: language.say('automations.inactiveSegment.name'),
    contact_type_id: list?.value.replace('contacts_', '') ?? '',
    query_type: 'and',
    field0: 'activity.mails',
    operator0: 'received at least',
    value0: '3',
    until0: '90',
    field1: 'activity.last',
    operator1: 'is not within',
    value1: '90',
  };
  return (
    <form method="post" action="/contacts/segments/new">
      {Object.entries(values).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      <Button look="plain" label={language.say('automations.inactiveSegment')} />
    </form>
  );
}

/** The flow of the steps of a recipe, with their waits. */
function RecipeSteps({ recipe }: { recipe: RecipeName }) {
  const language = useLanguage();
  return (
    <Flow
      label={language.say('automations.recipe.steps')}
      steps={RECIPE_BY_NAME[recipe].steps.map((step, at) => {
        const key = String(at);
        if (step.kind !== 'mail')
          return {
            key,
            icon: STEP_ICONS[step.kind],
            kind: language.say(`automations.step.${step.kind}`),
            title: eventWaitText(language, step),
            content: <p class="quiet-text">{language.say('automations.recipe.exits')}</p>,
          };
        const { subject, preheader } = step.texts[language.code];
        return {
          key,
          icon: STEP_ICONS.mail,
          wait: <Wait mail={step} />,
          kind: language.say('automations.flow.mail'),
          title: <Subject text={subject} />,
          content: <p class="quiet-text">{preheader}</p>,
        };
      })}
    />
  );
}

/** The fields of the form of an automation, as texts. */
interface AutomationFields extends TriggerFields {
  automation_name: string;
  automation_for: string;
  unsubscribe_group_id: string;
  exit_criteria: string;
  goal_segment_id?: string;
  exit_segment_id?: string;
  re_entry?: string;
  re_entry_days?: string;
  hold_out?: string;
  /** Absent if the account has no frequency caps. */
  ignores_caps?: string;
}

function AutomationFieldset({
  values,
  choices: { targets, groups },
  triggers,
  problems,
  recipe,
}: {
  values: AutomationFields;
  choices: Choices;
  /** Absent in the form for a new automation. */
  triggers?: TriggerChoices;
  problems: Problems;
  /** The recipe of a new automation, which fixes how contacts enter and exit; undefined without a recipe. */
  recipe?: RecipeName | undefined;
}) {
  const language = useLanguage();
  const trigger = recipe === undefined ? values.trigger_kind : RECIPE_BY_NAME[recipe].trigger.trigger_kind;
  // In the form for a new automation without a recipe, contacts can only enter by joining the target.
  const mayHaveOtherTriggers = triggers !== undefined || (trigger !== undefined && trigger !== 'join');
  const none = { value: '', label: language.say('word.choose') };
  const offered = isForSegment(recipe) ? targets.filter(({ kind }) => kind === 'segment') : targets;
  return (
    <>
      <TextField
        name="automation_name"
        label={language.say('compose.name')}
        hint={language.say('compose.name.hint')}
        value={values.automation_name}
        maxLength={MAX_LINE_CHARACTERS}
        autocomplete="off"
        required
        problems={problems}
      />
      <SelectField
        name="automation_for"
        label={language.say(mayHaveOtherTriggers ? 'automations.target' : 'automations.who')}
        hint={language.say(mayHaveOtherTriggers ? 'automations.target.hint' : 'automations.who.hint')}
        value={values.automation_for}
        options={[
          none,
          ...offered.map(({ value, kind, name, people }) => ({
            value,
            label: language.say(`automations.target.${kind}`, { name, count: people }),
          })),
        ]}
        problems={problems}
      />
      {triggers !== undefined && (
        <>
          <TriggerFieldset values={values} choices={triggers} problems={problems} />
          <RunFields {...{ values, targets, problems }} />
        </>
      )}
      <SelectField
        name="unsubscribe_group_id"
        label={language.say('compose.group')}
        hint={language.say('automations.group.hint')}
        value={values.unsubscribe_group_id}
        options={[
          { value: '0', label: language.say('word.choose') },
          ...groups.map(({ id, group_name: label }) => ({ value: String(id), label })),
        ]}
        problems={problems}
      />
      {groups.length === 0 && (
        <p>
          {language.say('compose.group.none')}{' '}
          <a href="/unsubscribes/topics">{language.say('automations.group.add')}</a>
        </p>
      )}
      {values.ignores_caps !== undefined && (
        <CapField name="ignores_caps" kind="automation" value={values.ignores_caps} />
      )}
      {recipe === undefined && (
        <CheckField
          name="exit_criteria"
          label={language.say('automations.exit')}
          checked={values.exit_criteria === '1'}
        />
      )}
    </>
  );
}

/** The fields that say which segments end the run of a contact, when a contact may enter again, and how large the control group is. */
function RunFields({
  values,
  targets,
  problems,
}: {
  values: AutomationFields;
  targets: Choices['targets'];
  problems: Problems;
}) {
  const language = useLanguage();
  return (
    <>
      {(['goal', 'exit'] as const).map((end) => (
        <SelectField
          key={end}
          name={`${end}_segment_id`}
          label={language.say(`automations.${end}Segment`)}
          hint={language.say(`automations.${end}Segment.hint`)}
          value={values[`${end}_segment_id`] ?? '0'}
          options={[{ value: '0', label: language.say('automations.noSegment') }, ...targetOptions(targets, 'segment')]}
          problems={problems}
        />
      ))}
      <div class="re-entry">
        <SelectField
          name="re_entry"
          label={language.say('automations.reEntry')}
          hint={language.say('automations.reEntry.hint')}
          value={values.re_entry ?? 'never'}
          options={RE_ENTRY.map((value) => ({ value, label: language.say(`automations.reEntry.${value}`) }))}
          problems={problems}
        />
        <div class="of-days">
          <TextField
            name="re_entry_days"
            label={language.say('automations.reEntry.afterDays')}
            value={values.re_entry_days ?? String(DEFAULT_RE_ENTRY_DAYS)}
            maxLength={4}
            autocomplete="off"
            problems={problems}
          />
        </div>
      </div>
      <TextField
        name="hold_out"
        label={language.say('automations.holdOut')}
        hint={language.say('automations.holdOut.hint')}
        value={values.hold_out ?? '0'}
        maxLength={2}
        autocomplete="off"
        problems={problems}
      />
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
