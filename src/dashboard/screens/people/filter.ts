/** The filter of the list of people, as it stands in the address of the page. */

/** The parameters that choose people; they have the names that the API gives them. */
const FILTER_NAMES = ['search', 'contact_type_id', 'segment_id', 'mail_state', 'field', 'value'] as const;

/** The parameters that say how they are shown. */
const VIEW_NAMES = ['order', 'after'] as const;
/** The most further columns. */
const MAX_COLUMNS = 6;
const MAX_LENGTH = 255;

export interface PeopleFilter {
  /** What is chosen, without what is empty. */
  chosen: Partial<Record<(typeof FILTER_NAMES)[number], string>>;
  view: Partial<Record<(typeof VIEW_NAMES)[number], string>>;
  /** The names of further fields to show. */
  fields: string[];
}

/** Reads the filter from a query or a form. Anything else in it is ignored. */
export function readFilter(given: unknown): PeopleFilter {
  const values: Record<string, unknown> = Object.assign(Object.create(null), given);
  const pick = <Name extends string>(names: readonly Name[]): Partial<Record<Name, string>> => {
    const picked: Partial<Record<Name, string>> = {};
    for (const name of names) {
      const value = texts(values[name])[0]?.trim() ?? '';
      if (value !== '') picked[name] = value.slice(0, MAX_LENGTH);
    }
    return picked;
  };
  const chosen = pick(FILTER_NAMES);
  // A field without a value, or the other way round, is a form that is not filled in yet.
  if (chosen.field === undefined || chosen.value === undefined) {
    delete chosen.field;
    delete chosen.value;
  }
  return { chosen, view: pick(VIEW_NAMES), fields: texts(values.fields).slice(0, MAX_COLUMNS) };
}

/** The texts of a parameter that may be there once, often, or not at all. */
export function texts(value: unknown): string[] {
  return [value].flat().filter((text): text is string => typeof text === 'string' && text !== '');
}

/** The address of the list with this filter. */
export function listAddress({ chosen, view, fields }: PeopleFilter, changes: Record<string, string> = {}): string {
  const query = new URLSearchParams({ ...chosen, ...view, ...changes });
  for (const field of fields) query.append('fields', field);
  return query.size === 0 ? '/people' : `/people?${query}`;
}
