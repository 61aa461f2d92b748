/** The zones of countries and states in data/time-zones.json. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { DATA } from '../../../src/database/data-folder.ts';
import { readCountries, seedPlaces } from '../../../src/database/place-data.ts';
import { findZone } from '../../../src/delivery/timing/place-zones.ts';
import { isTimeZone, toUtc } from '../../../src/time/zones.ts';
import { emptyTables } from '../../support/places.ts';

const ZONES: Record<string, string | Record<string, string[]>> = JSON.parse(
  readFileSync(new URL('time-zones.json', DATA), 'utf8'),
);
const COUNTRIES = readCountries();
/** Where nobody lives, or nobody all year. */
const WITHOUT = ['AQ', 'BV', 'HM', 'UM'];
/** China has one official time; the tz database also has the other one that some people in Xinjiang keep. */
const ONE_OFFICIAL_TIME = ['CN'];

t.test('every country has its zones, all of which Node knows', async (t) => {
  const codes = COUNTRIES.map(({ iso2 }) => iso2).filter((code) => !WITHOUT.includes(code));
  t.strictSame(Object.keys(ZONES).sort(), codes.sort());
  const zones = Object.values(ZONES).flatMap((zone) => (typeof zone === 'string' ? zone : Object.keys(zone)));
  t.strictSame(
    zones.filter((zone) => !isTimeZone(zone)),
    [],
  );
});

t.test('the states of countries with several zones are those of data/places, each named once', async (t) => {
  const db = emptyTables();
  seedPlaces(db);
  const named = db.prepare<[string], string>(
    'SELECT s.name FROM states s CROSS JOIN countries c ON c.id = s.country_id WHERE c.iso2 = ?',
  );
  for (const [code, zones] of Object.entries(ZONES)) {
    if (typeof zones === 'string') continue;
    const known = named.pluck().all(code);
    const names = Object.values(zones).flat();
    t.strictSame(
      names.flatMap((name) => name.split('|').slice(0, 1)).filter((name) => name !== '*' && !known.includes(name)),
      [],
      code,
    );
    const all = names.flatMap((name) => name.split('|'));
    t.equal(new Set(all).size, all.length, code);
  }
});

t.test('a country is given one zone only where its zones have the same time', async (t) => {
  const days = ['2026-01-15', '2026-04-01', '2026-07-15', '2026-10-15'];
  const timesOf = (zone: string) => days.map((day) => toUtc(day, '12:00:00', zone).getTime()).join();
  for (const [code, zone] of Object.entries(ZONES)) {
    if (typeof zone !== 'string' || ONE_OFFICIAL_TIME.includes(code)) continue;
    const locale: Intl.Locale & { getTimeZones?(): string[] } = new Intl.Locale(`und-${code}`);
    for (const other of locale.getTimeZones?.() ?? []) t.equal(timesOf(other), timesOf(zone), `${code}: ${other}`);
  }
});

t.test('a place says which zone it is in, or nothing', async (t) => {
  const zone = (iso2: string, state: string | null = null, time_zone: string | null = null) =>
    findZone({ country_id: COUNTRIES.find((one) => one.iso2 === iso2)?.id ?? null, state, time_zone });
  t.equal(zone('DE'), 'Europe/Berlin');
  t.equal(zone('DE', 'Bavaria'), 'Europe/Berlin');
  for (const state of ['São Paulo', 'sao paulo', ' SP ']) t.equal(zone('BR', state), 'America/Sao_Paulo', state);
  t.equal(zone('BR'), null, 'one of several');
  t.equal(zone('US', 'Kentucky'), null, 'in two zones');
  t.equal(zone('ES', 'Las Palmas'), 'Atlantic/Canary');
  t.equal(zone('ES', 'Toledo'), 'Europe/Madrid', 'nearly everybody in Spain');
  t.equal(zone('AQ'), null);
  t.equal(zone('??'), null);
  t.equal(zone('DE', null, 'asia/kathmandu'), 'asia/kathmandu', 'what is written down comes first');
  for (const wrong of ['', 'Europe', '+02:00', 'Europe/Berlin\n', '__proto__', 'constructor', 'x'.repeat(65)])
    t.equal(zone('DE', '__proto__', wrong), 'Europe/Berlin', wrong);
});
