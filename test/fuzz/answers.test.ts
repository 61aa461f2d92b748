/**
 * Holds every release to the recorded answers of each operation that the OpenAPI document describes: to its own example, to a request
 * without a parameter, and to one in which each is wrong. A change that is meant is recorded anew:
 *
 *   RECORD_ANSWERS=1 npx tap test/fuzz/answers.test.ts
 */
import t from 'tap';
import { startApp } from '../support/app.ts';
import { type Operation, operationsOf, readDocument } from '../support/openapi-operations.ts';
import { asRecorded, holdToRecorded } from '../support/recorded.ts';
import { Tables } from '../support/tables.ts';
import { GOOD, namesOf, requestOf } from './requests.ts';
import { newAccount, SETTINGS } from './world.ts';

const MAX_CHARACTERS = 2000;
const WRONG = 'x'.repeat(300);

/** What depends on the machine, on the moment of the run, and on when the mails of the set-up left. */
const OF_THE_RUN =
  /2026-01-15[ T]09:0\d:\d\d[.\d]*Z?|"node":"[\d.]+"|"(free|database)_bytes":\d+|[\d.]+ GB free|"made_at":"[^"]+"/g;

/** Answers in which it shows in which order the mails of the set-up left, which is drawn by lot. Of those the status alone is recorded. */
const IN_ORDER_OF_MAILS = new Set([
  '/api/backups/download',
  '/api/contacts/person/export',
  '/api/contacts/timeline',
  '/api/deliveries/mail',
  '/api/transactional/mail',
  '/api/outbox/details',
  '/api/outbox/list',
  '/api/overview',
  '/api/single-send/list',
  '/api/single-send/recipients',
  '/api/single-send/recipients/export',
  '/api/single-send/recipients/find',
  '/api/single-send/summaries',
  '/api/single/send/retry-failed',
]);

function requestsOf(operation: Operation) {
  const names = namesOf(operation);
  const each = (how: 'missing' | 'value') => names.map((_name, at) => ({ at, how, value: WRONG, key: '' }));
  const requests = [{ what: 'example', changes: GOOD.changes }];
  if (names.length === 0) return requests;
  return [
    ...requests,
    { what: 'nothing given', changes: each('missing') },
    { what: 'all wrong', changes: each('value') },
  ];
}

t.test('every operation answers what is recorded, byte for byte', async (t) => {
  const app = await startApp(t, SETTINGS);
  const account = await newAccount(app, 'Recorded');
  const tables = new Tables(app.db);
  let answers = '';
  for (const operation of operationsOf(await readDocument(app))) {
    for (const { what, changes } of requestsOf(operation)) {
      // Only the example uses up what is made anew. That a wrong id leaves a waiting backup alone is a rule of test/api/backups.test.ts.
      if (what === 'example') await account.renew(operation);
      const request = requestOf(operation, { ...GOOD, encoding: 0, changes }, account);
      const { statusCode, payload, headers } = await app.fastify.inject({
        ...request,
        headers: { ...request.headers, 'accept-encoding': 'identity' },
      });
      for (const name of ['Location', 'Sendlark-Warnings']) {
        const isGiven = name.toLowerCase() in headers;
        const isDeclared = operation.responses['200']?.headers?.[name] !== undefined;
        // A warning is given only where there is one, and with a failure Location is declared for all operations.
        if (statusCode === 200 && (isGiven || name === 'Location'))
          t.equal(isGiven, isDeclared, `${operation.method} ${operation.path}: ${name} is declared`);
      }
      const isSettled = statusCode !== 200 || !IN_ORDER_OF_MAILS.has(operation.path);
      const answer = isSettled ? asRecorded(payload.replace(OF_THE_RUN, 'of this run'), MAX_CHARACTERS) : '';
      answers += `${operation.method} ${operation.path}, ${what}: ${statusCode}, ${answer}\n\n`;
      tables.rewind();
    }
  }
  holdToRecorded(t, new URL('answers.txt', import.meta.url), answers);
});
