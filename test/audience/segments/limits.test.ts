/** How many segments and rules an account may have. */
import t from 'tap';
import { startWithFields } from '../../support/segments.ts';

t.test('an account has at most 1,000 segments with 2,000 rules together, and what it has can be changed', async (t) => {
  const app = await startWithFields(t);
  const form = (rules: number) => ({
    segment_name: 'S',
    contact_type_id: 1,
    select_field: Array(rules).fill('city'),
    select_operator: Array(rules).fill('is'),
    value: Array(rules).fill('Bonn'),
  });
  const post = async (path: string, given: Record<string, unknown>) => {
    const { status, body } = await app.one.call('POST', path, { json: given });
    return status === 200 ? 200 : [status, body.errors];
  };
  const add = (rules: number) => post('/segment/store', form(rules));
  const change = (id: number, rules: number) => post('/segment/update', { segment_id: id, ...form(rules) });
  t.equal(await add(1), 200);
  const copy = app.db.prepare(`
    INSERT INTO segments (user_id, contact_type_id, segment_name, select_field, select_operator, value, rules, created_at, updated_at)
    SELECT user_id, contact_type_id, segment_name, select_field, select_operator, value, rules, created_at, updated_at FROM segments WHERE id = 1`);
  while (Number(copy.run().lastInsertRowid) < 1000);
  const tooMany = 'An account may not have more than 1000 segments: delete one of them first';
  t.strictSame(await add(1), [409, tooMany]);
  t.equal(await change(2, 2), 200);
  app.db.exec('DELETE FROM segments WHERE id > 900');
  t.equal(await change(3, 100), 200);
  app.db.exec('UPDATE segments SET rules = (SELECT rules FROM segments WHERE id = 3) WHERE id BETWEEN 4 AND 13');
  const tooManyRules =
    'The segments of an account may not have more than 2000 rules together: delete some of them first';
  t.strictSame(await add(11), [409, tooManyRules]);
  t.equal(await add(10), 200);
  t.strictSame(await change(2, 3), [409, tooManyRules]);
  t.equal(await change(2, 2), 200);
  t.equal((await app.one.call('DELETE', '/segment/delete', { query: { segment_id: 2 } })).status, 200);
  t.equal(await add(2), 200);
  t.strictSame(await post('/segment/undelete', { segment_id: 2 }), [409, tooManyRules]);
  t.strictSame(await change(2, 9), [404, 'Record Not Found']);
});
