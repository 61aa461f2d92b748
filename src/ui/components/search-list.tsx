/** Parts that the lists of campaigns and automations share: the search by text and state, paging, and the columns with results. */
import type { ComponentChildren, VNode } from 'preact';
import { withQuery } from '../with-query.ts';
import { type Language, useLanguage } from '../words/index.ts';
import type { CampaignState } from './campaign-state.tsx';
import { NothingFound } from './surface.tsx';
import { type Column, Pager, SearchForm } from './table.tsx';

/** The query parameters of a list. */
export interface ListQuery {
  search?: string;
  state?: string;
  before?: string;
}

/** The filter of a list: a state, or archived campaigns. */
type StateFilter = CampaignState | 'archived';

/** What a list is searched for, and which page of it is shown. */
interface ListSearch {
  search: string;
  state: StateFilter | undefined;
  /** True for every page but the first. */
  isLater: boolean;
}

/** Parses the query of a list. `input` is the same search as input of the operation that lists the records. */
export function readListQuery<State extends StateFilter>(query: ListQuery, states: readonly State[]) {
  const { search = '', before } = query;
  const state = states.find((name) => name === query.state);
  const listSearch: ListSearch = { search, state, isLater: before !== undefined };
  const input = {
    ...(search && { search }),
    ...(state && { state }),
    ...(before !== undefined && { before_id: before }),
  };
  return { listSearch, input, isAll: search === '' && state === undefined && before === undefined };
}

/** A page of a list: the search form, the table (null if the page has no records), and the link to the next page. */
export function SearchList({
  kind,
  states,
  listSearch: { search, state: chosen, isLater },
  next,
  table,
  query = {},
  children,
}: {
  kind: 'campaigns' | 'automations';
  states: readonly StateFilter[];
  listSearch: ListSearch;
  /** The next page has the records with lower ids. Null on the last page. */
  next: number | null;
  table: VNode | null;
  /** Further parameters to keep in links to other pages. */
  query?: Readonly<Record<string, string | undefined>>;
  /** Further fields of the search form. */
  children?: ComponentChildren;
}) {
  const language = useLanguage();
  const href = (before?: number) => withQuery(`/${kind}`, { ...query, search, state: chosen, before });
  return (
    <>
      <SearchForm name="search" label={language.say(`${kind}.search`)} find={language.say('word.find')} value={search}>
        <select name="state" aria-label={language.say('word.status')}>
          <option value="">{language.say('word.status.any')}</option>
          {states.map((state) => (
            <option key={state} value={state} selected={state === chosen}>
              {language.say(`state.${state}`)}
            </option>
          ))}
        </select>
        {children}
      </SearchForm>
      {table ??
        (next === null ? (
          <NothingFound title={language.say(`${kind}.none`)} all={`/${kind}`} />
        ) : (
          <p>{language.say(`${kind}.noneHere`)}</p>
        ))}
      <Pager first={isLater ? href() : null} next={next === null ? null : href(next)} />
    </>
  );
}

/** The counters of a campaign. Rates are shares of the mails that were sent; rates of opens and clicks are shares of the measured mails. */
interface Results {
  delivered: number;
  /** Delivered mails that test mode kept in the outbox. */
  kept: number;
  /** Delivered mails whose opens and clicks are not known. */
  unmeasured: number;
  people_opens: number;
  people_clicks: number;
  bounces: number;
  unsubscribes: number;
}

const CELLS = {
  delivered: (language: Language, { delivered, kept }: Results) => language.number(delivered - kept),
  opened: (language: Language, row: Results) => language.share(row.people_opens, measured(row)),
  clicked: (language: Language, row: Results) => language.share(row.people_clicks, measured(row)),
  unsubscribed: (language: Language, row: Results) => language.share(row.unsubscribes, row.delivered - row.kept),
  bounced: (language: Language, { bounces }: Results) => language.number(bounces),
};

/** Returns the columns with these results. */
export function resultColumns<Row extends Results>(
  language: Language,
  names: readonly (keyof typeof CELLS)[],
): Column<Row>[] {
  return names.map((name) => ({
    heading: language.say(`campaigns.${name}`),
    isNumber: true,
    cell: (row) => CELLS[name](language, row),
  }));
}

/** Returns how many of the sent mails are measured. */
export function measured({ delivered, kept, unmeasured }: Pick<Results, 'delivered' | 'kept' | 'unmeasured'>): number {
  return delivered - kept - unmeasured;
}
