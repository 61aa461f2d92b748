/**
 * The pages that add a step other than a mail, change its settings, and remove the step. If a change affects contacts who wait at
 * the step, a page first shows the effects on them.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Field, listOwnFields } from '../../audience/fields/operations.ts';
import { listNames } from '../../audience/segments/operations.ts';
import { readTargets, type Target, targetOptions } from '../../campaigns/screens/compose/targets.ts';
import { AWAITED } from '../../database/schema/index.ts';
import { withAnnouncedWork } from '../../database/write-turns.ts';
import { notFound } from '../../errors/failure.ts';
import { MAX_LINE_CHARACTERS, messages } from '../../errors/field-errors.ts';
import { type ByUtr, pageRoute } from '../../http/pages/layout.ts';
import { Button, LinkButton } from '../../ui/components/button.tsx';
import { type Problems, SelectField, TextField } from '../../ui/components/field.tsx';
import { Card, Notice, Problem } from '../../ui/components/surface.tsx';
import { setFlash } from '../../ui/flash.ts';
import { ask, attempt, problemsAt } from '../../ui/operations.ts';
import { languageOf, sendPage } from '../../ui/page.tsx';
import { requireEditor, viewerOf } from '../../ui/signed-in.ts';
import { field, texts } from '../../ui/submitted.ts';
import { withQuery } from '../../ui/with-query.ts';
import { type Language, useLanguage } from '../../ui/words/index.ts';
import { fieldLabel } from '../../ui/words/known.ts';
import { WEEKDAYS, weekdayName } from '../../ui/words/weekdays.ts';
import { readSeries, type Series, type SeriesStep } from '../operations/automations.ts';
import { addStep, changeStep, removeStep } from '../operations/changes.ts';
import { isDateType, OTHER_KINDS, type OtherKind, ownSettings, SETTABLE_FIELDS } from '../operations/step-kinds.ts';
import {
  attemptChange,
  automationAddress,
  concerningMail,
  concerningNew,
  editAddress,
  refusalText,
  sendAutomationPage,
  sendQuestion,
  stepAddress,
} from './changing.tsx';
import { EventFields } from './event-fields.tsx';
import { AddingEnd, BackToEdit, isFirst, type Place, submittedPlace, WaitFields } from './mail.tsx';
import { stepText } from './path.tsx';

/** A request for the form of a new step. The query names the kind of step and its place. */
interface NewStepCall extends ByUtr {
  Querystring: { kind?: string } & Partial<Place>;
}

/** Empty values for all settings. */
const NO_SETTINGS = {
  segment_id: '',
  share: '',
  contact_type_id: '',
  field: '',
  value: '',
  until: '',
  event: '',
  event_filter: '',
  weekday: '',
  hour: '',
  timeout_hours: '',
};

/** The fields of the form of a step. Fields that this kind of step does not have are empty. */
type StepFields = { kind: OtherKind } & Record<keyof typeof NO_SETTINGS | 'waiting_type' | 'waiting_period', string>;

type NewStep = StepFields & Place;

/** The values that the form for a new step proposes. */
const DEFAULTS = {
  ...NO_SETTINGS,
  share: '50',
  until: 'event',
  weekday: '1',
  hour: '9',
  timeout_hours: '72',
  waiting_type: 'instantly',
  waiting_period: '1',
};

/** The required settings that are numbers. The operation would take a blank number as absent and keep the stored number, so the page refuses it. */
const REQUIRED_NUMBERS = ['share', 'hour', 'timeout_hours'] as const;

function kindNamed(name: string | undefined): OtherKind | undefined {
  return OTHER_KINDS.find((kind) => kind === name);
}

/** Returns the fields without the empty ones, so that for example a step on the main path has no `parent` and `branch`. */
function withValues(values: NewStep): Partial<NewStep> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));
}

/** Returns the values of a submitted form. */
function submittedStep(request: FastifyRequest, kind: OtherKind): StepFields {
  const text = (name: keyof StepFields) => field(request, name).trim();
  const settings = ownSettings(kind, {
    segment_id: text('segment_id'),
    share: text('share'),
    contact_type_id: text('contact_type_id'),
    field: text('field'),
    value: text('value'),
    until: text('until'),
    event: text('event'),
    event_filter: text('event_filter'),
    weekday: text('weekday'),
    hour: text('hour'),
    timeout_hours: text('timeout_hours'),
  });
  return {
    kind,
    ...NO_SETTINGS,
    ...settings,
    waiting_type: text('waiting_type'),
    waiting_period: text('waiting_period') || '1',
  };
}

/** Returns the values of the form for a stored step. */
function storedStep(step: SeriesStep, kind: OtherKind): StepFields {
  const text = (value: string | number | null) => String(value ?? '');
  return {
    ...DEFAULTS,
    kind,
    segment_id: text(step.segment_id),
    contact_type_id: text(step.contact_type_id),
    field: text(step.field),
    value: text(step.value),
    event: text(step.event),
    event_filter: text(step.event_filter),
    ...(step.share !== null && { share: text(step.share) }),
    ...(step.until !== null && { until: step.until, hour: text(step.hour ?? 0) }),
    ...(step.weekday !== null && { weekday: text(step.weekday) }),
    ...(step.timeout_hours !== null && { timeout_hours: text(step.timeout_hours) }),
    waiting_type: step.waiting_type,
    waiting_period: text(step.waiting_period),
  };
}

/** Registers the pages that add, change and remove a step other than a mail. */
export async function stepScreens(app: FastifyInstance): Promise<void> {
  newStepScreen(app);
  storedStepScreen(app);
  removeStepScreen(app);
}

/** Registers the page that adds a step. */
function newStepScreen(app: FastifyInstance): void {
  const show = async (
    request: FastifyRequest<NewStepCall>,
    reply: FastifyReply,
    sent: { values?: NewStep; problems?: Problems; problem?: string } = {},
  ) => {
    const viewer = viewerOf(request);
    const language = languageOf(request, viewer);
    const at = (name: 'kind' | 'before' | 'parent' | 'branch') => texts(request.query[name])[0] ?? '';
    const place = { before: at('before'), parent: at('parent'), branch: at('branch') };
    const kind = sent.values?.kind ?? kindNamed(at('kind'));
    const { series } = await ask(request, readSeries, request.params);
    if (kind === undefined) {
      const page = { utr: series.utr, title: language.say('automations.addStep') };
      return sendAutomationPage(request, reply, page, <Kinds utr={series.utr} place={place} />);
    }
    const choices = await readStepChoices(request);
    const values = sent.values ?? { ...DEFAULTS, kind, ...place };
    const frame = { title: language.say(`automations.step.${kind}`), section: 'automations' } as const;
    return sendPage(request, reply, viewer, frame, <AddStep {...{ series, choices, ...sent, values }} />);
  };

  pageRoute<NewStepCall>(app, '/automations/:utr/steps/new', (request, reply) => show(request, reply));

  app.post<NewStepCall>('/automations/:utr/steps/new', async (request, reply) => {
    const { utr } = request.params;
    const kind = kindNamed(field(request, 'kind'));
    if (kind === undefined) throw notFound();
    const values = { ...submittedStep(request, kind), ...submittedPlace(request) };
    const { series } = await ask(request, readSeries, { utr });
    const unchanged_since = field(request, 'unchanged_since');
    const input = { ...withValues(values), utr, unchanged_since };
    const added = await attemptChange(request, addStep, input, (effects) => concerningNew(effects, series.steps));
    if ('asked' in added)
      return sendQuestion(request, reply, {
        series,
        effects: added.asked,
        action: `${automationAddress(utr)}/steps/new`,
        fields: { ...values, unchanged_since },
        submit: languageOf(request, viewerOf(request)).say('automations.addStep'),
      });
    if ('output' in added) return reply.redirect(`${editAddress(utr)}#mails`, 303);
    const problem = refusalText(request, added, series) || (added.problems.utr ?? []).join(' ');
    return show(request, reply.code(added.status), { values, problems: problemsAt(added, 'kind'), problem });
  });
}

interface StepCall {
  Params: { automation: string; utr: string };
}

/** Reads the step that a request names, and its automation. Throws 404 if there is no such step, or the step is a mail. */
async function readStep(request: FastifyRequest<StepCall>) {
  const { series } = await ask(request, readSeries, { utr: request.params.automation });
  const step = series.steps.find(({ utr }) => utr === request.params.utr.toLowerCase());
  const kind = kindNamed(step?.kind);
  if (step === undefined || kind === undefined) throw notFound();
  return { series, step, kind };
}

/** Sends the page of a stored step, after a refusal with the submitted values and their problems. */
async function showStored(
  request: FastifyRequest<StepCall>,
  reply: FastifyReply,
  sent: { values?: StepFields; problems?: Problems; problem?: string } = {},
) {
  const viewer = viewerOf(request);
  const { series, step, kind } = await readStep(request);
  const choices = await readStepChoices(request);
  const frame = {
    title: languageOf(request, viewer).say(`automations.step.${kind}`),
    section: 'automations',
    action: <BackToEdit utr={series.utr} />,
  } as const;
  const values = sent.values ?? storedStep(step, kind);
  return sendPage(request, reply, viewer, frame, <EditStep {...{ series, step, choices, ...sent, values }} />);
}

/** Registers the page that changes the settings of a step. */
function storedStepScreen(app: FastifyInstance): void {
  pageRoute<StepCall>(app, '/automations/:automation/steps/:utr', (request, reply) => {
    requireEditor(request);
    return showStored(request, reply);
  });

  app.post<StepCall>('/automations/:automation/steps/:utr', async (request, reply) => {
    const { series, step, kind } = await readStep(request);
    const values = submittedStep(request, kind);
    const unchanged_since = field(request, 'unchanged_since');
    const wait = { waiting_type: values.waiting_type, waiting_period: values.waiting_period };
    const settings = ownSettings(kind, { ...values, hour: values.until === 'hour' ? values.hour : values.hour || '0' });
    const blank = REQUIRED_NUMBERS.filter((name) => settings[name] === '');
    if (blank.length > 0) {
      const language = languageOf(request, viewerOf(request));
      const problems = Object.fromEntries(blank.map((name) => [name, [language.sentence(messages.required(name))]]));
      return showStored(request, reply.code(422), { values, problems });
    }
    const changed = await attemptChange(
      request,
      changeStep,
      { ...settings, ...wait, utr: step.utr, unchanged_since },
      (effects) => {
        const concerning = concerningMail(effects, step.utr);
        return { ...concerning, people: concerning.people.filter(({ moved }) => moved > 0) };
      },
    );
    if ('asked' in changed)
      return sendQuestion(request, reply, {
        series,
        effects: changed.asked,
        action: stepAddress(series.utr, step.utr),
        fields: { ...values, unchanged_since },
        submit: languageOf(request, viewerOf(request)).say('compose.save'),
      });
    if ('output' in changed) {
      setFlash(reply, 'good', 'compose.saved');
      return reply.redirect(`${editAddress(series.utr)}#mails`, 303);
    }
    const stored = { updated_at: step.updated_at, changed_by: series.changed_by };
    const problem = refusalText(request, changed, stored);
    return showStored(request, reply.code(changed.status), { values, problems: changed.problems, problem });
  });
}

/** Registers the page that asks whether to remove a step, and removes it. */
function removeStepScreen(app: FastifyInstance): void {
  pageRoute<StepCall>(app, '/automations/:automation/steps/:utr/remove', async (request, reply) => {
    const { series, step } = await readStep(request);
    const language = languageOf(request, viewerOf(request));
    const tried = await withAnnouncedWork(() => attempt(request, removeStep, { utr: step.utr, dry_run: 1 }));
    if ('problems' in tried) return showStored(request, reply.code(tried.status), { problem: tried.problem });
    return sendQuestion(request, reply, {
      series,
      effects: concerningMail(tried.output.effects, step.utr),
      action: `${stepAddress(series.utr, step.utr)}/remove`,
      fields: {},
      submit: language.say('automations.removeStep'),
      removal: language.say('automations.removeStep.what', { step: stepText(language, step) }),
    });
  });

  app.post<StepCall>('/automations/:automation/steps/:utr/remove', async (request, reply) => {
    const { series, step } = await readStep(request);
    const removed = await attempt(request, removeStep, { utr: step.utr });
    if ('problems' in removed) return showStored(request, reply.code(removed.status), { problem: removed.problem });
    return reply.redirect(`${editAddress(series.utr)}#mails`, 303);
  });
}

/** The list of the kinds of steps. Each kind links to the form for a new step of this kind. */
function Kinds({ utr, place }: { utr: string; place: Place }) {
  const language = useLanguage();
  return (
    <ul class="recipes">
      {OTHER_KINDS.map((kind) => (
        <li key={kind} class="card">
          <h2>
            <a href={withQuery(`${automationAddress(utr)}/steps/new`, { kind, ...place })}>
              {language.say(`automations.step.${kind}`)}
            </a>
          </h2>
          <p class="quiet-text">{language.say(`automations.step.${kind}.about`)}</p>
        </li>
      ))}
    </ul>
  );
}

/** The choices that the form of a step offers. */
interface StepChoices {
  targets: readonly Target[];
  /** The custom fields of the account. */
  fields: readonly Field[];
  /** The names of events that have been reported. */
  events: readonly string[];
}

async function readStepChoices(request: FastifyRequest): Promise<StepChoices> {
  const [targets, fields, { events }] = await Promise.all([
    readTargets(request),
    ask(request, listOwnFields, {}),
    ask(request, listNames, {}),
  ]);
  return { targets, fields, events };
}

interface FormProps<Fields> {
  series: Series;
  choices: StepChoices;
  values: Fields;
  problems?: Problems;
  problem?: string;
}

function AddStep({ series, choices, values, problems = {}, problem }: FormProps<NewStep>) {
  const language = useLanguage();
  const { kind, before, parent, branch } = values;
  return (
    <>
      <Problem>{problem}</Problem>
      {series.is_live === 1 && <Notice>{language.say('automations.addStep.isLive')}</Notice>}
      <Card>
        <p class="quiet-text">{language.say(`automations.step.${kind}.about`)}</p>
        <form method="post" action={`${automationAddress(series.utr)}/steps/new`} class="narrow">
          <input type="hidden" name="kind" value={kind} />
          <Settings {...choices} values={values} problems={problems} />
          <WaitFields values={values} isFirst={isFirst(series, before)} problems={problems} />
          <AddingEnd series={series} place={{ before, parent, branch }} label={language.say('automations.addStep')} />
        </form>
      </Card>
    </>
  );
}

function EditStep({
  series,
  step,
  choices,
  values,
  problems = {},
  problem,
}: FormProps<StepFields> & { step: SeriesStep }) {
  const language = useLanguage();
  return (
    <>
      <Problem>{problem}</Problem>
      {series.is_live === 1 && <Notice>{language.say('automations.isLive', { count: series.people.waiting })}</Notice>}
      <Card>
        <p class="quiet-text">{language.say(`automations.step.${values.kind}.about`)}</p>
        <form method="post" action={stepAddress(series.utr, step.utr)} class="narrow">
          <Settings {...choices} values={values} problems={problems} />
          <WaitFields values={values} isFirst={isFirst(series, step.utr)} problems={problems} />
          <input type="hidden" name="unchanged_since" value={step.updated_at} />
          <div class="buttons">
            <Button label={language.say('compose.save')} />
            <LinkButton look="quiet" href={editAddress(series.utr)} label={language.say('confirm.cancel')} />
          </div>
        </form>
      </Card>
    </>
  );
}

type SettingsProps = StepChoices & { values: StepFields; problems: Problems };

/** The form fields for the settings of a step, which depend on the kind of step. */
function Settings({ targets, fields, events, values, problems }: SettingsProps) {
  const language = useLanguage();
  const none = { value: '', label: language.say('word.choose') };
  switch (values.kind) {
    case 'exit':
      return null;
    case 'split':
      return (
        <TextField
          name="share"
          type="number"
          min={1}
          max={99}
          label={language.say('automations.step.share')}
          value={values.share}
          problems={problems}
        />
      );
    case 'set_field':
      return (
        <>
          <SelectField
            name="field"
            label={language.say('automations.step.field')}
            value={values.field}
            options={[
              none,
              ...fieldOptions(language, [...SETTABLE_FIELDS, ...fields.map(({ field_name }) => field_name)]),
            ]}
            problems={problems}
          />
          <TextField
            name="value"
            label={language.say('automations.step.value')}
            hint={language.say('automations.step.value.hint')}
            value={values.value}
            maxLength={MAX_LINE_CHARACTERS}
            autocomplete="off"
            problems={problems}
          />
        </>
      );
    case 'wait_until':
      return <WaitSettings {...{ fields, events, values, problems }} />;
    case 'webhook':
      return (
        <TextField
          name="value"
          label={language.say('automations.step.note')}
          hint={language.say('automations.step.note.hint')}
          value={values.value}
          maxLength={MAX_LINE_CHARACTERS}
          autocomplete="off"
          problems={problems}
        />
      );
    case 'move':
      return (
        <SelectField
          name="contact_type_id"
          label={language.say('automations.step.list')}
          value={values.contact_type_id}
          options={[none, ...withDeleted(language, targetOptions(targets, 'list'), values.contact_type_id)]}
          problems={problems}
        />
      );
    default:
      return (
        <SelectField
          name="segment_id"
          label={language.say('automations.step.segment')}
          hint={
            <a href="/contacts/segments/new" target="_blank" rel="noreferrer">
              {language.say('segments.new')}
            </a>
          }
          value={values.segment_id}
          options={[none, ...withDeleted(language, targetOptions(targets, 'segment'), values.segment_id)]}
          problems={problems}
        />
      );
  }
}

/** Returns the options, with an option for the chosen list or segment if it was deleted, so that the form keeps the choice. */
function withDeleted(language: Language, options: ReturnType<typeof targetOptions>, chosen: string) {
  const isKnown = chosen === '' || options.some(({ value }) => value === chosen);
  return isKnown ? options : [{ value: chosen, label: language.say('automations.step.choice.deleted') }, ...options];
}

function fieldOptions(language: Language, names: readonly string[]): { value: string; label: string }[] {
  return names.map((value) => ({ value, label: fieldLabel(language, value) }));
}

/** The form fields of a wait. The style sheet hides the fields that do not fit what contacts wait for. */
function WaitSettings({ fields, events, values, problems }: Omit<SettingsProps, 'targets'>) {
  const language = useLanguage();
  const dates = fields.filter(({ field_type }) => isDateType(field_type)).map(({ field_name }) => field_name);
  return (
    <div class="until stack">
      <SelectField
        name="until"
        label={language.say('automations.step.until')}
        value={values.until}
        options={AWAITED.map((value) => ({ value, label: language.say(`automations.step.until.${value}`) }))}
        problems={problems}
      />
      <EventFields
        names={['event', 'event_filter']}
        values={[values.event, values.event_filter]}
        events={events}
        hint={language.say('automations.step.event.hint')}
        problems={problems}
      />
      <SelectField
        name="field"
        label={language.say('automations.step.dateField')}
        value={values.field}
        options={[{ value: '', label: language.say('word.choose') }, ...fieldOptions(language, dates)]}
        problems={problems}
      />
      <SelectField
        name="weekday"
        label={language.say('automations.step.weekday')}
        value={values.weekday}
        options={WEEKDAYS.map((day) => ({ value: String(day), label: weekdayName(language, day) }))}
        problems={problems}
      />
      <TextField
        name="hour"
        type="number"
        min={0}
        max={23}
        label={language.say('automations.step.hour')}
        hint={language.say('automations.step.hour.hint')}
        value={values.hour}
        problems={problems}
      />
      <TextField
        name="timeout_hours"
        type="number"
        min={1}
        label={language.say('automations.step.timeout')}
        hint={language.say('automations.step.timeout.hint')}
        value={values.timeout_hours}
        problems={problems}
      />
    </div>
  );
}
