/**
 * What all steps of composing a campaign have in common: the list of steps above the form, the form that saves itself, the choice between two
 * versions after a conflict, and the list of what the campaign still lacks.
 */
import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ComponentChildren, VNode } from 'preact';
import { listGroups } from '../../../audience/unsubscribed/groups.ts';
import { SINGLE_SEND_STATUS } from '../../../database/schema/index.ts';
import { type ByUtr, pageRoute } from '../../../http/pages/layout.ts';
import { listSenders } from '../../../senders/operations/senders.ts';
import { Button, LinkButton } from '../../../ui/components/button.tsx';
import type { Problems } from '../../../ui/components/field.tsx';
import { Icon } from '../../../ui/components/icon.tsx';
import { Island } from '../../../ui/components/island.tsx';
import { Notice, Problem } from '../../../ui/components/surface.tsx';
import { Table } from '../../../ui/components/table.tsx';
import { setFlash } from '../../../ui/flash.ts';
import { ask, attempt } from '../../../ui/operations.ts';
import { languageOf, sendPage } from '../../../ui/page.tsx';
import { recordTime } from '../../../ui/record-time.ts';
import { viewerOf } from '../../../ui/signed-in.ts';
import { field } from '../../../ui/submitted.ts';
import { type Language, useLanguage } from '../../../ui/words/index.ts';
import { type Audience, type Draft, readDraft, saveDraft } from '../../operations/drafts.ts';
import { readTargets } from './targets.ts';

const STEPS = ['audience', 'content', 'check', 'schedule'] as const;
type Step = (typeof STEPS)[number];

/** Returns the path of the page of a step. */
export function stepPath(utr: string, step: string): string {
  return `/campaigns/${encodeURIComponent(utr)}/edit/${step}`;
}

/**
 * Returns the time zone in which pages show the times of campaigns: that of the account, or that of the user if the account's is UTC, which is
 * the default of an installation.
 */
export function campaignZone(language: Language, accountZone: string): string {
  return accountZone === 'UTC' ? language.zone : accountZone;
}

/** Sends the page of a step. `problem` says why the submitted form was refused. */
export function sendStep(
  request: FastifyRequest,
  reply: FastifyReply,
  draft: Draft,
  current: Step,
  content: VNode,
  problem = '',
) {
  const viewer = viewerOf(request);
  const language = languageOf(request, viewer);
  const frame = {
    title: draft.single_send_name,
    section: 'campaigns',
    action: <LinkButton look="plain" href={`/campaigns/${draft.utr}`} label={language.say('compose.back')} />,
  } as const;
  const page = (
    <>
      <Stepper draft={draft} current={current} />
      {draft.status === SINGLE_SEND_STATUS.queued && <Notice>{language.say('compose.isQueued')}</Notice>}
      <Problem>{problem}</Problem>
      {content}
    </>
  );
  return sendPage(request, reply, viewer, frame, page);
}

/** The steps in their order. Steps that have everything they need are ticked. An automatic save updates the ticks. */
function Stepper({ draft, current }: { draft: Draft; current: Step }) {
  const language = useLanguage();
  return (
    <nav aria-label={language.say('compose.steps')}>
      <ol class="stepper" id="compose-steps" data-fresh>
        {STEPS.map((step) => (
          <li key={step} class={isDone(draft, step) ? 'done' : undefined}>
            <a href={stepPath(draft.utr, step)} {...(step === current && { 'aria-current': 'step' as const })}>
              {isDone(draft, step) && <Icon name="check" />}
              {language.say(`compose.step.${step}`)}
              {isDone(draft, step) && <span class="visually-hidden"> ({language.say('compose.step.done')})</span>}
            </a>
          </li>
        ))}
      </ol>
    </nav>
  );
}

/** Returns true if the draft has everything that is chosen or written in a step. */
export function isDone(draft: StepNeeds, step: Step): boolean {
  switch (step) {
    case 'audience':
      return draft.recipient_id.length > 0 && draft.sender_id !== 0 && draft.unsubscribe_group_id !== 0;
    case 'content':
      return draft.subject !== '' && draft.preheader !== '' && draft.content !== 'none';
    case 'schedule':
      return draft.status === SINGLE_SEND_STATUS.queued;
    case 'check':
      // It is unknown whether somebody has looked at the check, because nothing records it.
      return false;
  }
}

type StepNeeds = Pick<
  Draft,
  'recipient_id' | 'sender_id' | 'unsubscribe_group_id' | 'subject' | 'preheader' | 'content' | 'status'
>;

/**
 * A form that saves itself a few seconds after the last change. Without scripts it is saved when it is submitted. `seen` is the `seenValue` of
 * its stored fields. Each save also updates the elements in `children` and `beside` that have an id and `data-fresh`.
 */
export function SavedForm({
  draft,
  step,
  seen,
  children,
  beside,
}: {
  draft: Draft;
  step: Step;
  seen: string;
  children: ComponentChildren;
  beside?: ComponentChildren;
}) {
  const language = useLanguage();
  const saved = recordTime(draft.updated_at);
  const texts = {
    unsaved: language.say('compose.unsaved'),
    saving: language.say('compose.saving'),
    failed: language.say('compose.noNetwork'),
    refused: language.fill('compose.notSaved', {}),
    conflict: language.say('compose.changedElsewhere'),
    signedOut: language.say('compose.signedOut'),
  };
  return (
    <Island name="autosave" data={texts}>
      <div class="compose">
        <form method="post" action={stepPath(draft.utr, step)} class="stack" data-autosave>
          {children}
          <div class="buttons">
            <button type="submit" class="primary" name="next" value="1">
              {language.say('compose.saveAndNext')}
            </button>
            <button type="submit" class="plain">
              {language.say('compose.save')}
            </button>
            <span class="small quiet-text" role="status" id="save-state" data-fresh>
              {saved !== null && language.say('compose.savedAt', { time: language.dateTime(saved) })}
            </span>
          </div>
          <input type="hidden" name="unchanged_since" value={draft.updated_at} />
          <input type="hidden" name="seen" value={seen} />
        </form>
        {beside && <div class="stack compose-beside">{beside}</div>}
      </div>
    </Island>
  );
}

export type Choices = Awaited<ReturnType<typeof readChoices>>;
export type SenderChoice = Choices['senders'][number];

/** Reads the targets, senders and topics of the account. */
export async function readChoices(request: FastifyRequest) {
  const [targets, senders, groups] = await Promise.all([
    readTargets(request),
    ask(request, listSenders, {}),
    ask(request, listGroups, {}),
  ]);
  return { targets, senders, groups };
}

/** A step whose form is saved automatically. */
interface SavedStep {
  step: Step;
  /** Returns the submitted values. */
  submitted(request: FastifyRequest): Fields;
  /** Returns the stored values. */
  stored(draft: Draft): Fields;
  /** Returns the form with these values and their problems. */
  content(request: FastifyRequest, draft: Draft, values: Fields, problems: Problems): Promise<VNode>;
}

/** Registers the page of a step, and the route that saves its form. */
export function savedStep(app: FastifyInstance, savedForm: SavedStep): void {
  const { step } = savedForm;
  const url = `/campaigns/:utr/edit/${step}`;
  pageRoute<ByUtr>(app, url, async (request, reply) => {
    const { draft } = await ask(request, readDraft, request.params);
    const content = await savedForm.content(request, draft, savedForm.stored(draft), {});
    return sendStep(request, reply, draft, step, content);
  });
  app.post<ByUtr>(url, (request, reply) => saveStep(request, reply, savedForm));
}

/**
 * Saves a step. Answers with a redirect to the next or the same step, with the form and its problems, or, if somebody else has changed the same
 * fields meanwhile, with the page on which one of both versions is chosen.
 */
async function saveStep(request: FastifyRequest<ByUtr>, reply: FastifyReply, { step, ...form }: SavedStep) {
  const { utr } = request.params;
  const values = form.submitted(request);
  const save = (unchangedSince: string) =>
    attempt(request, saveDraft, { ...values, utr, ...(unchangedSince && { unchanged_since: unchangedSince }) });
  let saved = await save(field(request, 'unchanged_since'));
  if ('problems' in saved && saved.status === 409) {
    const { draft } = await ask(request, readDraft, { utr });
    if (draft.status > SINGLE_SEND_STATUS.queued) return leaveSteps(reply, utr);
    const stored = form.stored(draft);
    const storedValues = Object.fromEntries(Object.keys(values).map((name) => [name, stored[name] ?? '']));
    const storedDigest = seenValue(storedValues);
    // Nothing is lost if the fields of this step are unchanged, or somebody else saved the same values.
    const isHarmless = field(request, 'seen') === storedDigest || seenValue(values) === storedDigest;
    if (!isHarmless) return sendConflict(request, reply.code(409), { draft, step, values, storedValues });
    saved = await save(draft.updated_at);
  }
  if ('problems' in saved) {
    const { draft } = await ask(request, readDraft, { utr });
    const content = await form.content(request, draft, values, saved.problems);
    return sendStep(request, reply.code(saved.status), draft, step, content, saved.problem);
  }
  const goesOn = field(request, 'next') !== '';
  const next = goesOn ? (STEPS[STEPS.indexOf(step) + 1] ?? step) : step;
  if (!goesOn && request.headers['x-autosave'] === undefined) setFlash(reply, 'good', 'compose.saved');
  return reply.redirect(stepPath(utr, next), 303);
}

/** Redirects to the page of a campaign that can no longer be changed, because it is sending or was sent. */
export function leaveSteps(reply: FastifyReply, utr: string) {
  setFlash(reply, 'bad', 'compose.locked');
  return reply.redirect(`/campaigns/${encodeURIComponent(utr)}`, 303);
}

/** A submitted form whose fields somebody else has changed meanwhile. */
interface Conflict {
  draft: Draft;
  step: Step;
  /** The submitted values. */
  values: Fields;
  /** The values that somebody else has stored meanwhile. */
  storedValues: Fields;
}

/** Sends the page on which the user chooses one of both versions. */
async function sendConflict(request: FastifyRequest, reply: FastifyReply, conflict: Conflict) {
  const viewer = viewerOf(request);
  const title = languageOf(request, viewer).say('compose.conflict.title');
  const content = <Versions {...conflict} choices={await readChoices(request)} />;
  return sendPage(request, reply, viewer, { title, section: 'campaigns' }, content);
}

function Versions({ draft, step, values, storedValues, choices }: Conflict & { choices: Choices }) {
  const language = useLanguage();
  const saved = recordTime(draft.updated_at);
  const time = saved === null ? '' : language.dateTime(saved);
  const rows = Object.keys(values).filter((name) => String(values[name]) !== String(storedValues[name]));
  return (
    <>
      <Notice tone="warn" isNews>
        {draft.changed_by === null
          ? language.say('compose.conflict.about', { time })
          : language.say('compose.conflict.by', { time, name: draft.changed_by })}
      </Notice>
      <Table
        caption={language.say('compose.conflict.title')}
        rows={rows}
        keyOf={(name) => name}
        columns={[
          { heading: language.say('compose.conflict.what'), cell: (name) => fieldName(language, name) },
          {
            heading: language.say('compose.conflict.mine'),
            cell: (name) => fieldValue(language, choices, name, values[name]),
          },
          {
            heading: language.say('compose.conflict.theirs'),
            cell: (name) => fieldValue(language, choices, name, storedValues[name]),
          },
        ]}
      />
      <form method="post" action={stepPath(draft.utr, step)} class="buttons">
        <input type="hidden" name="unchanged_since" value={draft.updated_at} />
        <input type="hidden" name="seen" value={seenValue(storedValues)} />
        {Object.entries(values).flatMap(([name, value]) =>
          [value].flat().map((text) => <input key={`${name} ${text}`} type="hidden" name={name} value={text} />),
        )}
        <Button label={language.say('compose.conflict.keepMine')} />
        <LinkButton look="plain" href={stepPath(draft.utr, step)} label={language.say('compose.conflict.keepTheirs')} />
      </form>
    </>
  );
}

function fieldName(language: Language, name: string): string {
  switch (name) {
    case 'recipient_id':
      return language.say('compose.audience.to');
    case 'exclude_specific_recipient_id':
      return language.say('compose.audience.not');
    case 'sender_id':
      return language.say('compose.sender');
    case 'unsubscribe_group_id':
      return language.say('compose.group');
    case 'subject':
      return language.say('compose.subject');
    case 'preheader':
      return language.say('compose.preheader');
    default:
      return language.say('compose.name');
  }
}

/** The value of a field in words, such as the names of lists instead of their ids. */
function fieldValue(
  language: Language,
  { targets, senders, groups }: Choices,
  name: string,
  value: Fields[string] = '',
) {
  const texts = [value].flat().map((text) => {
    if (name === 'sender_id') return senders.find(({ id }) => String(id) === text)?.from_email ?? '';
    if (name === 'unsubscribe_group_id') return groups.find(({ id }) => String(id) === text)?.group_name ?? '';
    return name.endsWith('recipient_id') ? (targets.find((target) => target.value === text)?.name ?? '') : text;
  });
  return <bdi>{texts.filter(Boolean).join(', ') || language.say('compose.conflict.empty')}</bdi>;
}

/** The values of the fields of a step. */
export type Fields = Readonly<Record<string, string | readonly string[]>>;

/** Returns a digest of the values of a step. A form submits the digest, so that a save can tell whether somebody else has changed the values. */
export function seenValue(fields: Fields): string {
  const ordered = Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : [...value].sort(),
  ]);
  return createHash('sha256').update(JSON.stringify(ordered)).digest('base64url').slice(0, 22);
}

const MISSING = ['people', 'sender', 'group', 'subject', 'preheader', 'content'] as const;
type Missing = (typeof MISSING)[number];

type Needed = Pick<Draft, 'sender_id' | 'unsubscribe_group_id' | 'subject' | 'preheader' | 'content'>;

/** Returns what a campaign still lacks, in the order of the steps. */
export function missingParts(draft: Needed, audience: Audience): Missing[] {
  const has: Record<Missing, boolean> = {
    people: audience.recipients > 0,
    sender: draft.sender_id !== 0,
    group: draft.unsubscribe_group_id !== 0,
    subject: draft.subject !== '',
    preheader: draft.preheader !== '',
    content: draft.content !== 'none',
  };
  return MISSING.filter((part) => !has[part]);
}

const STEP_OF_PART = {
  people: 'audience',
  sender: 'audience',
  group: 'audience',
  subject: 'content',
  preheader: 'content',
  content: 'content',
} as const;

/** The parts of a campaign that are still missing, each with a link to its step; or a notice that nothing is missing. */
export function MissingParts({ utr, missing }: { utr: string; missing: ReturnType<typeof missingParts> }) {
  const language = useLanguage();
  if (missing.length === 0) return <Notice tone="good">{language.say('compose.check.complete')}</Notice>;
  return (
    <Notice tone="warn">
      <p>{language.say('compose.schedule.missing')}</p>
      <ul class="link-list">
        {missing.map((part) => (
          <li key={part}>
            <a href={stepPath(utr, STEP_OF_PART[part])}>{language.say(`compose.missing.${part}`)}</a>
          </li>
        ))}
      </ul>
    </Notice>
  );
}
