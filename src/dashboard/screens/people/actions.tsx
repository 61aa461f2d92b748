/** Actions on many people: the page that says what will happen to how many, and the page that shows how far it is. */
import type { FastifyInstance } from 'fastify';
import { READ } from '../../../http/pages/layout.ts';
import { type ApiAnswer, ApiClient, refusalText } from '../../api-client.ts';
import { Button, LinkButton } from '../../components/button.tsx';
import { Card, Notice } from '../../components/surface.tsx';
import { languageOf, sendPage } from '../../page.tsx';
import { viewerOf } from '../../signed-in.ts';
import { type Language, useLanguage } from '../../words/index.ts';
import { listAddress, type PeopleFilter, readFilter, texts } from './filter.ts';
import { FilterInputs } from './found.tsx';
import { JobProgress } from './job-progress.tsx';
import { findPeople, readChoices } from './people.tsx';
import type { Choices, Job, SearchResult } from './records.ts';

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
      const content = <Notice tone="warn">{language.say('people.action.nobody')}</Notice>;
      reply.code(UNPROCESSABLE);
      return sendPage(request, reply, viewer, frame(language), content);
    }
    const api = new ApiClient(app, request);
    const choices = await readChoices(api);
    const whom = asked.isEverything
      ? everybodyText(language, await findPeople(api, new URLSearchParams({ ...asked.filter.chosen, limit: '1' })))
      : language.say('people.count', { count: asked.ids.length });
    if (whom === null) {
      const content = <Notice tone="warn">{language.say('people.action.nobodyMatches')}</Notice>;
      reply.code(UNPROCESSABLE);
      return sendPage(request, reply, viewer, frame(language), content);
    }
    return sendPage(request, reply, viewer, frame(language), <Confirm {...{ asked, choices, whom }} />);
  });

  app.post('/people/actions/start', async (request, reply) => {
    const viewer = viewerOf(request);
    const language = languageOf(request, viewer);
    const { filter, ids, isEverything, action, target } = readRequest(request.body);
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
    });
    if (answer.message) return reply.redirect(`/people/actions/${answer.message.job.id}`, SEE_OTHER);
    reply.code(answer.status);
    return sendPage(request, reply, viewer, frame(language), <Refused answer={answer} />);
  });

  app.route<{ Params: { id: string } }>({
    method: READ,
    url: '/people/actions/:id',
    handler: async (request, reply) => {
      const viewer = viewerOf(request);
      const api = new ApiClient(app, request);
      const { job } = await api.get<{ job: Job }>('/contacts/jobs/details', { id: request.params.id });
      const content = <JobProgress job={job} canChange={viewer.role !== 'viewer'} />;
      return sendPage(request, reply, viewer, frame(languageOf(request, viewer)), content);
    },
  });

  for (const change of ['cancel', 'undo'] as const) {
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

/** Everybody who was found, in words; null for nobody. Where the search did not count to the end, the number is said to be a part. */
function everybodyText(language: Language, found: SearchResult): string | null {
  if (found.is_total_exact === 1 && found.is_indexing === 0)
    return found.total ? language.say('people.count', { count: found.total }) : null;
  return found.total
    ? language.say('people.allMatching.moreThan', { count: found.total })
    : language.say('people.allMatching');
}

function Refused({ answer }: { answer: ApiAnswer<unknown> }) {
  return (
    <Notice tone="bad" isNews>
      {refusalText(answer)}
    </Notice>
  );
}

/** What is about to happen, in a sentence with the number of people. */
function sentence(language: Language, { action, target }: Request, choices: Choices, people: string): string {
  const id = Number(target);
  switch (action) {
    case 'move':
      return language.say('people.confirm.move', {
        people,
        name: choices.types.find((one) => one.id === id)?.name ?? '',
      });
    case 'segment': {
      const name = choices.segments.find((one) => one.id === id)?.segment_name ?? '';
      return language.say('people.confirm.segment', { people, name });
    }
    case 'unsubscribe': {
      const name = choices.groups.find((one) => one.id === id)?.group_name;
      return name === undefined
        ? language.say('people.confirm.unsubscribeAll', { people })
        : language.say('people.confirm.unsubscribe', { people, name });
    }
    default:
      return language.say('people.confirm.delete', { people });
  }
}

function Confirm({ asked, choices, whom }: { asked: Request; choices: Choices; whom: string }) {
  const language = useLanguage();
  const text = sentence(language, asked, choices, whom);
  const isUndoable = asked.action === 'move' || asked.action === 'delete';
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
          <Button look={asked.action === 'delete' ? 'danger' : 'primary'}>
            {language.say(`people.confirm.yes.${asked.action ?? 'delete'}`, { people: whom })}
          </Button>
          <LinkButton look="plain" href={listAddress(asked.filter)}>
            {language.say('people.confirm.no')}
          </LinkButton>
        </div>
      </form>
    </Card>
  );
}
