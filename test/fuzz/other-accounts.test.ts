/** What one account never learns of another, asked of every operation that the OpenAPI document describes. */
import t from 'tap';
import { startApp } from '../support/app.ts';
import { type Operation, operationsOf, readDocument } from '../support/openapi-operations.ts';
import { GOOD, namesOf, requestOf } from './requests.ts';
import { goodValue, newAccount, SETTINGS } from './world.ts';

const NOBODY = '00000000-0000-4000-8000-000000000000';

/** The same value of nobody's: of the form of the other account's, so that only what exists can tell them apart. */
function nobodys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(nobodys);
  if (typeof value === 'number') return 999_999_999;
  return String(value).includes('-') ? NOBODY : String(value).replace(/\d+$/, '999999999');
}

t.test('every operation treats a record of another account as one that does not exist', async (t) => {
  const app = await startApp(t, SETTINGS);
  const own = await newAccount(app, 'Own');
  const other = await newAccount(app, 'Other');
  const operations = operationsOf(await readDocument(app));
  // Writes down that the session and the keys were used, so that later requests do not.
  await own.person.call('GET', '/me/details');
  for (const operation of operations.slice(0, 1))
    await app.fastify.inject(requestOf(operation, { ...GOOD, encoding: 2 }, own));
  const writes = () => app.db.prepare('SELECT total_changes()').pluck().get();
  const ask = async (operation: Operation, at: number, value: unknown) => {
    const changes = [{ at, how: 'value' as const, value, key: '' }];
    return app.fastify.inject(requestOf(operation, { ...GOOD, encoding: 2, changes }, own));
  };
  for (const operation of operations) {
    // Operators answer for the whole installation, whose records belong to no account.
    if (operation.isForOperators) continue;
    for (const [at, name] of namesOf(operation).entries()) {
      const example = operation.parameters[at]?.example ?? operation.bodies[0]?.example[name];
      const mine = goodValue(operation, name, example, own);
      const theirs = goodValue(operation, name, example, other);
      if (String(theirs) === String(mine) || ['email', 'field_name'].includes(name)) continue;
      const values = Array.isArray(theirs) && Array.isArray(mine) ? [theirs, [...mine, ...theirs]] : [theirs];
      const unknown =
        Array.isArray(theirs) && Array.isArray(mine)
          ? [nobodys(theirs), [...mine, nobodys(theirs[0])]]
          : [nobodys(theirs)];
      for (const [index, value] of values.entries()) {
        const before = writes();
        const answer = await ask(operation, at, value);
        const missing = await ask(operation, at, unknown[index]);
        const title = `${operation.operationId} with ${name} ${JSON.stringify(value)}`;
        t.equal(answer.payload, missing.payload, title);
        t.equal(answer.statusCode, missing.statusCode, title);
        t.equal(writes(), before, `${title} writes nothing`);
        const isFilter = operation.method === 'GET' && !operation.parameters[at]?.required;
        t.ok(isFilter || answer.statusCode === 404 || answer.statusCode === 422, `${title} is refused`);
      }
    }
  }
});
