/**
 * Requests made from the OpenAPI document. The short run sends every operation its own example and has a fixed seed, so that a failure
 * comes from a change of the code; `npm run test:fuzz -- CASES SEED` takes a new seed each time, and sends all hostile text everywhere.
 */
import t from 'tap';
import { startApp } from '../support/app.ts';
import { operationsOf, readDocument } from '../support/openapi-operations.ts';
import { REPEATED } from './hostile.ts';
import { GOOD, namesOf, requestOf } from './requests.ts';
import { answered, fuzz } from './run.ts';
import { newAccount, SETTINGS } from './world.ts';

const cases = Number(process.env.FUZZ_CASES ?? 40);
const isLong = process.env.FUZZ_CASES !== undefined;
const seed = Number(process.env.FUZZ_SEED ?? 77600166);

/** The hostile texts that the `nth` operation is sent: in the long run all, in the short one a single one, so that each goes to some operation. */
function textsFor(nth: number): string[] {
  return isLong ? REPEATED : [REPEATED[nth % REPEATED.length] ?? ''];
}

t.test('whatever is sent is answered in the envelope, and every operation also succeeds', async (t) => {
  const app = await startApp(t, SETTINGS);
  t.comment(`fuzzing with ${cases} cases, seed ${seed}`);
  const { requests, statuses, successes } = await fuzz(app, { cases, seed });
  const answers = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${count} × ${status}`);
  t.comment(`${requests} requests: ${answers.join(', ')}; the rarest success ${Math.min(...successes.values())} times`);
  for (const { operationId } of operationsOf(await readDocument(app))) t.ok(successes.has(operationId), operationId);
});

t.test('64 kB of hostile text in every parameter are answered', { timeout: 400_000 }, async (t) => {
  const app = await startApp(t, SETTINGS);
  const account = await newAccount(app, 'Hostile');
  const seen = new Set<string>();
  let nth = 0;
  for (const operation of operationsOf(await readDocument(app))) {
    const names = namesOf(operation);
    // Parameters of one name share their patterns.
    if (names.every((name) => seen.has(name))) continue;
    for (const name of names) seen.add(name);
    for (const unit of textsFor(nth++)) {
      const value = `a${unit.repeat(65_536 / unit.length)}!`;
      const changes = names.map((_name, at) => ({ at, how: 'value' as const, value, key: '' }));
      await answered(app, requestOf(operation, { ...GOOD, encoding: 2, changes }, account));
    }
    t.pass(operation.operationId);
  }
});

t.test('64 kB of hostile text in tokens, headers and files are answered', { timeout: 400_000 }, async (t) => {
  const app = await startApp(t);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  for (const unit of REPEATED) {
    const text = `a${unit.repeat(65_536 / unit.length)}!`;
    const header = encodeURIComponent(text).slice(0, 65_536);
    const headers = Object.fromEntries(
      ['accept-encoding', 'if-none-match', 'user-agent', 'x-forwarded-for', 'publickey'].map((name) => [name, header]),
    );
    const pages = ['/u', '/o', '/c', '/w', '/f', '/f/confirm', '/archive', '/archive/a', '/verify', '/design'];
    for (const path of [...pages, '/pictures/a', '/images/templates', '/assets']) {
      const { status } = await app.page('GET', `${path}/${header.slice(0, 900)}`, { headers });
      if (status >= 500) t.fail(`${path}: ${status} for ${JSON.stringify(unit)}`);
    }
    await app.fastify.inject({ url: '/api/get/country-state-city', headers: { ...app.one.headers, ...headers } });
    const file = { filename: `${text}.csv`, content: `email,first_name,country\n"${text}",${text},${text}\n` };
    const upload = await app.one.call('POST', '/contacts/upload-csv', {
      multipart: [
        ['contact_type_id', '1'],
        ['file', file],
      ],
    });
    t.ok(upload.status < 500, JSON.stringify(unit));
  }
});
