/** Bulk actions on contacts: the confirmation page with the number of contacts, and the page with the progress. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { contactJobs } from '../../../database/schema/index.ts';
import { type ById, pageRoute } from '../../../http/pages/layout.ts';
import { Button, LinkButton } from '../../../ui/components/button.tsx';
import { Meter, Stats } from '../../../ui/components/figures.tsx';
import { Island, LiveNotes } from '../../../ui/components/island.tsx';
import { Card, Notice } from '../../../ui/components/surface.tsx';
import { ask, attempt, type Refusal } from '../../../ui/operations.ts';
import { languageOf, sendPage } from '../../../ui/page.tsx';
import { viewerOf } from '../../../ui/signed-in.ts';
import { texts } from '../../../ui/submitted.ts';
import { type Language, useLanguage } from '../../../ui/words/index.ts';
import {
  type Choices,
  listAddress,
  type PeopleFilter,
  readChoices,
  readFilter,
} from '../../contacts/screens/filter.tsx';
import { FilterInputs, findPeople } from '../../contacts/screens/list.tsx';
import {
  type Action,
  cancelAction,
  confirmAction,
  readAction,
  startAction,
  TARGETS,
  undoAction,
} from '../operations.ts';

/** How often the page of a running action reads the progress. */
const POLL_MS = 1000;

/** The request of the list's form or of the confirmation. */
interface ActionRequest {
  filter: PeopleFilter;
  ids: string[];
  isEverything: boolean;
  action: Action['action'] | null;
  target: string;
}

/** Registers the pages of bulk actions on contacts. */
export async function peopleActions(app: FastifyInstance): Promise<void> {
  app.post('/contacts/actions', async (request, reply) => {
    const viewer = viewerOf(request);
    const language = languageOf(request, viewer);
    const submitted = readActionRequest(request.body);
    if (submitted.action === null || (!submitted.isEverything && submitted.ids.length === 0)) {
      const missing = submitted.action === null ? 'contacts.action.none' : 'contacts.action.nobody';
      const content = <Notice tone="warn">{language.say(missing)}</Notice>;
      reply.code(422);
      return sendPage(request, reply, viewer, frame(language), content);
    }
    const count = submitted.isEverything ? await countEverybody(request, submitted.filter) : submitted.ids.length;
    // If the search has not counted all matches, the action collects the contacts first, and its page asks for the confirmation.
    if (count === null) return start(request, reply, submitted, true);
    if (count === 0) {
      const content = <Notice tone="warn">{language.say('contacts.action.nobodyMatches')}</Notice>;
      reply.code(422);
      return sendPage(request, reply, viewer, frame(language), content);
    }
    const choices = await readChoices(request);
    return sendPage(request, reply, viewer, frame(language), <Confirm {...{ submitted, choices, count }} />);
  });

  app.post('/contacts/actions/start', (request, reply) =>
    start(request, reply, readActionRequest(request.body), false),
  );

  async function start(
    request: FastifyRequest,
    reply: FastifyReply,
    submitted: ActionRequest,
    needsConfirmation: boolean,
  ) {
    const { filter, ids, isEverything, action, target } = submitted;
    const parameter = action && TARGETS[action];
    const started = await attempt(request, startAction, {
      ...(isEverything ? { everything: 1, ...filter.chosen } : { strIds: ids }),
      action,
      ...(parameter && { [parameter]: target }),
      needs_confirmation: needsConfirmation ? 1 : 0,
    });
    if ('output' in started) return reply.redirect(`/contacts/actions/${started.output.job.id}`, 303);
    return refuse(request, reply, started);
  }

  pageRoute<ById>(app, '/contacts/actions/:id', async (request, reply) => {
    const viewer = viewerOf(request);
    const language = languageOf(request, viewer);
    const { job } = await ask(request, readAction, { id: request.params.id });
    const choices = await readChoices(request);
    const title = actionTitle(language, job, choices);
    const question = job.state === 'ready' ? actionQuestion(language, job, choices) : null;
    const content = <ActionProgress {...{ job, title, question }} canChange={viewer.role !== 'viewer'} />;
    return sendPage(request, reply, viewer, frame(language), content);
  });

  for (const [change, operation] of Object.entries({
    confirm: confirmAction,
    cancel: cancelAction,
    undo: undoAction,
  })) {
    app.post<ById>(`/contacts/actions/:id/${change}`, async (request, reply) => {
      const { id } = request.params;
      const changed = await attempt(request, operation, { id });
      if ('output' in changed) return reply.redirect(`/contacts/actions/${encodeURIComponent(id)}`, 303);
      return refuse(request, reply, changed);
    });
  }
}

function refuse(request: FastifyRequest, reply: FastifyReply, refusal: Refusal) {
  const viewer = viewerOf(request);
  const content = (
    <Notice tone="bad" isNews>
      {refusal.text}
    </Notice>
  );
  return sendPage(request, reply.code(refusal.status), viewer, frame(languageOf(request, viewer)), content);
}

const frame = (language: Language) => ({ title: language.say('contacts.action.title'), section: 'contacts' }) as const;

function readActionRequest(body: unknown): ActionRequest {
  const values: Record<string, unknown> = Object.assign(Object.create(null), body);
  const [kind, target = ''] = (texts(values.action)[0] ?? '').split(':');
  const action = contactJobs.action.enumValues.find((known) => known === kind) ?? null;
  const isEverything = texts(values.whom)[0] === 'everything';
  return { filter: readFilter(body), ids: texts(values.ids), isEverything, action, target };
}

/** Returns how many contacts match; null if the search did not count all of them. */
async function countEverybody(request: FastifyRequest, { chosen }: PeopleFilter): Promise<number | null> {
  const contacts = await findPeople(request, { chosen, view: {}, fields: [] }, 1);
  return contacts.is_total_exact === 1 && contacts.is_indexing === 0 ? (contacts.total ?? 0) : null;
}

function Confirm({ submitted, choices, count }: { submitted: ActionRequest; choices: Choices; count: number }) {
  const language = useLanguage();
  const action = submitted.action ?? 'delete';
  const text = actionQuestion(language, { action, target_id: Number(submitted.target), whole: count }, choices);
  return (
    <Card title={text}>
      <form method="post" action="/contacts/actions/start">
        <UndoNote action={action} />
        {submitted.isEverything ? (
          <FilterInputs filter={submitted.filter} />
        ) : (
          submitted.ids.map((id) => <input key={id} type="hidden" name="ids" value={id} />)
        )}
        <input type="hidden" name="whom" value={submitted.isEverything ? 'everything' : 'chosen'} />
        <input type="hidden" name="action" value={`${submitted.action}:${submitted.target}`} />
        <div class="buttons">
          <ConfirmButton action={action} count={count} />
          <LinkButton look="plain" href={listAddress(submitted.filter)} label={language.say('contacts.confirm.no')} />
        </div>
      </form>
    </Card>
  );
}

/**
 * The progress of an action, and its buttons. `title` names the action; `question` is the text to confirm in the state ready. The
 * buttons are a separate part, which is replaced only when they change, so that a focused button stays while the figures change.
 */
function ActionProgress({
  job,
  title,
  question,
  canChange,
}: {
  job: Action;
  title: string;
  question: string | null;
  canChange: boolean;
}) {
  const language = useLanguage();
  const isActive = ['selecting', 'running', 'undoing'].includes(job.state);
  const finished = job.state === 'undoing' ? job.whole - job.done : job.done + job.skipped;
  const state = language.say(`contacts.job.${job.state}`);
  const progress =
    question ??
    (job.state === 'selecting'
      ? language.say('contacts.count', { count: job.whole })
      : language.say('word.of', { finished, count: job.whole }));
  const button = (change: 'cancel' | 'undo') => (
    <form method="post" action={`/contacts/actions/${job.id}/${change}`}>
      <Button
        look="plain"
        label={language.say(job.state === 'ready' ? 'contacts.confirm.no' : `contacts.job.${change}`)}
      />
    </form>
  );
  return (
    <Island name="live" data={{ every: isActive ? POLL_MS : 0, results: '#people-job, #people-job-buttons' }}>
      <LiveNotes />
      <Card title={title}>
        <div id="people-job" class="stack" data-active={isActive ? 'yes' : 'no'} data-news={`${state} ${progress}`}>
          <p>{state}</p>
          {question !== null && (
            <>
              <h3>{question}</h3>
              <UndoNote action={job.action} />
            </>
          )}
          {isActive && <Meter label={language.say('contacts.job.progress')} value={finished} max={job.whole} />}
          {question === null && (
            <Stats
              figures={[
                { label: language.say('contacts.job.whole'), value: language.number(job.whole) },
                { label: language.say('contacts.job.finished'), value: language.number(job.done) },
                { label: language.say('contacts.job.skipped'), value: language.number(job.skipped) },
              ]}
            />
          )}
        </div>
        {canChange && (
          <div id="people-job-buttons" class="buttons">
            {job.state === 'ready' && (
              <form method="post" action={`/contacts/actions/${job.id}/confirm`}>
                <ConfirmButton action={job.action} count={job.whole} />
              </form>
            )}
            {(job.state === 'selecting' || job.state === 'ready' || job.state === 'running') && button('cancel')}
            {job.is_undoable === 1 && button('undo')}
            <LinkButton look="quiet" href="/contacts" label={language.say('contacts.back')} />
          </div>
        )}
      </Card>
    </Island>
  );
}

type ActionAndTarget = Pick<Action, 'action' | 'target_id'>;

/** Returns the name of the contact type, segment or group of an action; undefined if the action has none or it no longer exists. */
function targetName(
  { action, target_id: id }: ActionAndTarget,
  { types, segments, groups }: Choices,
): string | undefined {
  if (action === 'move') return types.find((type) => type.id === id)?.name;
  if (action === 'segment') return segments.find((segment) => segment.id === id)?.segment_name;
  return action === 'unsubscribe' ? groups.find((group) => group.id === id)?.group_name : undefined;
}

/** Returns the name of an action with that of its contact type, segment or group. */
export function actionTitle(language: Language, job: ActionAndTarget, choices: Choices): string {
  const { action, target_id } = job;
  const isFromAllMail = action === 'unsubscribe' && target_id === null;
  const name = isFromAllMail ? language.say('person.allMail') : targetName(job, choices);
  if (action === 'delete' || name === undefined) return language.say(`contacts.job.${action}`);
  return language.say(`contacts.job.${action}.named`, { name });
}

/** Returns the question before an action, with the number of contacts. */
function actionQuestion(language: Language, job: ActionAndTarget & { whole: number }, choices: Choices): string {
  const { action, whole } = job;
  const people = language.say('contacts.count', { count: whole });
  const name = targetName(job, choices);
  if (action === 'delete') return language.say('contacts.confirm.delete', { people });
  if (action === 'unsubscribe' && name === undefined)
    return language.say('contacts.confirm.unsubscribeAll', { people });
  return language.say(`contacts.confirm.${action}`, { people, name: name ?? '' });
}

/** Tells the user who confirms an action whether it can be undone. */
function UndoNote({ action }: Pick<Action, 'action'>) {
  const isUndoable = action === 'move' || action === 'delete';
  return (
    <p class="quiet-text">{useLanguage().say(isUndoable ? 'contacts.confirm.undoable' : 'contacts.confirm.final')}</p>
  );
}

function ConfirmButton({ action, count }: Pick<Action, 'action'> & { count: number }) {
  const language = useLanguage();
  const people = language.say('contacts.count', { count });
  return (
    <Button
      look={action === 'delete' ? 'danger' : 'primary'}
      label={language.say(`contacts.confirm.yes.${action}`, { people })}
    />
  );
}
