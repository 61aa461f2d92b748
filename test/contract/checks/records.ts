/** A record that is absent, malformed or unknown earns the endpoint's own text, and nothing happens. */
import { malformedIdentifiers, unknownIdentifier } from '../faults.ts';
import type { Probe } from '../probe.ts';
import { callOptions, validValues } from '../requests.ts';
import type { Parameter, Value } from '../types.ts';

export async function records(probe: Probe): Promise<void> {
  const { endpoint, world } = probe;
  const text = endpoint.recordFailure;
  if (text === undefined) return;
  for (const [name, parameter] of Object.entries({ ...endpoint.query, ...endpoint.body })) {
    if (parameter.kind !== 'record' && parameter.kind !== 'records') continue;
    for (const value of [undefined, '', ...wrongValues(probe, parameter)]) {
      await probe.refused(probe.valid({ [name]: value }), 404, text);
    }
    if (endpoint.body === undefined || !(name in endpoint.body)) continue;
    const { json, ...options } = callOptions(endpoint, validValues(endpoint, world), { body: 'json', values: 'texts' });
    for (const value of wrongJson(parameter, world[parameter.fixture ?? 'contacts'][0])) {
      await probe.refused({ ...options, json: { ...Object(json), [name]: value } }, 404, text);
    }
  }
  for (const changes of endpoint.alsoNotFound?.(world) ?? []) await probe.refused(probe.valid(changes), 404, text);
}

function wrongValues(probe: Probe, parameter: Parameter): Value[] {
  const [known, another] = probe.world[parameter.fixture ?? 'contacts'];
  const wrong = [unknownIdentifier(parameter), ...malformedIdentifiers(known)];
  if (parameter.kind === 'record') return wrong;
  // In a bulk one wrong id spoils all; a repeated name is an array there.
  const single = wrong.filter((value): value is string => typeof value === 'string');
  return ['', ...single].flatMap((value): Value[] => [[value], [another, value]]);
}

/** What only JSON can say, wrong for one record and for a list of them. */
function wrongJson({ kind }: Parameter, known: string): unknown[] {
  const both = [null, true, 1.5, -1, 1e21, [], [null], [true], [1.5], [{}], [[known]]];
  return kind === 'records' ? both : [...both, {}, { id: known }, { 0: known }];
}
