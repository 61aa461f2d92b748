/** Contacts: the list with its search, filters and columns, bulk actions, and the export. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ComponentChildren } from 'preact';
import { sendCsv } from '../../../http/list-response.ts';
import { pageRoute } from '../../../http/pages/layout.ts';
import { Button, LinkButton } from '../../../ui/components/button.tsx';
import { SelectField } from '../../../ui/components/field.tsx';
import { Island, LiveNotes } from '../../../ui/components/island.tsx';
import { PeopleTabs } from '../../../ui/components/people-tabs.tsx';
import { Badge, Empty, Notice, type Tone } from '../../../ui/components/surface.tsx';
import { type Column, Pager, ScrollRegion } from '../../../ui/components/table.tsx';
import { ask, attempt } from '../../../ui/operations.ts';
import { languageOf, sendPage, sendParts } from '../../../ui/page.tsx';
import { viewerOf } from '../../../ui/signed-in.ts';
import { texts } from '../../../ui/submitted.ts';
import { type Language, useLanguage } from '../../../ui/words/index.ts';
import { fieldLabel, fieldText } from '../../../ui/words/known.ts';
import type { ListedContactType } from '../../contact-types/operations.ts';
import { CONTACT_ORDERS, type ContactOrder } from '../../search/find-contacts.ts';
import { countContacts, type FoundContact, type FoundContacts, findContacts } from '../../search/operations.ts';
import { exportContactsForSpreadsheet } from '../operations.ts';
import {
  type Choices,
  FilterBar,
  listAddress,
  type PeopleFilter,
  readChoices,
  readFields,
  readFilter,
} from './filter.tsx';

/** The path of the parts that change with the search, for the script. */
const FOUND_PATH = '/contacts/found';
/** The path at which the script goes on counting, if counting takes too long for one page. */
const COUNT_PATH = '/contacts/count';
/** The number of rows of a page, which with 44 pixels each is at most two screens high. */
const ROWS_PER_PAGE = 20;

/** Registers the list, the parts that change with the search, and the CSV file of a contact type. */
export async function peopleScreen(app: FastifyInstance): Promise<void> {
  pageRoute(app, '/contacts', async (request, reply) => {
    const viewer = viewerOf(request);
    const language = languageOf(request, viewer);
    const choices = await readChoices(request);
    const filter = withKnownFields(readFilter(request.query), choices.fields);
    const page = await findPeople(request, filter);
    const canChoose = viewer.role !== 'viewer';
    const frame = {
      title: language.say('contacts.title'),
      section: 'contacts',
      ...(canChoose && {
        action: (
          <>
            <LinkButton look="plain" href="/contacts/new" icon="plus" label={language.say('person.new')} />
            <LinkButton href="/contacts/import" label={language.say('contacts.import')} />
          </>
        ),
      }),
    } as const;
    const content = (
      <>
        <PeopleTabs current="contacts" />
        <People {...{ filter, choices, canChoose, page }} />
        <div class="below">
          {choices.types.length > 0 && <ExportForm types={choices.types} type={filter.chosen.contact_type_id} />}
          <a href="/contacts/recent">{language.say('contacts.recent')}</a>
        </div>
      </>
    );
    return sendPage(request, reply, viewer, frame, content);
  });

  // The parts that change while the user types. The choices of filters and actions stay on the page and are not read.
  pageRoute(app, FOUND_PATH, async (request, reply) => {
    const viewer = viewerOf(request);
    const requested = readFilter(request.query);
    const filter = requested.fields.length === 0 ? requested : withKnownFields(requested, await readFields(request));
    const page = await findPeople(request, filter);
    const canChoose = viewer.role !== 'viewer';
    const parts = (
      <>
        <FoundPeople {...{ filter, page, canChoose }} />
        {canChoose && <ActionTarget page={page} />}
      </>
    );
    return sendParts(reply, languageOf(request, viewer), parts);
  });

  pageRoute<{ Querystring: Record<string, unknown> }>(app, COUNT_PATH, async (request, reply) => {
    const language = languageOf(request, viewerOf(request));
    const filter = readFilter(request.query);
    const [after] = texts(request.query.after);
    const countedBefore = Number(texts(request.query.counted)[0]) || 0;
    const { count, next } = await ask(request, countContacts, { ...filter.chosen, after });
    const counted = { count: countedBefore + count, isCounted: next === null };
    const position = next === null ? {} : { after: next, counted: String(counted.count) };
    const parts = (
      <>
        <Total {...counted} rest={countAddress(filter, position)} />
        <Everybody {...counted} />
      </>
    );
    return sendParts(reply, language, parts);
  });

  app.get<{ Querystring: Record<string, unknown> }>('/contacts/export', async (request, reply) => {
    const [contact_type_id] = texts(request.query.contact_type_id);
    reply.headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
    const language = languageOf(request, viewerOf(request)).code;
    const csv = await ask(request, exportContactsForSpreadsheet, { contact_type_id, language });
    return sendCsv(reply, csv, 'contacts.csv');
  });
}

/** Returns the filter without columns of unknown fields, which the API would refuse. */
function withKnownFields(filter: PeopleFilter, known: Choices['fields']): PeopleFilter {
  return { ...filter, fields: filter.fields.filter((name) => known.some(({ field_name }) => field_name === name)) };
}

/** Finds contacts. A filter that is refused, such as a word in place of a number, finds no contacts. */
export async function findPeople(
  request: FastifyRequest,
  { chosen, view, fields }: PeopleFilter,
  limit = ROWS_PER_PAGE,
): Promise<FoundContacts> {
  const outcome = await attempt(request, findContacts, { ...chosen, ...view, fields, limit });
  if ('output' in outcome) return outcome.output;
  return { contacts: [], next: null, total: 0, is_total_exact: 1, is_indexing: 0 };
}

function People({
  filter,
  choices,
  page,
  canChoose,
}: {
  filter: PeopleFilter;
  choices: Choices;
  page: FoundContacts;
  canChoose: boolean;
}) {
  const language = useLanguage();
  const isFiltered = Object.keys(filter.chosen).length > 0;
  if (page.contacts.length === 0 && !isFiltered && page.next === null && filter.view.after === undefined) {
    return (
      <Empty
        title={language.say('contacts.none.title')}
        action={
          canChoose && <LinkButton look="plain" href="/contacts/import" label={language.say('contacts.import')} />
        }
      >
        {language.say('contacts.none.text')}
      </Empty>
    );
  }
  return (
    <Island name="live" data={{ search: '#people-filter', source: FOUND_PATH, results: '#people-found, #people-whom' }}>
      <FilterBar filter={filter} choices={choices} />
      <LiveNotes />
      <Island name="choose-all">
        <form method="post" action="/contacts/actions">
          <FoundPeople {...{ filter, page, canChoose }} />
          {canChoose && <ActionBar choices={choices} whom={<ActionTarget page={page} />} />}
        </form>
      </Island>
    </Island>
  );
}

/** Returns the number of contacts found, or counted so far, in words. */
function countText(language: Language, { count, isCounted }: Counted): string {
  return language.say(isCounted ? 'contacts.count' : 'contacts.counting', { count });
}

interface Counted {
  count: number;
  isCounted: boolean;
}

/** The number of contacts found. If it is not exact yet, the script replaces it with the answer of the URL `rest`. */
function Total({ count, isCounted, rest }: Counted & { rest: string }) {
  const language = useLanguage();
  return (
    <span id="people-count" {...(!isCounted && { 'data-rest': rest })}>
      {countText(language, { count, isCounted })}
    </span>
  );
}

function Everybody(counted: Counted) {
  const language = useLanguage();
  return (
    <span id="people-everybody">{language.say('contacts.whom.all', { found: countText(language, counted) })}</span>
  );
}

const countedOf = ({ total, is_total_exact }: FoundContacts): Counted => ({
  count: total ?? 0,
  isCounted: is_total_exact === 1,
});

/** Returns the URL that counts the contacts of a filter, from the beginning or from a position on. */
const countAddress = ({ chosen }: PeopleFilter, position: { after?: string; counted?: string } = {}) =>
  `${COUNT_PATH}?${new URLSearchParams({ ...chosen, ...position })}`;

/** The contacts found. Screen readers announce `data-news` after a search has replaced an earlier result. */
function FoundPeople({ filter, page, canChoose }: { filter: PeopleFilter; page: FoundContacts; canChoose: boolean }) {
  const language = useLanguage();
  const isEmpty = page.contacts.length === 0;
  const counted = countedOf(page);
  const count = isEmpty ? language.say('contacts.noMatch.title') : countText(language, counted);
  return (
    <div id="people-found" class="stack" data-news={count} data-empty={isEmpty ? 'yes' : 'no'}>
      {page.is_indexing === 1 && <Notice tone="warn">{language.say('contacts.indexing')}</Notice>}
      {isEmpty ? (
        <Empty pose="looks" title={count}>
          {language.say(page.next === null ? 'contacts.noMatch.text' : 'contacts.noMatch.more')}
        </Empty>
      ) : (
        <>
          <FilterInputs filter={filter} />
          {page.total !== null && (
            <p class="quiet-text">
              <Total {...counted} rest={countAddress(filter)} />
            </p>
          )}
          <PeopleTable contacts={page.contacts} filter={filter} canChoose={canChoose} />
        </>
      )}
      <Pager
        first={filter.view.after === undefined ? null : listAddress({ ...filter, view: { ...filter.view, after: '' } })}
        next={page.next === null ? null : listAddress(filter, { after: page.next })}
      />
    </div>
  );
}

/**
 * The choice of contacts for an action. All matches can be chosen on the first page only, because only there their number is known.
 */
function ActionTarget({ page }: { page: FoundContacts }) {
  const language = useLanguage();
  return (
    <div id="people-whom" class="choices-in-row">
      <label class="choice">
        <input type="radio" name="whom" value="chosen" checked />
        <span class="chosen-people">{language.say('contacts.whom.chosen')}</span>
      </label>
      {page.total !== null && (
        <label class="choice">
          <input type="radio" name="whom" value="everything" />
          <Everybody {...countedOf(page)} />
        </label>
      )}
    </div>
  );
}

/** The filter as hidden inputs, for actions on all contacts that match. */
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
  contacts,
  filter,
  canChoose,
}: {
  contacts: readonly FoundContact[];
  filter: PeopleFilter;
  canChoose: boolean;
}) {
  const language = useLanguage();
  // A narrow window shows only the name and the two columns with an `area`.
  const columns: (Column<FoundContact> & { area?: 'email' | 'state'; orders?: ColumnOrders })[] = [
    {
      heading: language.say('contacts.email'),
      area: 'email',
      orders: { ascending: 'email' },
      cell: ({ email }) => email,
    },
    { heading: language.say('contacts.type'), cell: (row) => row.contact_type_name },
    {
      heading: language.say('contacts.mail'),
      area: 'state',
      cell: (row) => <Badge tone={TONES[row.mail_state]}>{language.say(`contacts.state.${row.mail_state}`)}</Badge>,
    },
    ...filter.fields.map((name) => ({
      heading: fieldLabel(language, name),
      cell: (row: FoundContact) => fieldText(language, name, row.fields[name] ?? ''),
    })),
    {
      heading: language.say('contacts.added'),
      orders: { descending: 'newest', ascending: 'oldest' },
      cell: (row) => <span class="one-line">{language.date(new Date(row.created_at))}</span>,
    },
  ];
  return (
    <ScrollRegion label={language.say('contacts.title')}>
      <table class="people-list">
        <caption class="visually-hidden">{language.say('contacts.title')}</caption>
        <thead>
          <tr>
            {canChoose && (
              <th scope="col" class="choose">
                <span class="visually-hidden">{language.say('contacts.choose')}</span>
                <label class="choose-all">
                  <input type="checkbox" data-choose-all hidden />
                  <span>{language.say('contacts.chooseAll')}</span>
                </label>
              </th>
            )}
            <th scope="col">{language.say('contacts.name')}</th>
            {columns.map(({ heading, orders }) =>
              orders === undefined ? (
                <th key={heading} scope="col">
                  {heading}
                </th>
              ) : (
                <SortedHeading key={heading} {...{ heading, orders, filter }} />
              ),
            )}
          </tr>
        </thead>
        <tbody>
          {contacts.map((row) => (
            <tr key={row.id}>
              {canChoose && (
                <td class="choose">
                  <input
                    type="checkbox"
                    name="ids"
                    value={row.id}
                    aria-label={language.say('contacts.chooseOne', { name: row.fullname || row.email })}
                  />
                </td>
              )}
              <th scope="row">
                <a href={`/contacts/${row.id}`}>{row.fullname || row.email}</a>
              </th>
              {columns.map(({ heading, area, cell }) => (
                <td key={heading} class={area}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}

/** The orders of the list by one column. While the list has none of these orders, the heading leads to the first. */
type ColumnOrders = Partial<Record<'ascending' | 'descending', ContactOrder>>;

/**
 * The heading of a column by which the list can be sorted: a link to the list in another order of this column, or in the default order if
 * it has no other.
 */
function SortedHeading({ heading, orders, filter }: { heading: string; orders: ColumnOrders; filter: PeopleFilter }) {
  const current = filter.view.order ?? CONTACT_ORDERS[0];
  const direction = (['ascending', 'descending'] as const).find((name) => orders[name] === current);
  const next = Object.values(orders).find((order) => order !== current) ?? CONTACT_ORDERS[0];
  const { after: _, ...view } = filter.view;
  return (
    <th scope="col" aria-sort={direction}>
      <a href={listAddress({ ...filter, view }, { order: next })}>
        {heading}
        {direction && <span aria-hidden="true">{direction === 'ascending' ? ' ↑' : ' ↓'}</span>}
      </a>
    </th>
  );
}

/** The form to download the contacts of a type. `type` is the id of the type that is chosen at first, if the filter has one. */
function ExportForm({ types, type }: { types: readonly ListedContactType[]; type: string | undefined }) {
  const language = useLanguage();
  return (
    <form method="get" action="/contacts/export" class="people-export">
      <select name="contact_type_id" aria-label={language.say('contacts.type')}>
        {types.map(({ id, name, contacts_count: count }) => (
          <option key={id} value={id} selected={String(id) === type}>
            {name} ({language.say('contacts.count', { count })})
          </option>
        ))}
      </select>
      <Button look="plain" label={language.say('contacts.export')} />
    </form>
  );
}

/** The choice of an action, and its contacts in `whom`. The next page shows their number and asks for confirmation. */
function ActionBar({ choices, whom }: { choices: Choices; whom: ComponentChildren }) {
  const language = useLanguage();
  const options = [
    { value: '', label: language.say('contacts.action.choose') },
    { value: 'delete', label: language.say('contacts.action.delete') },
    { value: 'unsubscribe:0', label: language.say('contacts.action.unsubscribeAll') },
    ...choices.groups.map(({ id, group_name: name }) => ({
      value: `unsubscribe:${id}`,
      label: language.say('contacts.action.unsubscribe', { name }),
    })),
    ...choices.types.map(({ id, name }) => ({
      value: `move:${id}`,
      label: language.say('contacts.action.move', { name }),
    })),
    ...choices.segments.map(({ id, segment_name: name }) => ({
      value: `segment:${id}`,
      label: language.say('contacts.action.segment', { name }),
    })),
  ];
  return (
    <fieldset class="action-bar">
      <legend class="visually-hidden">{language.say('contacts.action')}</legend>
      {whom}
      <SelectField name="action" label={language.say('contacts.action')} options={options} required />
      <Button look="plain" label={language.say('contacts.action.next')} />
    </fieldset>
  );
}
