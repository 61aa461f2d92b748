/** The keys that a first start makes. */
import { join } from 'node:path';
import t from 'tap';
import { firstKeys, firstKeysShown, useKeys } from '../../src/database/accounts.ts';
import { connect } from '../../src/database/open.ts';
import { systemClock } from '../../src/time/clock.ts';
import { seededCopy } from '../support/seeded-copy.ts';

t.test('the first keys are made again by each start until they have been shown', async (t) => {
  const file = join(t.testdir({}), 'test.db');
  seededCopy(file);
  const db = connect(file);
  t.teardown(() => db.$client.close());
  const one = firstKeys(db, systemClock, false);
  const two = firstKeys(db, systemClock, false);
  t.ok(one && two && one.secretKey !== two.secretKey, 'a start that was killed before it showed them loses nothing');
  t.strictSame(two && useKeys(db, systemClock, two, { publicKey: '', secretKey: '' }), {
    accountId: 1,
    name: '',
    scopes: ['everything'],
  });
  firstKeysShown(db);
  t.equal(firstKeys(db, systemClock, false), null);
});

t.test('with a pair in the settings, no first keys are made', async (t) => {
  const file = join(t.testdir({}), 'test.db');
  seededCopy(file);
  const db = connect(file);
  t.teardown(() => db.$client.close());
  t.equal(firstKeys(db, systemClock, true), null);
  t.equal(db.$client.prepare('SELECT count(*) FROM accounts').pluck().get(), 1);
  t.equal(firstKeys(db, systemClock, false), null);
});
