/** Sends thousands of requests made from the OpenAPI document, and holds every answer against the promises of the interface. */
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import type { TestApp } from '../support/app.ts';
import { type Operation, operationsOf, readDocument } from '../support/openapi-operations.ts';
import { hostileHeaders, hostileKey, hostileQuery, hostileValue, otherMethod } from './hostile.ts';
import { type Change, GOOD, type Plan, printed, type Request, requestOf } from './requests.ts';
import { newAccount } from './world.ts';

const CASES_PER_ACCOUNT = 500;
const HANGS_AFTER_MS = 30_000;

export interface Outcome {
  requests: number;
  /** How often each status was answered. */
  statuses: Map<number, number>;
  /** How often each operation succeeded. */
  successes: Map<string, number>;
}

const change: fc.Arbitrary<Change> = fc.record({
  at: fc.nat(30),
  how: fc.constantFrom('value', 'value', 'value', 'value', 'missing', 'key', 'file', 'json'),
  value: hostileValue,
  key: hostileKey,
});

const rarely = <T>(usual: T, arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 12, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary });

const plans: fc.Arbitrary<Plan> = fc.record({
  operation: fc.nat(9999),
  encoding: fc.nat(2),
  changes: fc.array(change, { maxLength: 3 }),
  body: rarely<Plan['body']>('whole', fc.constantFrom('none', 'cut', 'array', 'text', 'null', 'doubled')),
  query: rarely('', hostileQuery),
  headers: rarely<Record<string, string>>({}, hostileHeaders),
  method: rarely<string | null>(null, otherMethod),
});

/** Visits every operation with its own example, then runs the cases of the seed. Rejects with the request of the first broken promise. */
export async function fuzz(app: TestApp, { cases, seed }: { cases: number; seed: number }): Promise<Outcome> {
  const operations = operationsOf(await readDocument(app));
  const outcome: Outcome = { requests: 0, statuses: new Map(), successes: new Map() };
  let account = await newAccount(app, 'Fuzz');

  const send = async (operation: Operation, plan: Omit<Plan, 'operation'>): Promise<number> => {
    await account.renew(operation);
    const request = requestOf(operation, plan, account);
    const answer = await answered(app, request);
    count(outcome.statuses, answer.status);
    if (answer.isSuccess && plan.method === null) count(outcome.successes, operation.operationId);
    outcome.requests++;
    return answer.status;
  };

  for (const operation of constructiveFirst(operations)) {
    for (const encoding of [...operation.bodies.keys(), 0].slice(0, Math.max(1, operation.bodies.length))) {
      const status = await send(operation, { ...GOOD, encoding });
      // For the next encoding, what was deleted is gone, and a file that was imported is in use.
      if (status !== 200 && !((status === 404 || status === 409) && encoding > 0)) {
        throw new Error(
          `the documented example fails with ${status}:\n${printed(requestOf(operation, { ...GOOD, encoding }, account))}`,
        );
      }
    }
  }
  account = await newAccount(app, 'Fuzz');
  const property = fc.asyncProperty(plans, async (plan) => {
    const operation = operations[plan.operation % operations.length];
    if (operation === undefined) throw new Error('the document has no operation');
    if (outcome.requests % CASES_PER_ACCOUNT === 0) account = await newAccount(app, 'Fuzz');
    await send(operation, plan);
  });
  await fc.assert(property, { numRuns: cases, seed, endOnFailure: false });
  return outcome;
}

/** Deletions last, and before them the removal of a mail, whose automation is deleted then. */
function constructiveFirst(operations: Operation[]): Operation[] {
  const rank = ({ method, path }: Operation) =>
    method === 'DELETE' || path.endsWith('bulk-delete') ? 2 : path.endsWith('schedule/remove') ? 1 : 0;
  return operations.toSorted((one, other) => rank(one) - rank(other));
}

/** Sends the request; rejects with it when the answer breaks a promise: a 5xx, a body without the envelope, none at all. */
export async function answered(app: TestApp, request: Request): Promise<{ status: number; isSuccess: boolean }> {
  let timer: NodeJS.Timeout | undefined;
  const hang = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer:\n${printed(request)}`)), HANGS_AFTER_MS);
  });
  const { statusCode, headers, rawPayload } = await Promise.race([app.fastify.inject(request), hang]).finally(() =>
    clearTimeout(timer),
  );
  const problem = problemOf(request.method, statusCode, String(headers['content-type']), () =>
    (headers['content-encoding'] === 'gzip' ? gunzipSync(rawPayload) : rawPayload).toString('utf8'),
  );
  if (problem !== null) {
    throw new Error(`${problem}: ${statusCode} ${rawPayload.toString('utf8').slice(0, 500)}\n${printed(request)}`);
  }
  return { status: statusCode, isSuccess: statusCode === 200 };
}

/** What is wrong with an answer, or null. */
function problemOf(method: string, status: number, type: string, text: () => string): string | null {
  if (status >= 500) return 'a failure of our own';
  if (method === 'HEAD' || status === 304) return null;
  if (/^(text\/(csv|plain|event-stream)|message\/rfc822|application\/vnd\.sqlite3)/.test(type))
    return status === 200 ? null : `a failure of type ${type}`;
  if (!type.startsWith('application/json')) return `an answer of type ${type}`;
  const { status: word, message, errors }: Record<string, unknown> = Object(JSON.parse(text()));
  if (word !== (status === 200 ? 'success' : 'failed')) return 'status code and body disagree';
  return (message === undefined) === (errors === undefined) ? 'not exactly one of message and errors' : null;
}

function count<T>(counts: Map<T, number>, key: T): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
