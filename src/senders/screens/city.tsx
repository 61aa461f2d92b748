/** The city of a sender: typed by name, and found among the cities of its country. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type City, findPlaces, type Places } from '../../audience/places/operations.ts';
import { namesOf } from '../../audience/places/other-names.ts';
import { fold } from '../../database/functions/fold.ts';
import { MAX_LINE_CHARACTERS } from '../../errors/field-errors.ts';
import { type Problems, TextField } from '../../ui/components/field.tsx';
import { Island } from '../../ui/components/island.tsx';
import { ask } from '../../ui/operations.ts';
import { useLanguage } from '../../ui/words/index.ts';

const MAX_OFFERED = 20;

/** The stored ids of a city and its state; 0: no city or no state. */
export interface CityIds {
  state_id: number;
  city_id: number;
}

/** Returns the cities of a country with a name that begins with the typed text, which may end with a comma and the name of a state. */
async function findCities(request: FastifyRequest, country: number, typed: string): Promise<Places> {
  const city = withoutState(typed);
  if (country === 0 || city === '') return { states: [], cities: [] };
  return await ask(request, findPlaces, { country_id: country, city });
}

/** Returns what was typed before the comma and the name of a state. */
function withoutState(typed: string): string {
  const [city = ''] = typed.split(',');
  return city.trim();
}

/** Returns the name of a city, or another name of the city, with its state, which distinguishes cities of the same name. */
function cityName({ name: ownName, state_id }: City, { states }: Places, name = ownName): string {
  const state = states.find(({ id }) => id === state_id)?.name;
  return state === undefined ? name : `${name}, ${state}`;
}

/**
 * Returns the ids of the typed city, or why no city was found. If several cities of a state have the name, the city with
 * the id `storedId` is preferred.
 */
export async function readCity(
  request: FastifyRequest,
  country: number,
  typed: string,
  storedId: number,
): Promise<CityIds | 'unknown' | 'ambiguous'> {
  const places = await findCities(request, country, typed);
  const plain = (text: string) => text.toLowerCase().normalize('NFC').replaceAll(/\s+/g, ' ').trim();
  const typedName = plain(typed);
  const citiesNamed = (nameOf: (city: City, name: string) => string) =>
    places.cities.filter((found) => namesOf(found).some((name) => plain(nameOf(found, name)) === typedName));
  const withState = citiesNamed((found, name) => cityName(found, places, name));
  const matches = withState.length > 0 ? withState : citiesNamed((_, name) => name);
  const city = matches.find(({ id }) => id === storedId) ?? matches[0];
  if (city === undefined) return 'unknown';
  if (new Set(matches.map(({ state_id }) => state_id)).size > 1) return 'ambiguous';
  return { state_id: city.state_id ?? 0, city_id: city.id };
}

/** Returns the city with these ids as a user would type it; empty if the ids name no city. */
export async function cityText(
  request: FastifyRequest,
  country: number,
  { state_id, city_id }: CityIds,
): Promise<string> {
  if (city_id === 0) return '';
  const places = await ask(request, findPlaces, { country_id: country, state_id });
  const city = places.cities.find(({ id }) => id === city_id);
  return city === undefined ? '' : cityName(city, places);
}

/** The field for the city. A script offers cities of the chosen country with a name that begins with the typed text. */
export function CityField({ value, problems }: { value: string; problems: Problems }) {
  const language = useLanguage();
  return (
    <Island name="cities">
      <TextField
        name="city"
        label={language.say('senders.field.city_id')}
        hint={language.say('senders.hint.city')}
        value={value}
        list="cities"
        autocomplete="off"
        problems={problems}
      />
      <datalist id="cities" />
    </Island>
  );
}

/**
 * Registers the URL from which the script of `CityField` gets the cities to offer. Each city is offered by the name that begins with the
 * typed text, because browsers hide all others.
 */
export async function cityOffers(app: FastifyInstance): Promise<void> {
  app.get<{ Querystring: { country_id?: string; city?: string } }>(
    '/settings/senders/cities',
    async (request, reply) => {
      const { country_id = '', city = '' } = request.query;
      const places = await findCities(
        request,
        /^\d{1,9}$/.test(country_id) ? Number(country_id) : 0,
        city.slice(0, MAX_LINE_CHARACTERS),
      );
      const start = fold(withoutState(city));
      const offers = places.cities.slice(0, MAX_OFFERED).map((found) => {
        const offered = namesOf(found).find((name) => fold(name).startsWith(start));
        return cityName(found, places, offered);
      });
      return reply.send(offers);
    },
  );
}
