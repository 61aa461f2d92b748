import t from 'tap';
import { Connection } from '../../src/database/connection.ts';

const NUMBERS = 'SELECT value FROM json_each(?) ORDER BY value';

t.test('who reads the same text in different ways does not change how others read it', (t) => {
  const client = new Connection(':memory:');
  const rows = client.prepare(NUMBERS);
  const values = client.prepare(NUMBERS).pluck();
  const lists = client.prepare(NUMBERS).raw();
  t.strictSame(rows.all('[1, 2]'), [{ value: 1 }, { value: 2 }]);
  t.strictSame(values.all('[1, 2]'), [1, 2]);
  t.strictSame(lists.all('[1, 2]'), [[1], [2]]);
  t.strictSame(client.prepare(NUMBERS).get('[3]'), { value: 3 });
  t.end();
});

t.test('a statement can run while the rows of the same text are read one by one', (t) => {
  const client = new Connection(':memory:');
  const values = client.prepare<[string], number>(NUMBERS).pluck();
  const seen: unknown[] = [];
  for (const value of values.iterate('[1, 2]')) seen.push(value, ...client.prepare(NUMBERS).pluck().all('[7, 8]'));
  t.strictSame(seen, [1, 7, 8, 2, 7, 8]);
  t.end();
});

t.test('a kept statement follows a change of its table', (t) => {
  const client = new Connection(':memory:');
  client.exec('CREATE TABLE things (a)');
  client.prepare('INSERT INTO things VALUES (1)').run();
  t.strictSame(client.prepare('SELECT * FROM things').all(), [{ a: 1 }]);
  client.exec('ALTER TABLE things ADD b DEFAULT 2');
  t.strictSame(client.prepare('SELECT * FROM things').all(), [{ a: 1, b: 2 }]);
  t.end();
});
