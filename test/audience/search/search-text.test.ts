/** Which trigrams of a search the index is asked for. */
import t from 'tap';
import { indexQuery, searchText, searchWords } from '../../../src/audience/search/search-text.ts';

const trigramsOf = (search: string) =>
  [...indexQuery(searchWords(search), null).matchAll(/"([^"]+)"/g)].map(([, trigram = '']) => trigram);

t.test(
  'the index is asked for what few contacts share: digits, and what stands before the @ of an address',
  async (t) => {
    const [domain, digits] = [trigramsOf('anna.schmidt@example.com'), trigramsOf('person500000@example503.com')];
    t.notOk(domain.some((trigram) => 'example.com'.includes(trigram)));
    t.strictSame(digits, ['n50', '500', '000', '00@']);
    t.ok(
      trigramsOf('@example.com').some((trigram) => 'example.com'.includes(trigram)),
      'a domain alone is searched for',
    );
    t.ok(
      trigramsOf('a@example.com').some((trigram) => 'example.com'.includes(trigram)),
      'so is a short address whole',
    );
  },
);

t.test('whatever the search is, a contact that has it has every trigram the index is asked for', async (t) => {
  const text = searchText('anna-2024.schmidt77@example503.com', 'Anna Lena 12', 'Schmidt-Österreich');
  for (const search of [
    'anna',
    'a',
    '12',
    '2024',
    'schmidt77@',
    '77@example',
    'anna-2024.schmidt77@example503.com',
    'lena österr',
    '@example503',
  ])
    for (const trigram of trigramsOf(search)) t.ok(text.includes(trigram), `${search}: ${trigram}`);
});
