/** Actions on many people: the page that says what will happen to how many, and the page that shows how far it is. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { READ } from '../../../http/pages/layout.ts';
import { type ApiAnswer, ApiClient, refusalText } from '../../api-client.ts';
import { Button, LinkButton } from '../../components/button.tsx';
import { Card, Notice } from '../../components/surface.tsx';
import { languageOf, sendPage } from '../../page.tsx';
import { viewerOf } from '../../signed-in.ts';
import { type Language, useLanguage } from '../../words/index.ts';
import { actionQuestion, actionTitle } from './action-question.ts';
import { listAddress, type PeopleFilter, readFilter, texts } from './filter.ts';
import { FilterInputs } from './found.tsx';
import { JobProgress } from './job-progress.tsx';
import { findPeople, readChoices } from './people.tsx';
import type { Choices, Job } from './records.ts';

const UNPROCESSABLE = 422;
const SEE_OTHER = 303;

/** What the form of the list or of the confirmation asks for. */
interface Request {
  filter: PeopleFilter;
  ids: string[];
  isEverything: boolean;
  action: Job['action'] | null;
  target: string;
}

export async function peopleActions(app: FastifyInstance): Promise<void> {
  app.post('/people/actions', async (request, reply) => {
    const viewer = viewerOf(request);
    const language = languageOf(request, viewer);
    const asked = readRequest(request.body);
    if (asked.action === null || (!asked.isEverything && asked.ids.length === 0)) {
      const missing = asked.action === null ? 'people.action.none' : 'people.action.nobody';
      const content = <Notice tone="warn">{language.say(missing)}</Notice>;
      reply.code(UNPROCESSABLE);
      return sendPage(request, reply, viewer, frame(language), content);
    }
    const api = new ApiClient(app, request);
    const count = asked.isEverything ? await countEverybody(api, asked.filter) : asked.ids.length;
    // The search has not counted to the end: the action collects the people first, and its page asks for the confirmation.
    if (count === null) return start(request, reply, asked, true);
    if (count === 0) {
      const content = <Notice tone="warn">{language.say('people.action.nobodyMatches')}</Notice>;
      reply.code(UNPROCESSABLE);
      return sendPage(request, reply, viewer, frame(language), content);
    }
    const choices = await readChoices(request);
    return sendPage(request, reply, viewer, frame(language), <Confirm {...{ asked, choices, count }} />);
  });

  app.post('/people/actions/start', (request, reply) => start(request, reply, readRequest(request.body), false));

  async function start(request: FastifyRequest, reply: FastifyReply, asked: Request, needsConfirmation: boolean) {
    const viewer = viewerOf(request);
    const { filter, ids, isEverything, action, target } = asked;
    const targets = {
      move: 'to_contact_type_id',
      segment: 'to_segment_id',
      unsubscribe: 'unsubscribe_groups_id',
      delete: '',
    };
    const name = action === null ? '' : targets[action];
    const answer: ApiAnswer<{ job: Job }> = await new ApiClient(app, request).send('POST', '/contacts/jobs/start', {
      ...(isEverything ? { everything: 1, ...filter.chosen } : { strIds: ids }),
      action,
      ...(name !== '' && { [name]: Number(target) }),
      ...(needsConfirmation && { needs_confirmation: 1 }),
    });
    if (answer.message) return reply.redirect(`/people/actions/${answer.message.job.id}`, SEE_OTHER);
    reply.code(answer.status);
    return sendPage(request, reply, viewer, frame(languageOf(request, viewer)), <Refused answer={answer} />);
  }

  app.route<{ Params: { id: string } }>({
    method: READ,
    url: '/people/actions/:id',
    handler: async (request, reply) => {
      const viewer = viewerOf(request);
      const language = languageOf(request, viewer);
      const api = new ApiClient(app, request);
      const { job } = await api.get<{ job: Job }>('/contacts/jobs/details', { id: request.params.id });
      const choices = await readChoices(request);
      const title = actionTitle(language, job, choices);
      const question = job.state === 'ready' ? actionQuestion(language, job, choices) : null;
      const content = <JobProgress {...{ job, title, question }} canChange={viewer.role !== 'viewer'} />;
      return sendPage(request, reply, viewer, frame(language), content);
    },
  });

  for (const change of ['confirm', 'cancel', 'undo'] as const) {
    app.post<{ Params: { id: string } }>(`/people/actions/:id/${change}`, async (request, reply) => {
      const viewer = viewerOf(request);
      const { id } = request.params;
      const answer = await new ApiClient(app, request).send('POST', `/contacts/jobs/${change}`, { id });
      if (answer.message) return reply.redirect(`/people/actions/${encodeURIComponent(id)}`, SEE_OTHER);
      reply.code(answer.status);
      return sendPage(request, reply, viewer, frame(languageOf(request, viewer)), <Refused answer={answer} />);
    });
  }
}

const frame = (language: Language) => ({ title: language.say('people.action.title'), section: 'people' }) as const;

function readRequest(body: unknown): Request {
  const values: Record<string, unknown> = Object.assign(Object.create(null), body);
  const [kind, target = ''] = (texts(values.action)[0] ?? '').split(':');
  const action = (['move', 'delete', 'unsubscribe', 'segment'] as const).find((known) => known === kind) ?? null;
  const isEverything = texts(values.whom)[0] === 'everything';
  return { filter: readFilter(body), ids: texts(values.ids), isEverything, action, target };
}

/** How many people match; null where the search did not count to the end. */
async function countEverybody(api: ApiClient, { chosen }: PeopleFilter): Promise<number | null> {
  const found = await findPeople(api, new URLSearchParams({ ...chosen, limit: '1' }));
  return found.is_total_exact === 1 && found.is_indexing === 0 ? (found.total ?? 0) : null;
}

function Refused({ answer }: { answer: ApiAnswer<unknown> }) {
  return (
    <Notice tone="bad" isNews>
      {refusalText(answer)}
    </Notice>
  );
}

function Confirm({ asked, choices, count }: { asked: Request; choices: Choices; count: number }) {
  const language = useLanguage();
  const action = asked.action ?? 'delete';
  const text = actionQuestion(language, { action, target_id: Number(asked.target), whole: count }, choices);
  const isUndoable = action === 'move' || action === 'delete';
  return (
    <Card title={text}>
      <form method="post" action="/people/actions/start">
        <p class="quiet-text">{language.say(isUndoable ? 'people.confirm.undoable' : 'people.confirm.final')}</p>
        {asked.isEverything ? (
          <FilterInputs filter={asked.filter} />
        ) : (
          asked.ids.map((id) => <input key={id} type="hidden" name="ids" value={id} />)
        )}
        <input type="hidden" name="whom" value={asked.isEverything ? 'everything' : 'chosen'} />
        <input type="hidden" name="action" value={`${asked.action}:${asked.target}`} />
        <div class="buttons">
          <Button look={action === 'delete' ? 'danger' : 'primary'}>
            {language.say(`people.confirm.yes.${action}`, { people: language.say('people.count', { count }) })}
          </Button>
          <LinkButton look="plain" href={listAddress(asked.filter)}>
            {language.say('people.confirm.no')}
          </LinkButton>
        </div>
      </form>
    </Card>
  );
}
