/** Reference data: the committed places, their tables and their stable ids. */
import codes from 'i18n-iso-countries/codes.json' with { type: 'json' };
import t from 'tap';
import { OTHER_NAMES } from '../../src/audience/places/other-names.ts';
import { seedPlaces } from '../../src/database/place-data.ts';
import { emptyTables, placesAnswer } from '../support/places.ts';

const client = emptyTables();
seedPlaces(client);
const one = (query: string, from = client): unknown => from.prepare(query).pluck().get();
const all = (query: string): string[] => client.prepare<[], string>(query).pluck().all();

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

  t.test('every other name is of one city, and no city of the country is called so', async (t) => {
    const count = client
      .prepare<[string, string], number>(
        'SELECT count(*) FROM cities c JOIN countries n ON n.id = c.country_id WHERE n.iso2 = ? AND c.name = ?',
      )
      .pluck();
    for (const [country, others] of Object.entries(OTHER_NAMES)) {
      for (const [name, otherNames] of Object.entries(others)) {
        t.equal(count.get(country, name), 1, name);
        for (const other of otherNames) t.equal(count.get(country, other), 0, other);
      }
    }
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

  t.test('no two places look the same to a reader', async (t) => {
    t.equal(one('SELECT count(*) - count(DISTINCT iso2) FROM countries'), 0);
    t.equal(one('SELECT count(*) FROM (SELECT 1 FROM states GROUP BY country_id, code HAVING count(*) > 1)'), 0);
    t.equal(
      one('SELECT count(*) FROM (SELECT 1 FROM cities GROUP BY country_id, state_id, name HAVING count(*) > 1)'),
      0,
    );
  });
});

t.test('seeding', async (t) => {
  t.test('a second time changes nothing', async (t) => {
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
    t.ok(placesAnswer(older) === placesAnswer(client));
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
