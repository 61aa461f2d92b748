/** Who is in a segment, whatever is written to contacts and segments. */
import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import t from 'tap';
import { markForRecompute, recomputeDueSegments } from '../../../src/audience/segments/recompute.ts';
import { FailedWork } from '../../../src/time/failed-work.ts';
import type { TestApp } from '../../support/app.ts';
import {
  addContact,
  INSERT_LIVE_AUTOMATION,
  membersOf,
  mustAnswer,
  recipientsOf,
  rethrow,
  startWithFields,
  storeSegment,
  uploadCsv,
} from '../../support/segments.ts';

function changes(app: TestApp): string[] {
  const rows = app.db
    .prepare(
      "SELECT change || ' ' || automation_for_table || ' ' || automation_for || ' ' || normalized_email FROM membership_changes m JOIN automations au ON au.id = m.automation_id JOIN addresses a ON a.id = m.address_id ORDER BY m.id",
    )
    .pluck()
    .all();
  app.db.exec('DELETE FROM membership_changes');
  return rows.map((row) => String(row).replace('@example.com', ''));
}

t.test(
  'every write of a contact moves it in and out: added, changed, moved between types, readdressed, deleted',
  async (t) => {
    const app = await startWithFields(t);
    const bonn = await storeSegment(app, ['city', 'is', 'Bonn']);
    const rest = await storeSegment(app, ['city', 'is not', 'Bonn']);
    const other = await storeSegment(app, ['city', 'is', 'Bonn'], { contact_type_id: 2 });
    const where = async () => [
      await membersOf(t, app, bonn),
      await membersOf(t, app, rest),
      await membersOf(t, app, other),
    ];
    const contact_id = await addContact(app, 'a@example.com', { city: 'Bonn' });
    t.strictSame(await where(), ['a', '', '']);
    const change = (values: object) =>
      mustAnswer(app, 'POST', '/contacts/update', {
        form: { contact_id, contact_type_id: 1, email: 'a@example.com', country: 1, ...values },
      });
    await change({ city: 'Rome' });
    t.strictSame(await where(), ['', 'a', '']);
    await change({ city: 'Bonn', email: 'b@example.com' });
    t.strictSame(await where(), ['b', '', '']);
    await change({ contact_type_id: 2 });
    t.strictSame(await where(), ['', '', 'a']);
    await mustAnswer(app, 'DELETE', '/contacts/delete', { query: { contact_id } });
    t.strictSame(await where(), ['', '', '']);
    const ids = [await addContact(app, 'c@example.com'), await addContact(app, 'd@example.com', { city: 'Bonn' })];
    t.strictSame(await where(), ['d', 'c', '']);
    await mustAnswer(app, 'POST', '/contacts/bulk-delete', { form: { strIds: ids } });
    t.strictSame(await where(), ['', '', '']);
  },
);

t.test('an import moves people in and out, in chunks, and counts stay true', async (t) => {
  const app = await startWithFields(t);
  await addContact(app, 'p7@example.com', { 'custom_field[points]': 1, city: 'Bonn' });
  const rich = await storeSegment(app, ['points', 'is greater than', '500']);
  const poor = await storeSegment(app, ['points', 'is not', '7']);
  const rows = (of: (n: number) => number) => Array.from({ length: 700 }, (_, n) => `p${n}@example.com,${of(n)}`);
  await uploadCsv(app, ['email,points', ...rows((n) => n)].join('\n'));
  t.equal((await recipientsOf(app, rich)).length, 199);
  t.equal((await recipientsOf(app, poor)).length, 699);
  await uploadCsv(app, ['email,points', ...rows((n) => 600 - n)].join('\n'));
  t.equal((await membersOf(t, app, rich)).split(' ').length, 100);
  t.notOk((await membersOf(t, app, poor)).split(' ').includes('p593'));
  t.equal((await recipientsOf(app, poor)).length, 699);
});

t.test('an update of the rules recomputes; what was done by hand stays', async (t) => {
  const app = await startWithFields(t);
  for (const name of ['a', 'b', 'c']) await addContact(app, `${name}@example.com`, { city: name });
  const segment_id = await storeSegment(app, ['city', 'is', 'a']);
  const hand = (email: string) =>
    mustAnswer(app, 'POST', '/segment/email/store', { form: { segment_id, first_name: 'H', last_name: 'And', email } });
  await hand('x@example.com');
  await hand('c@example.com');
  t.equal(await membersOf(t, app, segment_id), 'a c x');
  const [a] = await recipientsOf(app, segment_id);
  await mustAnswer(app, 'DELETE', '/segment/email/delete', { query: { segment_recipient_id: a.id } });
  t.equal(await membersOf(t, app, segment_id), 'c x');
  const form = {
    segment_id,
    segment_name: 'New',
    contact_type_id: 1,
    select_field: ['city'],
    select_operator: ['is not'],
    value: ['zzz'],
  };
  await mustAnswer(app, 'POST', '/segment/update', { form });
  t.equal(await membersOf(t, app, segment_id), 'b c x');
  await mustAnswer(app, 'POST', '/segment/update', { form: { ...form, contact_type_id: 2 } });
  t.equal(await membersOf(t, app, segment_id), 'c x', 'people of another type go, people added by hand stay');
  t.strictSame(
    (await recipientsOf(app, segment_id)).map(({ contact_id, fullname }) => [contact_id, fullname]),
    [
      [null, 'H And'],
      [null, 'H And'],
    ],
  );
});

t.test(
  'someone added by hand is one recipient, linked to the contact of that address while there is one',
  async (t) => {
    const app = await startWithFields(t);
    const segment_id = await storeSegment(app, ['city', 'is', 'Bonn']);
    const form = { segment_id, first_name: 'Hand', last_name: 'Made', email: 'a@example.com' };
    await mustAnswer(app, 'POST', '/segment/email/store', { form });
    await mustAnswer(app, 'POST', '/segment/email/store', { form: { ...form, email: 'A@EXAMPLE.com' } });
    const seen = async () => {
      const list = await recipientsOf(app, segment_id);
      t.equal(list.length, 1);
      return [list[0].contact_id, list[0].fullname, list[0].country === null];
    };
    t.strictSame(await seen(), [null, 'Hand Made', true]);
    const contact_id = await addContact(app, 'a@example.com', { first_name: 'Own', city: 'Rome' });
    t.strictSame(await seen(), [contact_id, 'Own', false]);
    await mustAnswer(app, 'DELETE', '/contacts/delete', { query: { contact_id } });
    t.strictSame(await seen(), [null, 'Hand Made', true]);
  },
);

t.test('a recipient deleted by hand stays out, until added by hand', async (t) => {
  const app = await startWithFields(t);
  const contact_id = await addContact(app, 'a@example.com', { city: 'Bonn' });
  const segment_id = await storeSegment(app, ['city', 'is', 'Bonn']);
  const [{ id }] = await recipientsOf(app, segment_id);
  const remove = { query: { segment_recipient_id: id } };
  await mustAnswer(app, 'DELETE', '/segment/email/delete', remove);
  t.equal((await app.one.call('DELETE', '/segment/email/delete', remove)).body.errors, 'Record Not Found');
  await mustAnswer(app, 'POST', '/contacts/update', {
    form: { contact_id, contact_type_id: 1, email: 'a@example.com', country: 1, city: 'bonn' },
  });
  await uploadCsv(app, 'email,city\na@example.com,Bonn');
  t.equal(await membersOf(t, app, segment_id), '');
  await mustAnswer(app, 'POST', '/segment/email/store', {
    form: { segment_id, first_name: 'A', last_name: 'B', email: 'a@example.com' },
  });
  t.equal(await membersOf(t, app, segment_id), 'a');
});

t.test('joining and leaving are recorded for what a live automation watches, and for nothing else', async (t) => {
  const app = await startWithFields(t);
  const watched = await storeSegment(app, ['city', 'is', 'Bonn']);
  await storeSegment(app, ['city', 'is not blank']);
  const one = await addContact(app, 'before@example.com', { city: 'Bonn' });
  t.strictSame(changes(app), []);
  app.db.prepare(INSERT_LIVE_AUTOMATION).run(watched, 'segments', 'u1');
  app.db.prepare(INSERT_LIVE_AUTOMATION).run(1, 'contacts', 'u2');
  const two = await addContact(app, 'a@example.com', { city: 'Bonn' });
  t.strictSame(changes(app), ['joined contacts 1 a', `joined segments ${watched} a`]);
  const update = (values: object) =>
    mustAnswer(app, 'POST', '/contacts/update', {
      form: { contact_id: two, contact_type_id: 1, email: 'a@example.com', country: 1, ...values },
    });
  await update({ first_name: 'Same' });
  t.strictSame(changes(app), []);
  await update({ city: 'Rome' });
  t.strictSame(changes(app), [`left segments ${watched} a`]);
  await update({ city: 'Bonn', email: 'b@example.com' });
  t.strictSame(
    changes(app),
    [`joined segments ${watched} b`],
    'a corrected address leaves and joins nothing, the rule does',
  );
  await update({ contact_type_id: 2, email: 'b@example.com' });
  t.strictSame(changes(app), ['left contacts 1 b', `left segments ${watched} b`]);
  await uploadCsv(app, 'email,city\nc@example.com,Bonn\nbefore@example.com,Rome');
  t.strictSame(changes(app), [
    'joined contacts 1 c',
    `left segments ${watched} before`,
    `joined segments ${watched} c`,
  ]);
  await mustAnswer(app, 'DELETE', '/contacts/delete', { query: { contact_id: one } });
  t.strictSame(changes(app), ['left contacts 1 before']);
  const form = { segment_id: watched, first_name: 'H', last_name: 'M', email: 'h@example.com' };
  await mustAnswer(app, 'POST', '/segment/email/store', { form });
  await mustAnswer(app, 'POST', '/segment/email/store', { form: { ...form, email: 'c@example.com' } });
  t.strictSame(changes(app), [`joined segments ${watched} h`]);
  const hand = (await recipientsOf(app, watched)).find(({ email }) => email === 'h@example.com');
  await mustAnswer(app, 'DELETE', '/segment/email/delete', { query: { segment_recipient_id: hand.id } });
  t.strictSame(changes(app), [`left segments ${watched} h`]);
  await mustAnswer(app, 'POST', '/segment/update', {
    form: {
      segment_id: watched,
      segment_name: 'S',
      contact_type_id: 2,
      select_field: ['city'],
      select_operator: ['is'],
      value: ['bonn'],
    },
  });
  t.strictSame(
    changes(app),
    [`joined segments ${watched} b`],
    'the contact that moved to type 2; people added by hand were in it before',
  );
});

t.test('whatever the order of writes, who is in it is who a recompute puts in, and the count says so', async (t) => {
  const app = await startWithFields(t);
  const segment_id = await storeSegment(app, ['city', 'does not contain', 'x']);
  const person = fc.constantFrom('a', 'b', 'c', 'd');
  const place = { city: fc.constantFrom('x', 'y'), type: fc.constantFrom(1, 2) };
  const write = fc.oneof(
    fc.record({ act: fc.constant('add'), person, ...place }),
    fc.record({ act: fc.constant('change'), person, ...place, to: person }),
    fc.record({ act: fc.constant('import'), person, ...place }),
    fc.record({ act: fc.constantFrom('delete', 'hand', 'unhand'), person }),
  );
  const newest = (table: string, name: string) =>
    app.db.prepare(`SELECT max(id) FROM ${table} WHERE email = ?`).pluck().get(`${name}@example.com`) ?? 0;
  const apply = async (given: { act: string; person: string; city?: string; type?: number; to?: string }) => {
    const email = `${given.to ?? given.person}@example.com`;
    const contact_id = newest('contacts', given.person);
    const form = { contact_id, contact_type_id: given.type, email, country: 1, city: given.city };
    if (given.act === 'add') await app.one.call('POST', '/contacts/add', { form });
    if (given.act === 'change') await app.one.call('POST', '/contacts/update', { form });
    if (given.act === 'import') await uploadCsv(app, `email,city\n${email},${given.city}`, String(given.type));
    if (given.act === 'delete') await app.one.call('DELETE', '/contacts/delete', { query: { contact_id } });
    if (given.act === 'hand') {
      await mustAnswer(app, 'POST', '/segment/email/store', {
        form: { segment_id, first_name: 'H', last_name: 'M', email },
      });
    }
    if (given.act === 'unhand') {
      const segment_recipient_id = newest('segment_recipients', given.person);
      await app.one.call('DELETE', '/segment/email/delete', { query: { segment_recipient_id } });
    }
  };
  await fc.assert(
    fc.asyncProperty(fc.array(write, { minLength: 4, maxLength: 12 }), async (writes) => {
      for (const given of writes) await apply(given);
      const kept = await recipientsOf(app, segment_id);
      const { count } = app.db.prepare('SELECT segment_emails_count AS count FROM segments').get() as { count: number };
      markForRecompute(app.drizzle, sql`id = ${segment_id}`);
      while (await recomputeDueSegments(app.drizzle, app.clock, new FailedWork(app.clock), rethrow));
      const fresh = await recipientsOf(app, segment_id);
      if (JSON.stringify(fresh) !== JSON.stringify(kept) || count !== kept.length)
        throw new Error(`${JSON.stringify(kept)}, counted ${count}, became ${JSON.stringify(fresh)}`);
    }),
    { numRuns: 15 },
  );
});
