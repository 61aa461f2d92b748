/**
 * Other names of large cities in Germany, its neighbours and some more countries. The reference data has one name of each city, which is the
 * English one for some and the local one for others, so users would not find München, Mailand or Cologne.
 */
import { fold } from '../../database/functions/fold.ts';
import { readCountries } from '../../database/place-data.ts';

/** The other names (German, local and English) by ISO 3166-1 alpha-2 code of the country and by name in the reference data. */
export const OTHER_NAMES: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  AT: { Vienna: ['Wien'] },
  BE: {
    Antwerp: ['Antwerpen'],
    Brugge: ['Brügge', 'Bruges'],
    Brussels: ['Brüssel', 'Brussel', 'Bruxelles'],
    Gent: ['Ghent'],
    Leuven: ['Löwen'],
    Liège: ['Lüttich'],
    Mechelen: ['Mecheln'],
    Ostend: ['Ostende', 'Oostende'],
  },
  CH: {
    Basel: ['Basle', 'Bâle'],
    Bern: ['Berne'],
    'Biel/Bienne': ['Biel', 'Bienne'],
    Fribourg: ['Freiburg'],
    Geneva: ['Genf', 'Genève'],
    Luzern: ['Lucerne'],
    Neuchâtel: ['Neuenburg'],
    'Sankt Gallen': ['St. Gallen'],
    Sitten: ['Sion'],
    Zürich: ['Zurich'],
  },
  CZ: {
    Brno: ['Brünn'],
    Liberec: ['Reichenberg'],
    Olomouc: ['Olmütz'],
    Ostrava: ['Ostrau'],
    Pilsen: ['Plzeň'],
    Prague: ['Prag', 'Praha'],
    'Karlovy Vary': ['Karlsbad'],
    'České Budějovice': ['Budweis'],
  },
  DE: { Hannover: ['Hanover'], Köln: ['Cologne'], Munich: ['München'], Nuremberg: ['Nürnberg'] },
  DK: { Copenhagen: ['Kopenhagen', 'København'], Århus: ['Aarhus'] },
  FR: { Mulhouse: ['Mülhausen'], Nice: ['Nizza'], Strasbourg: ['Straßburg', 'Strassburg'] },
  IT: {
    Bolzano: ['Bozen'],
    Bressanone: ['Brixen'],
    Brunico: ['Bruneck'],
    Florence: ['Florenz', 'Firenze'],
    Genoa: ['Genua', 'Genova'],
    Mantua: ['Mantova'],
    Merano: ['Meran'],
    Milan: ['Mailand', 'Milano'],
    Naples: ['Neapel', 'Napoli'],
    Padua: ['Padova'],
    Rome: ['Rom', 'Roma'],
    Trento: ['Trient'],
    Trieste: ['Triest'],
    Turin: ['Torino'],
    Venice: ['Venedig', 'Venezia'],
  },
  LU: { Luxembourg: ['Luxemburg'] },
  NL: { Nijmegen: ['Nimwegen'], 'The Hague': ['Den Haag'] },
  PL: {
    Gdańsk: ['Danzig'],
    Katowice: ['Kattowitz'],
    Kraków: ['Krakau', 'Krakow'],
    Opole: ['Oppeln'],
    Poznań: ['Posen'],
    Szczecin: ['Stettin'],
    Toruń: ['Thorn'],
    Warsaw: ['Warschau', 'Warszawa'],
    Wrocław: ['Breslau'],
    Łódź: ['Lodz'],
  },
  PT: { Lisbon: ['Lissabon', 'Lisboa'] },
};

const BY_COUNTRY_ID = new Map(readCountries().map(({ id, iso2 }) => [id, OTHER_NAMES[iso2] ?? {}]));

/** Returns all names of a city, beginning with its name in the reference data. */
export function namesOf({ country_id, name }: { country_id: number; name: string }): string[] {
  return [name, ...(BY_COUNTRY_ID.get(country_id)?.[name] ?? [])];
}

/** Returns the names in the reference data of those cities of a country that have another name beginning with this text, in any case. */
export function citiesWithOtherName(countryId: number, start: string): string[] {
  return Object.entries(BY_COUNTRY_ID.get(countryId) ?? {})
    .filter(([, others]) => others.some((other) => fold(other).startsWith(fold(start))))
    .map(([name]) => name);
}
