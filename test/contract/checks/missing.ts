/** Each missing required field is named, all of them at once, before any record is looked for. */
import { required } from '../errors.ts';
import { unknownIdentifier } from '../faults.ts';
import type { Probe } from '../probe.ts';
import type { Changes, Endpoint } from '../types.ts';

export async function missing(probe: Probe): Promise<void> {
  const { endpoint } = probe;
  const fields = Object.entries(endpoint.body ?? {}).filter(
    ([, { kind, required }]) => required && kind !== 'record' && kind !== 'records',
  );
  if (fields.length === 0) return;
  for (const [name, { kind }] of fields) {
    // An empty text counts as missing.
    const spellings = kind === 'file' ? [undefined] : [undefined, '', '   '];
    for (const value of spellings) await probe.refused(probe.valid({ [name]: value }), 422, { [name]: required(name) });
  }
  const all = Object.fromEntries(fields.map(([name]) => [name, required(name)]));
  const none: Changes = Object.fromEntries(
    Object.keys({ ...endpoint.query, ...endpoint.body }).map((name) => [name, undefined]),
  );
  const fieldsOnly: Changes = Object.fromEntries(fields.map(([name]) => [name, undefined]));
  await probe.refused(probe.valid(fieldsOnly), 422, all);
  await probe.refused(probe.valid(none), 422, all);
  const hasFile = fields.some(([, { kind }]) => kind === 'file');
  for (const options of hasFile
    ? []
    : [{}, { form: {} }, { json: {} }, { json: nulls(Object.keys(endpoint.body ?? {})) }]) {
    await probe.refused({ ...options, query: { ...probe.valid().query } }, 422, all);
  }
  await probe.refused(probe.valid({ ...fieldsOnly, ...unknownRecords(endpoint) }), 422, all);
}

function unknownRecords({ query, body }: Endpoint): Changes {
  const records = Object.entries({ ...query, ...body }).filter(([, { kind }]) => kind === 'record');
  return Object.fromEntries(records.map(([name, parameter]) => [name, unknownIdentifier(parameter)]));
}

const nulls = (names: string[]) => Object.fromEntries(names.map((name) => [name, null]));
