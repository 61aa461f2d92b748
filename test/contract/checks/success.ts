/** A success has exactly the contract's keys, types and texts, does what it says, and shows what was saved. */
import { isDeepStrictEqual } from 'node:util';
import type { Answer } from '../../support/app.ts';
import { endpoints, resources } from '../index.ts';
import type { Probe } from '../probe.ts';
import { callOptions, changed, validValues } from '../requests.ts';
import { exactly, record, type Shape } from '../shapes.ts';
import type { Endpoint, Values } from '../types.ts';

export async function success(probe: Probe): Promise<void> {
  const { endpoint, world } = probe;
  const all = validValues(endpoint, world);
  const least = validValues(endpoint, world, 'required');
  const requests = isDeepStrictEqual(least, all) ? [all] : [least, all];
  for (const changes of endpoint.also?.(world) ?? []) requests.push(changed(all, changes));
  for (const values of requests) {
    const options = callOptions(endpoint, values);
    const answer = await probe.ask(options);
    probe.report(options, answerProblems(endpoint, answer, world.user));
    if (endpoint.acts ?? !endpoint.methods.includes('GET')) {
      if (probe.place.tables.changed().length === 0) probe.report(options, ['changed nothing']);
      await showsWhatWasSaved(probe, values, answer);
      await listsStillFit(probe);
      if (endpoint.path.endsWith('delete') && endpoint.recordFailure) await isGone(probe, values);
      probe.place.tables.rewind();
    } else {
      probe.unchanged(options);
    }
  }
}

/** What does not fit in the answer of a successful call. */
function answerProblems({ success }: Endpoint, answer: Answer, user: number): string[] {
  if (answer.status !== 200) return [`status ${answer.status} ${answer.text}`];
  if ('csv' in success) return csvProblems(answer, success.csv);
  const carried: Record<string, Shape> =
    'errors' in success ? { errors: exactly(success.errors) } : { message: success.message };
  const envelope = record({ status: exactly('success'), ...carried });
  return [...envelope.problems(answer.body, 'body'), ...strangers(answer.text, user)];
}

/** Every record of an answer belongs to the account that asks; reserved fields to nobody. */
function strangers(text: string, user: number): string[] {
  const owners = [...text.matchAll(/"user_id":(\w+)/g)].map(([, owner]) => owner);
  return owners.every((owner) => owner === String(user) || owner === 'null')
    ? []
    : ['shows a record of another account'];
}

function csvProblems(
  { headers, text }: Answer,
  { filename, header }: { filename: string; header: readonly string[] },
): string[] {
  const [first = '', ...rows] = text
    .replace(/^\uFEFF/, '')
    .trimEnd()
    .split(/\r?\n/);
  const problems: string[] = [];
  if (!String(headers['content-type']).startsWith('text/csv'))
    problems.push(`Content-Type is ${headers['content-type']}`);
  const disposition = String(headers['content-disposition']);
  if (!disposition.startsWith('attachment') || !disposition.includes(filename))
    problems.push(`Content-Disposition is ${disposition}`);
  const names = first.replaceAll('"', '');
  if (!`${names},`.startsWith(`${header.join(',')},`)) problems.push(`the header is ${first}`);
  if (rows.length !== 1) problems.push(`${rows.length} example rows`);
  return problems;
}

/** The details of a saved record have the values given; a new record's `Location` leads to them. */
async function showsWhatWasSaved(probe: Probe, values: Values, saved: Answer): Promise<void> {
  const { endpoint } = probe;
  if (endpoint.shownAt === undefined) return;
  const [path, parameter] = endpoint.shownAt;
  const own = Object.entries({ ...endpoint.query, ...endpoint.body }).find(([, { kind }]) => kind === 'record');
  const location = own ? `/api${path}?${parameter}=${values[own[0]]}` : String(saved.headers.location);
  if (!location.startsWith(`/api${path}?${parameter}=`)) return probe.report('Location', [location]);
  const answer = await probe.place.app.one.call('GET', location.slice('/api'.length));
  const details = endpoints.find((candidate) => candidate.path === path);
  if (details === undefined) throw new Error(`${path} is not in the contract`);
  probe.report(`then ${location}`, answerProblems(details, answer, probe.world.user));
  const [shown] = [Object.values(Object(answer.body?.message))[0]].flat();
  for (const [name, value] of Object.entries(values)) {
    const kind = endpoint.body?.[name]?.kind ?? 'record';
    const sameForm = !['record', 'target', 'targets', 'date', 'time'].includes(kind);
    if (!sameForm || typeof shown !== 'object' || shown === null || !(name in shown)) continue;
    const stored = String(new Map<string, unknown>(Object.entries(shown)).get(name) ?? '');
    if (stored !== (value || stored)) probe.report(`then ${location}`, [`${name} is ${stored}, not ${value}`]);
  }
}

/** After a change every list of the resource still has its shape, whatever was left empty. */
async function listsStillFit(probe: Probe): Promise<void> {
  const siblings = Object.values(resources).find((members) => members.includes(probe.endpoint)) ?? [];
  for (const sibling of siblings) {
    if (sibling.methods[0] !== 'GET' || sibling.query !== undefined || sibling.path.includes('csv')) continue;
    const answer = await probe.place.app.one.call('GET', sibling.path);
    // Bulk deletes leave some lists empty, which is a success with [].
    const emptied = JSON.stringify(answer.body?.message).endsWith(':[]}');
    if (!emptied) probe.report(`then ${sibling.path}`, answerProblems(sibling, answer, probe.world.user));
  }
}

async function isGone(probe: Probe, values: Values): Promise<void> {
  const answer = await probe.ask(callOptions(probe.endpoint, values));
  const { status, errors } = Object(answer.body);
  const fits = answer.status === 404 && status === 'failed' && errors === probe.endpoint.recordFailure;
  if (!fits) probe.report('once more', [`${answer.status} ${answer.text}`]);
}
