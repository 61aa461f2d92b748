/** What a business rule forbids is refused with 409. */
import type { Probe } from '../probe.ts';

/** Arranging moves the clock and runs the background: a place where other checks are done is no longer the same. */
export async function conflicts(probe: Probe): Promise<void> {
  const { endpoint, place } = probe;
  for (const { arrange, errors } of endpoint.conflicts ?? []) {
    const changes = await arrange(place.app, place.own);
    place.tables.remember();
    await probe.refused(probe.valid(changes), 409, errors);
  }
}
