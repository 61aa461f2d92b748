/** How `npm run places` merges new reference data into what is released, and writes it. */
import { deepStrictEqual, equal } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import t from 'tap';
import { readReleased, writeFiles } from '../../scripts/places/files.ts';
import { mergePlaces, type Places } from '../../scripts/places/merge.ts';

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
