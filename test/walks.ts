/**
 * Lists the files of `src` that take part in three walks through the product: saving a draft in the browser, uploading a CSV file, and a
 * recipient from being enqueued to the report. A file takes part when one of its functions runs.
 *
 *     npm run walks
 */
import { Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { addPerson, cookieOf, FROM_PAGE } from './support/people.ts';
import { createSend, readyToSend, sendReport } from './support/single-sends.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Longer than the time between two runs of what an application does by itself, such as writing what was opened. */
const BY_ITSELF_MS = 500;

const { app, body } = await readyToSend(t);
const session = new Session();
session.connect();
await session.post('Profiler.enable');

/** The files whose functions run while this is done. */
async function filesOf(work: () => Promise<unknown>): Promise<string[]> {
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await session.post('Profiler.takePreciseCoverage');
  await work();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  await session.post('Profiler.stopPreciseCoverage');
  return result
    .filter(({ url }) => url.startsWith(`file://${ROOT}src/`))
    .filter(({ functions }) => functions.some(({ functionName, ranges }) => functionName && ranges[0]?.count))
    .map(({ url }) => relative(ROOT, fileURLToPath(url)))
    .sort();
}

const byItself = await filesOf(() => setTimeout(BY_ITSELF_MS));

async function walk(name: string, work: () => Promise<unknown>): Promise<void> {
  const files = (await filesOf(work)).filter((file) => !byItself.includes(file));
  t.comment(`${name}: ${files.length} files\n${files.map((file) => `  ${file}`).join('\n')}`);
}

const cookie = cookieOf(app, addPerson(app, 'editor', { name: 'Ada', email: 'ada@example.org' }));
const open = (method: string, path: string, form?: Record<string, string>) =>
  app.page(method, path, { headers: { ...FROM_PAGE, cookie }, ...(form && { form }) });
const begun = await open('POST', '/campaigns/new', { single_send_name: 'Spring' });
const content = String(begun.headers.location).replace('audience', 'content');
const { text } = await open('GET', content);
const hidden = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? '';
const form = { unchanged_since: hidden('unchanged_since'), seen: hidden('seen'), single_send_name: 'Spring' };
// What is done once for each process, such as compiling the schema, is no part of the walk.
await open('POST', content, { ...form, unchanged_since: '', subject: '' });
await walk('save a draft', () =>
  open('POST', content, { ...form, unchanged_since: '', subject: 'New', preheader: 'News' }),
);

const file = { filename: 'readers.csv', content: 'email,first_name\nzoe@example.org,Zoe\n' };
await walk('upload a CSV file', () =>
  app.one.call('POST', '/contacts/upload-csv', {
    multipart: [
      ['contact_type_id', '1'],
      ['file', file],
    ],
  }),
);

const utr = await createSend(app, body);
await walk('enqueue a recipient, send and report', async () => {
  app.clock.advance(11_000);
  await app.background();
  t.equal((await sendReport(app, utr)).states.kept, 3);
});
