/** Each faulty value earns its text, all faulty fields at once theirs, and nothing is saved. */
import type { Expected } from '../errors.ts';
import { faultyValues } from '../faults.ts';
import type { Probe } from '../probe.ts';
import type { Changes, Fault } from '../types.ts';

export async function faults(probe: Probe): Promise<void> {
  const { endpoint, world, place } = probe;
  const together: Changes = {};
  const errors: Record<string, Expected> = {};
  for (const [field, parameter] of Object.entries(endpoint.body ?? {})) {
    for (const [value, text] of faultyValues(field, parameter, world, place.other)) {
      await probe.refused(probe.valid({ [field]: value }), 422, { [field]: text });
      together[field] ??= value;
      errors[field] ??= text;
    }
  }
  if (Object.keys(together).length > 1) await probe.refused(probe.valid(together), 422, errors);
  for (const fault of endpoint.faults ?? []) await implied(probe, fault);
}

async function implied(probe: Probe, fault: Fault): Promise<void> {
  const options = probe.valid(fault.given(probe.world));
  if ('errors' in fault) {
    await probe.refused(options, 422, fault.errors);
    return;
  }
  const answer = await probe.ask(options);
  const fields = Object.keys(Object(answer.body?.errors));
  const fits = answer.status === 422 && fields.length > 0 && fields.every((field) => fault.among.includes(field));
  if (!fits) probe.report(options, [`${answer.status} ${answer.text}, not errors of ${fault.among}`]);
  probe.unchanged(options);
}
