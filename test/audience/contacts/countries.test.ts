/** Which country a text means. */
import codes from 'i18n-iso-countries/codes.json' with { type: 'json' };
import t from 'tap';
import { countryId } from '../../../src/audience/contacts/countries.ts';
import { seedPlaces } from '../../../src/database/place-data.ts';
import { emptyTables } from '../../support/places.ts';

const client = emptyTables();
seedPlaces(client);

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
