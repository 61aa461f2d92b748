/** People: the list with its search, filters and columns, and the choice of an action on many of them. */
import type { FastifyInstance } from 'fastify';
import { READ } from '../../../http/pages/layout.ts';
import { ApiClient, ApiFailure } from '../../api-client.ts';
import { LinkButton } from '../../components/button.tsx';
import { Island } from '../../components/island.tsx';
import { Badge, Empty, Notice, type Tone } from '../../components/surface.tsx';
import { type Column, Pager } from '../../components/table.tsx';
import { languageOf, sendPage } from '../../page.tsx';
import { viewerOf } from '../../signed-in.ts';
import { type Language, useLanguage } from '../../words/index.ts';
import { ActionBar } from './action-bar.tsx';
import { fieldLabel } from './field-label.ts';
import { listAddress, type PeopleFilter, readFilter } from './filter.ts';
import { FilterBar } from './filter-bar.tsx';
import type { Choices, ContactType, FoundContact, SearchResult } from './records.ts';

const UNPROCESSABLE = 422;

export async function peopleScreen(app: FastifyInstance): Promise<void> {
  app.route({
    method: READ,
    url: '/people',
    handler: async (request, reply) => {
      const viewer = viewerOf(request);
      const language = languageOf(request, viewer);
      const api = new ApiClient(app, request);
      const filter = readFilter(request.query);
      const choices = await readChoices(api);
      const { chosen, view } = filter;
      const known = filter.fields.filter((name) => choices.fields.some(({ field_name }) => field_name === name));
      const query = new URLSearchParams({ ...chosen, ...view });
      for (const name of known) query.append('fields', name);
      const found = await findPeople(api, query);
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
      const shown = { ...filter, fields: known };
      const content = (
        <>
          <People {...{ filter: shown, choices, canChange }} found={found} />
          <p>
            <a href="/people/recent">{language.say('people.recent')}</a>
          </p>
        </>
      );
      return sendPage(request, reply, viewer, frame, content);
    },
  });
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
export async function readChoices(api: ApiClient): Promise<Choices> {
  const [{ contactTypes }, { segments }, { unsubscribesGroups }, { reservedFields }, { customFields }] =
    await Promise.all([
      api.get<{ contactTypes: ContactType[] }>('/contacts-type'),
      api.get<{ segments: Choices['segments'] }>('/segment/list'),
      api.get<{ unsubscribesGroups: Choices['groups'] }>('/unsubscribes-groups'),
      api.get<{ reservedFields: Choices['fields'] }>('/reserve-fields'),
      api.get<{ customFields: Choices['fields'] }>('/custom-fields'),
    ]);
  return { types: contactTypes, segments, groups: unsubscribesGroups, fields: [...reservedFields, ...customFields] };
}

/** How many were found, in words: the number, or that it is at least so many. */
function countText(language: Language, { total, is_total_exact }: SearchResult): string {
  const count = total ?? 0;
  return is_total_exact ? language.say('people.count', { count }) : language.say('people.countOver', { count });
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
  const isEmpty = found.contacts.length === 0;
  if (isEmpty && !isFiltered && found.next === null && filter.view.after === undefined) {
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
    <Island name="live" data={{ search: '#people-filter', results: '#people-found' }}>
      <FilterBar filter={filter} choices={choices} />
      <div id="people-found" class="stack">
        {found.is_indexing === 1 && <Notice tone="warn">{language.say('people.indexing')}</Notice>}
        {isEmpty ? (
          <Empty icon="search" title={language.say('people.noMatch.title')}>
            {language.say(found.next === null ? 'people.noMatch.text' : 'people.noMatch.more')}
          </Empty>
        ) : (
          <form method="post" action="/people/actions">
            <FilterInputs filter={filter} />
            {found.total !== null && (
              <p class="quiet-text" role="status">
                {countText(language, found)}
              </p>
            )}
            <PeopleTable found={found.contacts} filter={filter} types={choices.types} canChoose={canChange} />
            {canChange && (
              <ActionBar choices={choices} whole={countText(language, found)} isFirst={found.total !== null} />
            )}
          </form>
        )}
        <Pager
          first={
            filter.view.after === undefined ? null : listAddress({ ...filter, view: { ...filter.view, after: '' } })
          }
          next={found.next === null ? null : listAddress(filter, { after: found.next })}
        />
      </div>
    </Island>
  );
}

/** The filter as hidden inputs, for actions on everything that matches. */
export function FilterInputs({ filter }: { filter: PeopleFilter }) {
  return (
    <>
      {Object.entries(filter.chosen).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
    </>
  );
}

const TONES: Record<FoundContact['mail_state'], Tone> = { mailable: 'good', unsubscribed: 'plain', suppressed: 'warn' };

function PeopleTable({
  found,
  filter,
  types,
  canChoose,
}: {
  found: readonly FoundContact[];
  filter: PeopleFilter;
  types: readonly ContactType[];
  canChoose: boolean;
}) {
  const language = useLanguage();
  const names = new Map(types.map(({ id, name }) => [id, name]));
  const columns: Column<FoundContact>[] = [
    { heading: language.say('people.email'), cell: ({ email }) => email },
    { heading: language.say('people.type'), cell: (row) => names.get(row.contact_type_id) ?? '' },
    {
      heading: language.say('people.mail'),
      cell: (row) => <Badge tone={TONES[row.mail_state]}>{language.say(`people.state.${row.mail_state}`)}</Badge>,
    },
    ...filter.fields.map((name) => ({
      heading: fieldLabel(language, name),
      cell: (row: FoundContact) => row.fields[name] ?? '',
    })),
    { heading: language.say('people.added'), cell: (row) => language.date(new Date(row.created_at)) },
  ];
  return (
    <div class="table-wrap">
      <table class="cards">
        <caption class="visually-hidden">{language.say('people.title')}</caption>
        <thead>
          <tr>
            {canChoose && (
              <th scope="col" class="choose">
                <span class="visually-hidden">{language.say('people.choose')}</span>
              </th>
            )}
            <th scope="col">{language.say('people.name')}</th>
            {columns.map(({ heading }) => (
              <th key={heading} scope="col">
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {found.map((row) => (
            <tr key={row.id}>
              {canChoose && (
                <td class="choose">
                  <input
                    type="checkbox"
                    name="ids"
                    value={row.id}
                    aria-label={language.say('people.chooseOne', { name: row.fullname || row.email })}
                  />
                </td>
              )}
              <th scope="row">
                <a href={`/people/${row.id}`}>{row.fullname || row.email}</a>
              </th>
              {columns.map(({ heading, cell }) => (
                <td key={heading} data-label={heading}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
