/** One request has one result, however it is encoded or spelled, and whatever else it says. */
import type { CallOptions } from '../../support/app.ts';
import { withoutChance } from '../../support/tables.ts';
import type { Probe } from '../probe.ts';
import { callOptions, changed, encodingsOf, validValues } from '../requests.ts';
import type { Changes, Endpoint, Values } from '../types.ts';

/** Nothing of this can be set from outside. */
const IGNORED: Changes = {
  nonsense: 'x',
  user_id: '2',
  rand_id: '1',
  is_verified: '1',
  is_reserved: '1',
  status: '3',
  triggered: '7',
  total_triggered: '7',
  contacts_count: '7',
  live_at: '2026-01-01 00:00:00',
  sent_at: '2026-01-01 00:00:00',
  created_at: '2020-01-01T00:00:00.000000Z',
  deleted_at: '2020-01-01T00:00:00.000000Z',
};

const FLAGS: Record<string, string[]> = { '0': ['false', 'off'], '1': ['true', 'on'] };

export async function encodings(probe: Probe): Promise<void> {
  const { endpoint, world } = probe;
  const values = validValues(endpoint, world);
  const expected = await resultOf(probe, callOptions(endpoint, values));
  const alike: CallOptions[] = [];
  if (endpoint.body !== undefined) {
    for (const encoding of encodingsOf(endpoint)) alike.push(callOptions(endpoint, values, encoding));
  } else {
    // A type without a body, as some clients send it.
    alike.push({ ...callOptions(endpoint, values), headers: { 'content-type': 'application/json' } });
  }
  for (const changes of [IGNORED, ...spellings(endpoint, values), ...(endpoint.same?.(world) ?? [])]) {
    alike.push(callOptions(endpoint, changed(values, changes)));
  }
  for (const options of alike) {
    const result = await resultOf(probe, options);
    if (result !== expected) probe.report(options, [`another result: ${difference(expected, result)}`]);
  }
}

/** The answer, and all rows of the tables that the request changed, in one text. */
async function resultOf(probe: Probe, options: CallOptions): Promise<string> {
  const { status, text } = await probe.ask(options);
  const { tables } = probe.place;
  const after = tables.dump();
  const rows = withoutChance(new Map(tables.changed().map((name) => [name, after.get(name) ?? []])));
  tables.rewind();
  return `${status} ${withoutChance(text)} ${rows}`;
}

/** Other spellings of single values: surrounding space, words for flags. */
function spellings(endpoint: Endpoint, values: Values): Changes[] {
  return Object.entries(endpoint.body ?? {}).flatMap(([name, { kind }]): Changes[] => {
    const value = values[name];
    if (typeof value !== 'string') return [];
    if (kind === 'flag') return (FLAGS[value] ?? []).map((word) => ({ [name]: word }));
    return ['line', 'header', 'text', 'email', 'emails'].includes(kind) ? [{ [name]: ` \t${value}  ` }] : [];
  });
}

function difference(one: string, two: string): string {
  let at = 0;
  while (at < one.length && one[at] === two[at]) at++;
  const around = (text: string) => JSON.stringify(text.slice(Math.max(0, at - 60), at + 60));
  return `${around(two)}, not ${around(one)}`;
}
