/** The choices of segment rules, and the names of countries. */
import type { FastifyRequest } from 'fastify';
import { countries, type SegmentRule } from '../../../database/schema/index.ts';
import { ask } from '../../../ui/operations.ts';
import type { Language } from '../../../ui/words/index.ts';
import { type ListedContactType, listContactTypes } from '../../contact-types/operations.ts';
import { readFields } from '../../contacts/screens/filter.tsx';
import { EVENT_FIELD } from '../../events/names.ts';
import { listNames, type Names } from '../operations.ts';
import { ACTIVITY_FIELDS } from '../rules.ts';

/** A possible field of a rule: a field of contacts, their activity, or an event. */
export interface RuleField {
  field_name: string;
  field_type: SegmentRule['type'];
}

type Country = Pick<typeof countries.$inferSelect, 'name' | 'iso2'>;

export interface Choices extends Names {
  types: readonly ListedContactType[];
  fields: readonly RuleField[];
  countries: readonly Country[];
}

/** Reads the choices of an account. */
export async function readChoices(request: FastifyRequest): Promise<Choices> {
  const [types, contactFields, names] = await Promise.all([
    ask(request, listContactTypes, {}),
    readFields(request),
    ask(request, listNames, {}),
  ]);
  // A custom field that had this name before it was reserved keeps it in rules.
  const added = contactFields.every(({ field_name }) => field_name.toLowerCase() !== 'created_at')
    ? [{ field_name: 'created_at', field_type: 'datetime-local' as const }]
    : [];
  const activity = Object.entries(ACTIVITY_FIELDS).map(([field_name, field_type]) => ({ field_name, field_type }));
  const events = names.events.map((name): RuleField => ({ field_name: `${EVENT_FIELD}${name}`, field_type: 'event' }));
  const fields = [...contactFields, ...added, ...activity, ...events];
  return {
    ...names,
    types,
    fields,
    countries: request.server.deps.db.select().from(countries).orderBy(countries.id).all(),
  };
}

/** Returns a function that names a country in the user's language, or in English if the language has no name for it. */
export function countryNamer(language: Language): (country: Country) => string {
  const names = new Intl.DisplayNames(language.locale, { type: 'region', fallback: 'none' });
  return ({ name, iso2 }) => (language.code === 'en' ? name : (findName(names, iso2) ?? name));
}

/** Some codes of the reference data have a form that Intl does not accept. */
function findName(names: Intl.DisplayNames, code: string): string | undefined {
  return /^[A-Z]{2}$/.test(code) ? names.of(code) : undefined;
}

/** Returns the countries by the names that users may type: in English and in the user's language, in lower case. */
export function countriesByName(language: Language, countries: readonly Country[]): Map<string, Country> {
  const nameOf = countryNamer(language);
  return new Map(
    countries.flatMap((country) =>
      [nameOf(country), country.name].map((name) => [name.toLowerCase(), country] as const),
    ),
  );
}
