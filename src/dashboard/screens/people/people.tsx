/** People: the list with its search, filters and columns, and the choice of an action on many of them. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { listContactTypes } from '../../../audience/contact-types/operations.ts';
import { listOwnFields, listReservedFields } from '../../../audience/fields/operations.ts';
import { listSegments } from '../../../audience/segments/operations/segments.ts';
import { listGroups } from '../../../audience/unsubscribed/groups.ts';
import { READ } from '../../../http/pages/layout.ts';
import { ApiClient, ApiFailure } from '../../api-client.ts';
import { LinkButton } from '../../components/button.tsx';
import { Island } from '../../components/island.tsx';
import { LiveNotes } from '../../components/live-notes.tsx';
import { PeopleTabs } from '../../components/people-tabs.tsx';
import { Empty } from '../../components/surface.tsx';
import { ask } from '../../operations.ts';
import { languageOf, sendPage, sendParts } from '../../page.tsx';
import { viewerOf } from '../../signed-in.ts';
import { useLanguage } from '../../words/index.ts';
import { ActionBar } from './action-bar.tsx';
import { ExportForm } from './export.tsx';
import { type PeopleFilter, readFilter } from './filter.ts';
import { FilterBar } from './filter-bar.tsx';
import { Found, Whom } from './found.tsx';
import type { Choices, SearchResult } from './records.ts';

const UNPROCESSABLE = 422;
/** Where the script gets what changes with the search. */
const FOUND = '/people/found';

export async function peopleScreen(app: FastifyInstance): Promise<void> {
  app.route({
    method: READ,
    url: '/people',
    handler: async (request, reply) => {
      const viewer = viewerOf(request);
      const language = languageOf(request, viewer);
      const api = new ApiClient(app, request);
      const choices = await readChoices(request);
      const filter = withKnownFields(readFilter(request.query), choices.fields);
      const found = await findPeople(api, searchQuery(filter));
      const canChange = viewer.role !== 'viewer';
      const frame = {
        title: language.say('people.title'),
        section: 'people',
        ...(canChange && {
          action: (
            <LinkButton href="/people/import" icon="plus">
              {language.say('people.import')}
            </LinkButton>
          ),
        }),
      } as const;
      const content = (
        <>
          <PeopleTabs current="people" />
          <People {...{ filter, choices, canChange, found }} />
          <div class="below">
            {choices.types.length > 0 && <ExportForm types={choices.types} type={filter.chosen.contact_type_id} />}
            <a href="/people/recent">{language.say('people.recent')}</a>
          </div>
        </>
      );
      return sendPage(request, reply, viewer, frame, content);
    },
  });

  // What changes while somebody types. It reads no choices of filters and actions, which stay on the page.
  app.route({
    method: READ,
    url: FOUND,
    config: { isPart: true },
    handler: async (request, reply) => {
      const viewer = viewerOf(request);
      const api = new ApiClient(app, request);
      const asked = readFilter(request.query);
      const filter = asked.fields.length === 0 ? asked : withKnownFields(asked, await readFields(request));
      const found = await findPeople(api, searchQuery(filter));
      const canChoose = viewer.role !== 'viewer';
      const parts = (
        <>
          <Found {...{ filter, found, canChoose }} />
          {canChoose && <Whom found={found} />}
        </>
      );
      return sendParts(reply, languageOf(request, viewer), parts);
    },
  });
}

/** The filter without columns of fields that there are no more, which the API would refuse. */
function withKnownFields(filter: PeopleFilter, known: Choices['fields']): PeopleFilter {
  return { ...filter, fields: filter.fields.filter((name) => known.some(({ field_name }) => field_name === name)) };
}

function searchQuery({ chosen, view, fields }: PeopleFilter): URLSearchParams {
  const query = new URLSearchParams({ ...chosen, ...view });
  for (const name of fields) query.append('fields', name);
  return query;
}

/** Finds people. A filter that the API refuses, such as a word where a number belongs, finds nobody. */
export async function findPeople(api: ApiClient, query: URLSearchParams): Promise<SearchResult> {
  try {
    return await api.get<SearchResult>(`/contacts/search?${query}`);
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.status !== UNPROCESSABLE) throw error;
    return { contacts: [], next: null, total: 0, is_total_exact: 1, is_indexing: 0 };
  }
}

/** Reads the choices that the filters and actions offer. */
export async function readChoices(request: FastifyRequest): Promise<Choices> {
  const [types, segments, groups, fields] = await Promise.all([
    ask(request, listContactTypes, {}),
    ask(request, listSegments, {}),
    ask(request, listGroups, {}),
    readFields(request),
  ]);
  return { types, segments, groups, fields };
}

/** Reads the fields that a contact can have. */
async function readFields(request: FastifyRequest): Promise<Choices['fields']> {
  const { reservedFields } = await ask(request, listReservedFields, {});
  return [...reservedFields, ...(await ask(request, listOwnFields, {}))];
}

function People({
  filter,
  choices,
  found,
  canChange,
}: {
  filter: PeopleFilter;
  choices: Choices;
  found: SearchResult;
  canChange: boolean;
}) {
  const language = useLanguage();
  const isFiltered = Object.keys(filter.chosen).length > 0;
  if (found.contacts.length === 0 && !isFiltered && found.next === null && filter.view.after === undefined) {
    return (
      <Empty
        icon="people"
        title={language.say('people.none.title')}
        action={canChange && <LinkButton href="/people/import">{language.say('people.import')}</LinkButton>}
      >
        {language.say('people.none.text')}
      </Empty>
    );
  }
  return (
    <Island name="live" data={{ search: '#people-filter', source: FOUND, results: '#people-found, #people-whom' }}>
      <FilterBar filter={filter} choices={choices} />
      <LiveNotes />
      <form method="post" action="/people/actions">
        <Found {...{ filter, found }} canChoose={canChange} />
        {canChange && <ActionBar choices={choices} whom={<Whom found={found} />} />}
      </form>
    </Island>
  );
}
