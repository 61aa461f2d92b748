/**
 * Holds every release to the recorded answers of the contract, byte for byte. A change that is meant is recorded anew:
 *
 *   RECORD_ANSWERS=1 npx tap test/contract/answers.test.ts
 */
import t from 'tap';
import { buildWorld, type World } from '../support/account-records.ts';
import { startApp } from '../support/app.ts';
import { asRecorded, holdToRecorded } from '../support/recorded.ts';
import { Tables } from '../support/tables.ts';
import { unknownIdentifier } from './faults.ts';
import { endpoints } from './index.ts';
import { gives, record } from './parameters.ts';
import { segment } from './records.ts';
import { callOptions, changed, validValues } from './requests.ts';
import type { Changes, Endpoint } from './types.ts';

/** Additions that answer a record of the contract. They have its keys alone, too. */
const ADDITIONS: Endpoint[] = [
  {
    methods: ['GET'],
    path: '/segment/details',
    query: { segment_id: record('segments') },
    success: gives({ segment }),
    recordFailure: 'Record Not Found',
  },
];
/** All of it, but for lists such as that of all cities. */
const MAX_CHARACTERS = 20_000;

/** The requests whose answers are recorded, by what they are. */
function requestsOf(endpoint: Endpoint, world: World): [what: string, changes: Changes][] {
  const parameters = Object.entries({ ...endpoint.query, ...endpoint.body });
  const requests: [string, Changes][] = [['success', {}]];
  const fields = parameters.filter(([, { kind, required }]) => required && kind !== 'record' && kind !== 'records');
  if (endpoint.body !== undefined && fields.length > 0)
    requests.push(['fields missing', Object.fromEntries(fields.map(([name]) => [name, undefined]))]);
  for (const { given } of endpoint.faults?.slice(0, 1) ?? []) requests.push(['a field wrong', given(world)]);
  for (const [name, parameter] of endpoint.recordFailure === undefined ? [] : parameters) {
    const unknown = unknownIdentifier(parameter);
    if (parameter.kind === 'record') requests.push(['not found', { [name]: unknown }]);
    if (parameter.kind === 'records' && typeof unknown === 'string')
      requests.push(['not found', { [name]: [unknown] }]);
  }
  return requests;
}

t.test(
  'every endpoint of the contract, and every addition that answers its records, answers what is recorded, byte for byte',
  async (t) => {
    const { one, db, clock } = await startApp(t);
    const world = await buildWorld(one);
    db.exec(
      `UPDATE deliveries SET state = 2 WHERE mailing_id IN (SELECT id FROM mailings WHERE owner_kind = 'system')`,
    );
    clock.advance(5 * 60_000);
    const tables = new Tables(db);
    let answers = '';
    for (const endpoint of [...endpoints, ...ADDITIONS]) {
      for (const method of endpoint.methods) {
        for (const [what, changes] of requestsOf(endpoint, world)) {
          const options = callOptions(endpoint, changed(validValues(endpoint, world), changes));
          const { status, text } = await one.call(method, endpoint.path, options);
          answers += `${method} ${endpoint.path}, ${what}: ${status}, ${asRecorded(text, MAX_CHARACTERS)}\n\n`;
          tables.rewind();
        }
      }
    }
    holdToRecorded(t, new URL('answers.txt', import.meta.url), answers);
  },
);
