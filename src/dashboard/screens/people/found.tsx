/** The parts of the list of people that change with the search: whom it found, and the choice between them and all that match. */
import { Badge, Empty, Notice, type Tone } from '../../components/surface.tsx';
import { type Column, Pager, ScrollRegion } from '../../components/table.tsx';
import { type Language, useLanguage } from '../../words/index.ts';
import { fieldLabel } from './field-label.ts';
import { listAddress, type PeopleFilter } from './filter.ts';
import type { FoundContact, SearchResult } from './records.ts';

/** How many were found, in words: the number, or that it is at least so many. */
function countText(language: Language, { total, is_total_exact }: SearchResult): string {
  const count = total ?? 0;
  return is_total_exact ? language.say('people.count', { count }) : language.say('people.countOver', { count });
}

/** Who was found. Its `data-news` is read aloud when a search has put it in place of an earlier one. */
export function Found({ filter, found, canChoose }: { filter: PeopleFilter; found: SearchResult; canChoose: boolean }) {
  const language = useLanguage();
  const isEmpty = found.contacts.length === 0;
  const count = isEmpty ? language.say('people.noMatch.title') : countText(language, found);
  return (
    <div id="people-found" class="stack" data-news={count} data-empty={isEmpty ? 'yes' : 'no'}>
      {found.is_indexing === 1 && <Notice tone="warn">{language.say('people.indexing')}</Notice>}
      {isEmpty ? (
        <Empty icon="search" title={count}>
          {language.say(found.next === null ? 'people.noMatch.text' : 'people.noMatch.more')}
        </Empty>
      ) : (
        <>
          <FilterInputs filter={filter} />
          {found.total !== null && <p class="quiet-text">{count}</p>}
          <PeopleTable found={found.contacts} filter={filter} canChoose={canChoose} />
        </>
      )}
      <Pager
        first={filter.view.after === undefined ? null : listAddress({ ...filter, view: { ...filter.view, after: '' } })}
        next={found.next === null ? null : listAddress(filter, { after: found.next })}
      />
    </div>
  );
}

/** For whom an action is: those who are chosen, or all that match. Their number is known on the first page only. */
export function Whom({ found }: { found: SearchResult }) {
  const language = useLanguage();
  return (
    <div id="people-whom" class="choices-in-row">
      <label class="choice">
        <input type="radio" name="whom" value="chosen" checked />
        <span class="chosen-people">{language.say('people.whom.chosen')}</span>
      </label>
      {found.total !== null && (
        <label class="choice">
          <input type="radio" name="whom" value="everything" />
          <span>{language.say('people.whom.all', { found: countText(language, found) })}</span>
        </label>
      )}
    </div>
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
  canChoose,
}: {
  found: readonly FoundContact[];
  filter: PeopleFilter;
  canChoose: boolean;
}) {
  const language = useLanguage();
  const columns: Column<FoundContact>[] = [
    { heading: language.say('people.email'), cell: ({ email }) => email },
    { heading: language.say('people.type'), cell: (row) => row.contact_type_name },
    {
      heading: language.say('people.mail'),
      cell: (row) => <Badge tone={TONES[row.mail_state]}>{language.say(`people.state.${row.mail_state}`)}</Badge>,
    },
    ...filter.fields.map((name) => ({
      heading: fieldLabel(language, name),
      cell: (row: FoundContact) => row.fields[name] ?? '',
    })),
    {
      heading: language.say('people.added'),
      cell: (row) => <span class="one-line">{language.date(new Date(row.created_at))}</span>,
    },
  ];
  return (
    <ScrollRegion label={language.say('people.title')}>
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
    </ScrollRegion>
  );
}
