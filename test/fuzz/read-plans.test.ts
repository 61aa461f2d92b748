/**
 * How SQLite goes about each GET of the API with each of its parameters. A statement that reads a large table from end to end, or sorts
 * all that an owner has, gets slower with each month.
 */
import t, { type Test } from 'tap';
import { startApp } from '../support/app.ts';
import { operationsOf, readDocument } from '../support/openapi-operations.ts';
import { planned, sortsOfAll, wholeReads } from '../support/query-plans.ts';
import { GOOD, requestOf } from './requests.ts';
import { goodValue, newAccount, SETTINGS } from './world.ts';

/** The contract's GETs that change something. */
const CHANGING = /duplicate|set-live|pause/;
let isReading = false;

/** Asks each GET of the API with what it needs, with each other parameter, and with all of them. */
async function askApi(t: Test): Promise<void> {
  const app = await startApp(t, SETTINGS);
  const account = await newAccount(app, 'Reader');
  const operations = operationsOf(await readDocument(app)).filter(
    ({ method, path }) => method === 'GET' && !CHANGING.test(path),
  );
  isReading = true;
  for (const operation of operations) {
    const optional = operation.parameters.flatMap(({ required }, at) => (required ? [] : [at]));
    for (const given of [[], ...optional.map((at) => [at]), optional]) {
      const changes = given.map((at) => {
        const { name = '', example } = operation.parameters[at] ?? {};
        return { at, how: 'value' as const, value: goodValue(operation, name, example, account), key: '' };
      });
      const request = requestOf(operation, { ...GOOD, encoding: 0, changes }, account);
      const { statusCode, payload } = await app.fastify.inject(request);
      // The example of an address is nobody's who gets that mail.
      if (statusCode !== 422) t.equal(statusCode, 200, `${request.url}: ${payload.slice(0, 200)}`);
    }
  }
  t.equal((await app.page('GET', '/metrics')).status, 200);
  isReading = false;
}

t.test('no GET reads a large table from end to end, or sorts all rows of an owner', async (t) => {
  const plans = await planned(
    () => askApi(t),
    () => isReading,
  );
  t.ok(plans.length > 80, `${plans.length} statements`);
  for (const plan of plans) {
    t.strictSame(wholeReads(plan), [], `it reads the whole: ${plan.text}`);
    t.strictSame(sortsOfAll(plan), [], `it sorts all: ${plan.text}`);
  }
});
