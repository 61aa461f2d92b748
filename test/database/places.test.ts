/** Reference data: the committed places, their tables, the finished answer, stable ids, and which country a text means. */
import { deepStrictEqual, equal } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import codes from 'i18n-iso-countries/codes.json' with { type: 'json' };
import t from 'tap';
import { readReleased, writeFiles } from '../../scripts/places/files.ts';
import { mergePlaces, type Places } from '../../scripts/places/merge.ts';
import { countryId } from '../../src/audience/contacts/countries.ts';
import { seedPlaces } from '../../src/database/places.ts';
import { type PlacesCoding, placesBody, placesEtag } from '../../src/http/places-body.ts';

function emptyTables(): Database.Database {
  const client = new Database(':memory:');
  client.exec(`
    CREATE TABLE countries (id INTEGER PRIMARY KEY, name TEXT NOT NULL, iso2 TEXT NOT NULL);
    CREATE TABLE states (id INTEGER PRIMARY KEY, country_id INTEGER NOT NULL, name TEXT NOT NULL, code TEXT NOT NULL);
    CREATE TABLE cities (id INTEGER PRIMARY KEY, country_id INTEGER NOT NULL, state_id INTEGER, name TEXT NOT NULL);`);
  return client;
}

const client = emptyTables();
seedPlaces(client);
const one = (query: string, from = client): unknown => from.prepare(query).pluck().get();
const all = (query: string): string[] => client.prepare<[], string>(query).pluck().all();

/** The answer as the tables tell it. */
const answerOf = (from: Database.Database) =>
  `${String(
    one(
      `SELECT json_object('status', 'success', 'message', json_object(
        'countries', json((SELECT json_group_array(json_object('id', id, 'name', name, 'iso2', iso2) ORDER BY id) FROM countries)),
        'states', json((SELECT json_group_array(json_object('id', id, 'country_id', country_id, 'name', name, 'code', code) ORDER BY id)
          FROM states)),
        'cities', json((SELECT json_group_array(json_object('id', id, 'country_id', country_id, 'state_id', state_id, 'name', name) ORDER BY id)
          FROM cities))))`,
      from,
    ),
  )}\n`;
const answer = answerOf(client);

t.test('the tables', async (t) => {
  t.test('hold every country of ISO 3166-1, thousands of divisions and a world of cities', async (t) => {
    t.strictSame(new Set(all('SELECT iso2 FROM countries')), new Set(codes.map(([iso2]) => iso2)));
    t.equal(one('SELECT count(*) FROM countries'), 250);
    t.equal(one('SELECT count(*) FROM states'), 3865);
    t.equal(one('SELECT count(*) FROM cities'), 168_750);
    t.equal(one("SELECT count(*) FROM countries WHERE iso2 = 'AQ'"), 1, 'a country without cities is there');
    t.ok(
      Number(one('SELECT count(*) FROM cities WHERE state_id IS NULL')) > 0,
      'a city without a division stays without one',
    );
  });

  for (const table of ['countries', 'states', 'cities']) {
    t.test(`the ids of ${table} run from 1 without gaps`, async (t) => {
      t.equal(one(`SELECT min(id) = 1 AND max(id) = count(*) FROM ${table}`), 1);
    });

    t.test(`the names of ${table} are clean`, async (t) => {
      const unclean = all(`SELECT name FROM ${table}`).filter(
        (name) => name === '' || name !== name.trim() || /\p{Cc}|\p{Cf}|\s\s|[\u2028\u2029\ufffd]/u.test(name),
      );
      t.strictSame(unclean, []);
    });
  }

  t.test('countries stand in order of their English name', async (t) => {
    const names = all('SELECT name FROM countries ORDER BY id').map((name) =>
      name.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase(),
    );
    t.strictSame(names, [...names].sort());
  });

  t.test('a division refers to a country, a city to a country and to a division of that country', async (t) => {
    t.equal(one('SELECT count(*) FROM states WHERE country_id NOT IN (SELECT id FROM countries)'), 0);
    t.equal(one('SELECT count(*) FROM cities WHERE country_id NOT IN (SELECT id FROM countries)'), 0);
    t.equal(
      one(`SELECT count(*) FROM cities c LEFT JOIN states s ON s.id = c.state_id
           WHERE c.state_id IS NOT NULL AND c.country_id IS NOT s.country_id`),
      0,
    );
  });

  t.test('nothing a reader cannot tell apart is there twice', async (t) => {
    t.equal(one('SELECT count(*) - count(DISTINCT iso2) FROM countries'), 0);
    t.equal(one('SELECT count(*) FROM (SELECT 1 FROM states GROUP BY country_id, code HAVING count(*) > 1)'), 0);
    t.equal(
      one('SELECT count(*) FROM (SELECT 1 FROM cities GROUP BY country_id, state_id, name HAVING count(*) > 1)'),
      0,
    );
  });
});

t.test('seeding', async (t) => {
  t.test('again changes nothing', async (t) => {
    const before = one('SELECT total_changes()');
    seedPlaces(client);
    t.equal(one('SELECT total_changes()'), before);
  });

  t.test('a database of an older release gets the new rows and names, and no other id', async (t) => {
    const older = emptyTables();
    seedPlaces(older);
    older.exec(`
      DELETE FROM countries WHERE id > 200; DELETE FROM states WHERE id > 3000; DELETE FROM cities WHERE id > 100001;
      UPDATE countries SET name = 'Its older name' WHERE id = 3; UPDATE states SET name = 'Its older name' WHERE id = 7;`);
    seedPlaces(older);
    t.ok(answerOf(older) === answer);
  });

  t.test('is all or nothing', async (t) => {
    const broken = emptyTables();
    broken.exec(
      `CREATE TRIGGER refuse BEFORE INSERT ON cities WHEN NEW.id = 100000 BEGIN SELECT RAISE(ABORT, 'full'); END`,
    );
    t.throws(() => seedPlaces(broken), /full/);
    t.equal(one('SELECT (SELECT count(*) FROM countries) + (SELECT count(*) FROM cities)', broken), 0);
  });
});

t.test('the answer', async (t) => {
  const unpackers: Record<PlacesCoding, (sent: Buffer) => Buffer> = {
    identity: (sent) => sent,
    gzip: gunzipSync,
    br: brotliDecompressSync,
  };
  const sentIn = async (coding: PlacesCoding): Promise<Buffer> => {
    const { content } = placesBody(coding);
    return Buffer.isBuffer(content) ? content : buffer(content);
  };

  for (const coding of ['identity', 'gzip', 'br'] as const) {
    t.test(`in ${coding} is what the tables hold, byte for byte, and as long as it says`, async (t) => {
      const { length, etag } = placesBody(coding);
      const sent = await sentIn(coding);
      t.equal(sent.length, length);
      t.equal(etag, placesEtag(coding));
      t.ok(unpackers[coding](sent).toString() === answer);
    });
  }

  t.test('has a strong ETag made from its content, another one per coding', async (t) => {
    const hash = createHash('sha256').update(answer).digest('hex').slice(0, 32);
    t.strictSame((['identity', 'gzip', 'br'] as const).map(placesEtag), [
      `"${hash}"`,
      `"${hash}-gzip"`,
      `"${hash}-br"`,
    ]);
  });

  t.test('can be had several times at once', async (t) => {
    const bodies = await Promise.all([sentIn('identity'), sentIn('identity')]);
    t.ok(bodies.every((body) => body.toString() === answer));
  });
});

const country = (iso2: string, name: string) => ({ iso2, iso3: `${iso2}X`, name, aliases: [] });
const nothing: Places = { countries: [], states: [], cities: [] };
const first: Places = {
  countries: [country('CH', 'Switzerland'), country('AX', 'Åland'), country('SZ', 'Swaziland')],
  states: [
    { country: 'CH', code: 'ZH', name: 'Zurich' },
    { country: 'CH', code: 'AG', name: 'Aargau' },
  ],
  cities: [
    { country: 'CH', state: null, name: 'Nowhere' },
    { country: 'CH', state: 'ZH', name: 'Zürich' },
    { country: 'CH', state: 'ZH', name: 'Uster' },
    { country: 'CH', state: 'ZH', name: 'Uster' },
    { country: 'AX', state: null, name: 'Mariehamn' },
  ],
};

t.test('building', async (t) => {
  t.test('the first time sorts countries by name, divisions within them, cities within those', async (t) => {
    const { countries, states, cities } = mergePlaces(nothing, first);
    t.strictSame(
      countries.map(({ name }) => name),
      ['Åland', 'Swaziland', 'Switzerland'],
    );
    t.strictSame(
      states.map(({ name }) => name),
      ['Aargau', 'Zurich'],
    );
    t.strictSame(
      cities.map(({ name }) => name),
      ['Mariehamn', 'Uster', 'Zürich', 'Nowhere'],
    );
  });

  t.test('again keeps the place of what is released, with its new name, and appends what is new', async (t) => {
    const released = mergePlaces(nothing, first);
    const { countries, states, cities } = mergePlaces(released, {
      countries: [country('SZ', 'Eswatini'), country('CH', 'Switzerland'), country('AD', 'Andorra')],
      states: [
        { country: 'AD', code: '02', name: 'Canillo' },
        { country: 'CH', code: 'AG', name: 'Argovia' },
      ],
      cities: [
        { country: 'CH', state: 'AG', name: 'Aarau' },
        { country: 'AD', state: '02', name: 'Canillo' },
        { country: 'CH', state: 'ZH', name: 'Uster' },
      ],
    });
    t.strictSame(
      countries.map(({ name }) => name),
      ['Åland', 'Eswatini', 'Switzerland', 'Andorra'],
      'Åland was dropped and stays',
    );
    t.strictSame(
      states.map(({ name }) => name),
      ['Argovia', 'Zurich', 'Canillo'],
    );
    t.strictSame(
      cities.map(({ name }) => name),
      ['Mariehamn', 'Uster', 'Zürich', 'Nowhere', 'Aarau', 'Canillo'],
    );
  });

  t.test('with a division in no country fails', async (t) => {
    t.throws(
      () =>
        mergePlaces(nothing, { ...nothing, states: [{ country: 'XX', code: '1', name: 'Atlantis' }, ...first.states] }),
      /XX/,
    );
  });

  t.test('never moves what is released, whatever the sources say next (property)', async (t) => {
    const name = fc.constantFrom('A', 'É', 'b', 'Ça', 'z');
    const release = fc
      .tuple(
        fc.array(name, { maxLength: 4 }),
        fc.uniqueArray(fc.tuple(fc.constantFrom('1', '2', '3'), name), { selector: ([code]) => code }),
        fc.array(fc.tuple(fc.constantFrom('1', '2', '3', null), name)),
      )
      .map(([names, divisions, places]): Places => {
        const codes = new Set(divisions.map(([code]) => code));
        return {
          countries: [country('QQ', 'Home'), ...names.map((text, at) => country(`Q${at}`, text))],
          states: divisions.map(([code, text]) => ({ country: 'QQ', code, name: text })),
          cities: places.map(([code, text]) => ({
            country: 'QQ',
            state: code && codes.has(code) ? code : null,
            name: text,
          })),
        };
      });
    const keys = ({ countries, states, cities }: Places) => [
      countries.map(({ iso2 }) => iso2),
      states.map(({ code }) => code),
      cities.map(({ state, name: text }) => `${state} ${text}`),
    ];
    fc.assert(
      fc.property(fc.array(release, { minLength: 1, maxLength: 5 }), (releases) => {
        let released = nothing;
        for (const fresh of releases) {
          const next = mergePlaces(released, fresh);
          const before = keys(released);
          const after = keys(next);
          for (const [at, kept] of before.entries()) deepStrictEqual(after[at]?.slice(0, kept.length), kept);
          for (const list of after) equal(new Set(list).size, list.length);
          deepStrictEqual(mergePlaces(next, fresh), next);
          released = next;
        }
      }),
      { numRuns: 200 },
    );
    t.pass('200 series of releases');
  });

  t.test('writes what it reads again, and the same bytes for the same places', async (t) => {
    const places = mergePlaces(nothing, first);
    const [here, there] = [t.testdir({ here: {}, there: {} })].flatMap((root) =>
      ['here', 'there'].map((name) => pathToFileURL(`${root}/${name}/`)),
    );
    if (here === undefined || there === undefined) throw new Error('No test folders');
    t.strictSame(readReleased(here), nothing);
    writeFiles(here, places);
    t.strictSame(readReleased(here), places);
    writeFiles(there, readReleased(here));
    for (const file of [
      'countries.json',
      'states.json.br',
      'cities.ndjson.br',
      'body.json.br',
      'body.json.gz',
      'index.json',
    ]) {
      t.ok(readFileSync(new URL(file, here)).equals(readFileSync(new URL(file, there))), file);
    }
  });
});

t.test('the country meant', async (t) => {
  const idOf = (iso2: string) => client.prepare('SELECT id FROM countries WHERE iso2 = ?').pluck().get(iso2);
  const meant: Record<string, string[]> = {
    DE: ['Germany', 'GERMANY', '  germany ', 'de', 'DEU', 'deu'],
    US: ['USA', 'U.S.A.', 'us', 'U.S.', 'United States', 'united states of america', 'The United States', 'America'],
    GB: ['UK', 'u.k.', 'GBR', 'Great Britain', 'England', 'United Kingdom'],
    RU: ['Russia', 'Russian Federation'],
    KR: ['South Korea', 'Korea, Republic of', 'Republic of Korea'],
    KP: ['North Korea', "Democratic People's Republic of Korea", 'DPRK'],
    CZ: ['Czech Republic', 'Czechia', 'the czech republic'],
    CI: ["Cote d'Ivoire", 'Côte d’Ivoire', 'COTE DIVOIRE', 'Ivory Coast'],
    TR: ['Türkiye', 'Turkiye', 'TURKEY', 'Tu\u0308rkiye'],
    CW: ['Curacao'],
    AX: ['Aland Islands', 'Åland'],
    KN: ['St. Kitts and Nevis', 'St Kitts & Nevis', 'Saint Kitts and Nevis'],
    CG: ['Congo', 'Congo-Brazzaville'],
    CD: ['DR Congo', 'Congo, The Democratic Republic of the'],
    NL: ['Holland', 'The Netherlands'],
    NE: ['Niger'],
    NG: ['Nigeria'],
    GM: ['The Gambia', 'Gambia, The'],
    VN: ['Viet Nam', 'Vietnam'],
    MM: ['Burma'],
    SZ: ['Swaziland', 'Eswatini'],
    MK: ['Macedonia'],
  };
  for (const [iso2, texts] of Object.entries(meant)) {
    t.test(`${iso2} by ${texts.join(', ')}`, async (t) => {
      t.strictSame(
        texts.map(countryId),
        texts.map(() => idOf(iso2)),
      );
    });
  }

  t.test('every country by its name, in capitals too, by its codes and by its id', async (t) => {
    for (const [iso2 = '', iso3 = ''] of codes) {
      const id = Number(idOf(iso2));
      const name = String(client.prepare('SELECT name FROM countries WHERE id = ?').pluck().get(id));
      const texts = [
        name,
        name.toUpperCase(),
        iso2,
        iso2.toLowerCase(),
        iso3,
        iso3.toLowerCase(),
        String(id),
        ` ${id} `,
      ];
      t.strictSame(
        texts.map(countryId),
        texts.map(() => id),
        name,
      );
    }
  });

  t.test('is nobody by anything else', async (t) => {
    const texts = [
      '',
      ' ',
      '0',
      '-1',
      '+1',
      '1.0',
      '1e1',
      '#10',
      '01',
      '251',
      '٣',
      '①',
      'Atlantis',
      'XX',
      'the',
      '???',
      'constructor',
      'Germ',
    ];
    t.strictSame(
      texts.map(countryId),
      texts.map(() => null),
    );
  });
});
