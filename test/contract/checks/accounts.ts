/** Another account's record is answered byte for byte like one that does not exist, and stays as it is. */

import type { World } from '../../support/account-records.ts';
import { selected } from '../errors.ts';
import { unknownIdentifier } from '../faults.ts';
import type { Probe } from '../probe.ts';
import type { Parameter, Value } from '../types.ts';

export async function accounts(probe: Probe): Promise<void> {
  const { endpoint, place } = probe;
  for (const [name, parameter] of Object.entries({ ...endpoint.query, ...endpoint.body })) {
    const isRecord = parameter.kind === 'record' || parameter.kind === 'records';
    const errors = isRecord ? (endpoint.recordFailure ?? '') : { [name]: selected(name) };
    const unknown = pointing(parameter, unknownIdentifier(parameter), place.own);
    for (const theirs of theirRecords(parameter, place.other)) {
      for (const [index, value] of pointing(parameter, theirs, place.own).entries()) {
        const answer = await probe.refused(probe.valid({ [name]: value }), isRecord ? 404 : 422, errors);
        const missing = await probe.refused(probe.valid({ [name]: unknown[index] }), isRecord ? 404 : 422, errors);
        probe.identical(`with ${name} of another account`, answer, missing);
      }
    }
  }
}

/** The other account's records a parameter could point to: both, and where a numeric id is understood beside the utr, that. */
function theirRecords({ fixture, kind, utr }: Parameter, other: World): string[] {
  if (kind === 'target' || kind === 'targets') return [other.contactTypes[0], other.segments[0]];
  if (fixture === undefined) return [];
  const ids = fixture === 'automations' ? other.automationIds : other.singleSendIds;
  return [...other[fixture], ...(utr && kind === 'records' ? ids : [])];
}

/** The values by which the parameter points to a record; where many are given, also beside one of the account's own. */
function pointing({ kind, fixture }: Parameter, id: string, own: World): Value[] {
  if (kind === 'records' && fixture !== undefined) return [[id], [own[fixture][0], id], [id, own[fixture][0]]];
  if (kind === 'target') return [`contacts_${id}`, `segments_${id}`];
  if (kind === 'targets')
    return [[`contacts_${id}`], [`segments_${id}`], [`contacts_${own.contactTypes[0]}`, `contacts_${id}`]];
  return [id];
}
