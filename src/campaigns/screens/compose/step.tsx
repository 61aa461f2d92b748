/**
 * A step of composing a campaign: the list of steps above it, its form, which saves itself, the choice between two
 * versions, and what the campaign still lacks.
 */

import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ComponentChildren, VNode } from 'preact';
import { listGroups } from '../../../audience/unsubscribed/groups.ts';
import { SINGLE_SEND_STATUS } from '../../../database/schema/index.ts';
import { pageRoute } from '../../../http/pages/layout.ts';
import { listSenders } from '../../../senders/operations/senders.ts';
import { Button, LinkButton } from '../../../ui/components/button.tsx';
import type { Problems } from '../../../ui/components/field.tsx';
import { Icon } from '../../../ui/components/icon.tsx';
import { Island } from '../../../ui/components/island.tsx';
import { Notice } from '../../../ui/components/surface.tsx';
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

/** The path of a step's page. */
export function stepPath(utr: string, step: string): string {
  return `/campaigns/${encodeURIComponent(utr)}/edit/${step}`;
}

/**
 * Returns the time zone in which campaigns are planned: the account's, or the user's own if the account's is UTC, the
 * default of an installation without a time zone.
 */
export function usualZone(language: Language, accountZone: string): string {
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
  const frame = {
    title: draft.single_send_name,
    section: 'campaigns',
    action: <ToCampaign utr={draft.utr} />,
  } as const;
  const page = (
    <>
      <Stepper draft={draft} current={current} />
      {draft.status === SINGLE_SEND_STATUS.queued && (
        <Notice>
          <QueuedNote />
        </Notice>
      )}
      {problem !== '' && (
        <Notice tone="bad" isNews>
          {problem}
        </Notice>
      )}
      {content}
    </>
  );
  return sendPage(request, reply, viewerOf(request), frame, page);
}

function QueuedNote() {
  return <>{useLanguage().say('compose.isQueued')}</>;
}

function ToCampaign({ utr }: { utr: string }) {
  return <LinkButton look="plain" href={`/campaigns/${utr}`} label={useLanguage().say('compose.back')} />;
}

/** The steps in their order, those with everything they need ticked. An automatic save updates the ticks. */
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
    // Nothing records that somebody has looked at the check.
    case 'check':
      return false;
  }
}

type StepNeeds = Pick<
  Draft,
  'recipient_id' | 'sender_id' | 'unsubscribe_group_id' | 'subject' | 'preheader' | 'content' | 'status'
>;

/**
 * A form that saves itself a few seconds after the last change; without scripts it is saved on submit. `seen` is the result of `seenValue`
 * for its fields. Each save also updates the elements in `children` and `beside` that have an id and `data-fresh`.
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

/** Reads the choices of the account. */
export async function readChoices(request: FastifyRequest) {
  const [targets, senders, groups] = await Promise.all([
    readTargets(request),
    ask(request, listSenders, {}),
    ask(request, listGroups, {}),
  ]);
  return { targets, senders, groups };
}

const CONFLICT = 409;
const SEE_OTHER = 303;

/** A step whose form is saved automatically. */
interface SavedStep {
  step: Step;
  /** Returns the submitted fields. */
  submitted(request: FastifyRequest): Fields;
  /** Returns the stored fields. */
  stored(draft: Draft): Fields;
  /** Returns the form with these values and their problems. */
  content(request: FastifyRequest, draft: Draft, values: Fields, problems: Problems): Promise<VNode>;
}

interface ByUtr {
  Params: { utr: string };
}

/** Registers the page of a step and its form. */
export function savedStep(app: FastifyInstance, saved: SavedStep): void {
  const url = `/campaigns/:utr/edit/${saved.step}`;
  pageRoute<ByUtr>(app, url, async (request, reply) => {
    const { draft } = await ask(request, readDraft, request.params);
    const content = await saved.content(request, draft, saved.stored(draft), {});
    return sendStep(request, reply, draft, saved.step, content);
  });
  app.post<ByUtr>(url, (request, reply) => saveStep(request, reply, saved));
}

/** Saves a step. Answers with a redirect to the next or the same step, with the form again, or with the page to choose a version. */
async function saveStep(request: FastifyRequest<ByUtr>, reply: FastifyReply, { step, ...form }: SavedStep) {
  const { utr } = request.params;
  const values = form.submitted(request);
  const save = (since: string) =>
    attempt(request, saveDraft, { ...values, utr, ...(since && { unchanged_since: since }) });
  let saved = await save(field(request, 'unchanged_since'));
  if ('problems' in saved && saved.status === CONFLICT) {
    const { draft } = await ask(request, readDraft, { utr });
    if (draft.status > SINGLE_SEND_STATUS.queued) {
      setFlash(reply, 'bad', 'compose.locked');
      return reply.redirect(`/campaigns/${encodeURIComponent(utr)}`, SEE_OTHER);
    }
    const stored = form.stored(draft);
    const now = Object.fromEntries(Object.keys(values).map((name) => [name, stored[name] ?? '']));
    const seen = field(request, 'seen');
    // If another step, or the same values, were saved meanwhile, no text is lost.
    const isOwn = seen === seenValue(now) || seenValue(values) === seenValue(now);
    if (!isOwn) return sendConflict(request, reply.code(CONFLICT), { draft, step, values, now });
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
  return reply.redirect(stepPath(utr, next), SEE_OTHER);
}

interface Conflict {
  draft: Draft;
  step: Step;
  values: Fields;
  now: Fields;
}

/** Sends the page on which one version is chosen. */
async function sendConflict(request: FastifyRequest, reply: FastifyReply, conflict: Conflict) {
  const viewer = viewerOf(request);
  const title = languageOf(request, viewer).say('compose.conflict.title');
  const content = <Versions {...conflict} choices={await readChoices(request)} />;
  return sendPage(request, reply, viewer, { title, section: 'campaigns' }, content);
}

function Versions({ draft, step, values, now, choices }: Conflict & { choices: Choices }) {
  const language = useLanguage();
  const saved = recordTime(draft.updated_at);
  const time = saved === null ? '' : language.dateTime(saved);
  const rows = Object.keys(values).filter((name) => String(values[name]) !== String(now[name]));
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
          { heading: language.say('compose.conflict.what'), cell: (name) => label(language, name) },
          {
            heading: language.say('compose.conflict.mine'),
            cell: (name) => shown(language, choices, name, values[name]),
          },
          {
            heading: language.say('compose.conflict.theirs'),
            cell: (name) => shown(language, choices, name, now[name]),
          },
        ]}
      />
      <form method="post" action={stepPath(draft.utr, step)} class="buttons">
        <input type="hidden" name="unchanged_since" value={draft.updated_at} />
        <input type="hidden" name="seen" value={seenValue(now)} />
        {Object.entries(values).flatMap(([name, value]) =>
          [value].flat().map((text) => <input key={`${name} ${text}`} type="hidden" name={name} value={text} />),
        )}
        <Button label={language.say('compose.conflict.keepMine')} />
        <LinkButton look="plain" href={stepPath(draft.utr, step)} label={language.say('compose.conflict.keepTheirs')} />
      </form>
    </>
  );
}

function label(language: Language, name: string): string {
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

function shown(language: Language, { targets, senders, groups }: Choices, name: string, value: Fields[string] = '') {
  const texts = [value].flat().map((text) => {
    if (name === 'sender_id') return senders.find(({ id }) => String(id) === text)?.from_email ?? '';
    if (name === 'unsubscribe_group_id') return groups.find(({ id }) => String(id) === text)?.group_name ?? '';
    return name.endsWith('recipient_id') ? (targets.find((target) => target.value === text)?.name ?? '') : text;
  });
  return <bdi>{texts.filter(Boolean).join(', ') || language.say('compose.none')}</bdi>;
}

/** The fields that a step changes. */
export type Fields = Readonly<Record<string, string | readonly string[]>>;

/** Returns a digest of the fields' values, which a form submits to show later whether somebody else has changed them. */
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

const PLACES = {
  people: 'audience',
  sender: 'audience',
  group: 'audience',
  subject: 'content',
  preheader: 'content',
  content: 'content',
} as const;

/** The parts of a campaign that are still missing, each with a link to its step, or that nothing is missing. */
export function MissingParts({ utr, missing }: { utr: string; missing: ReturnType<typeof missingParts> }) {
  const language = useLanguage();
  if (missing.length === 0) return <Notice tone="good">{language.say('compose.check.complete')}</Notice>;
  return (
    <Notice tone="warn">
      <p>{language.say('compose.schedule.missing')}</p>
      <ul class="link-list">
        {missing.map((part) => (
          <li key={part}>
            <a href={stepPath(utr, PLACES[part])}>{language.say(`compose.missing.${part}`)}</a>
          </li>
        ))}
      </ul>
    </Notice>
  );
}
