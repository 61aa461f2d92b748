/** The preview of an import says what the import then does, whatever is chosen, and an undo takes all of that back. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { importContacts } from '../../../src/audience/import/import.ts';
import type { ImportOptions } from '../../../src/audience/import/import-job.ts';
import { previewImport } from '../../../src/audience/import/preview.ts';
import { undoImport } from '../../../src/audience/import/undo.ts';
import { isoTimestamp } from '../../../src/time/clock.ts';
import { startApp, type TestApp } from '../../support/app.ts';

const FIELDS = ['first_name', 'city', 'country', 'alt_email', 'shoe_size'] as const;
const VALUES: Record<(typeof FIELDS)[number], string[]> = {
  first_name: ['', 'Zoë', 'Ivo'],
  city: ['', 'Graz', 'Wien'],
  country: ['', 'Austria', 'DE'],
  alt_email: ['', 'other@example.org'],
  shoe_size: ['', '42', '43', 'wrong'],
};
const anyRow = fc.record({
  email: fc.constantFrom('a@example.com', 'b@example.com', 'B@example.com', 'c@example.com', 'd@example.com', 'none'),
  ...Object.fromEntries(FIELDS.map((field) => [field, fc.constantFrom(...VALUES[field])])),
});
const anyFile = fc.record({
  columns: fc.subarray([...FIELDS]),
  rows: fc.array(anyRow, { minLength: 1, maxLength: 8 }),
});
const anyOptions: fc.Arbitrary<ImportOptions> = fc.record({
  existing: fc.constantFrom('update', 'keep'),
  emptyCells: fc.constantFrom('clear', 'keep'),
  segmentId: fc.constantFrom(null, 1, 2),
  startsAutomations: fc.boolean(),
  unsubscribe: fc.constantFrom<ImportOptions['unsubscribe'][]>('nothing', 'all', 1),
  correctedDomains: fc.constant([]),
});
type File = typeof anyFile extends fc.Arbitrary<infer T> ? T : never;

const csv = ({ columns, rows }: File) =>
  [['email', ...columns], ...rows.map((row) => ['email', ...columns].map((name) => Object(row)[name]))]
    .map((cells) => cells.join(','))
    .join('\n');

/** Contacts by address, with the fields that a preview compares. */
const contactsOf = (app: TestApp) =>
  new Map(
    app.db
      .prepare<[], Record<string, string>>(`
        SELECT a.normalized_email AS address, c.email, first_name, city, ifnull(n.name, '') AS country, ifnull(alt_email, '') AS alt_email,
          ifnull(json_extract(custom_values, '$."1"'), '') AS shoe_size
        FROM contacts c JOIN addresses a ON a.id = c.address_id LEFT JOIN countries n ON n.id = c.country_id WHERE c.deleted_at IS NULL`)
      .all()
      .map(({ address, ...fields }) => [address, fields]),
  );
const dump = (app: TestApp) =>
  ['contacts', 'contact_types', 'segments', 'segment_recipients', 'unsubscribers', 'unsubscribe_groups'].map((table) =>
    app.db.prepare(`SELECT * FROM ${table} ORDER BY id`).all(),
  );

t.test('property: the preview is what then happens, and an undo takes it back', async (t) => {
  const app = await startApp(t);
  const { call } = app.one;
  await call('POST', '/contacts-type/add', { form: { name: 'Customers' } });
  await call('POST', '/custom-fields/save', { form: { field_name: 'shoe_size', field_type: 'number' } });
  await call('POST', '/unsubscribes-groups/save', { form: { group_name: 'News', description: 'News', is_display: 1 } });
  for (const city of ['Graz', 'Wien'])
    await call('POST', '/segment/store', {
      form: { segment_name: city, contact_type_id: 1, select_field: ['city'], select_operator: ['is'], value: [city] },
    });
  await call('POST', '/global-unsubscribes/save', { form: { email_address: 'a@example.com' } });
  await call('POST', '/segment/email/store', {
    form: { segment_id: 1, email: 'c@example.com', first_name: 'By', last_name: 'Hand' },
  });
  const path = join(t.testdir(), 'people.csv');
  const job = { databasePath: app.path, accountId: 1, typeId: 1, path, fileName: 'people.csv' };
  await fc.assert(
    fc.asyncProperty(anyFile, anyFile, anyOptions, async (first, second, options) => {
      writeFileSync(path, csv(first));
      const base = await importContacts(app.drizzle, job, app.clock);
      await app.background();
      app.clock.advance(1000);
      const [before, tables] = [contactsOf(app), dump(app)];
      writeFileSync(path, csv(second));
      const preview = await previewImport(app.drizzle, { ...job, options });
      t.strictSame(dump(app), tables, 'a preview changes nothing');
      const report = await importContacts(app.drizzle, { ...job, options }, app.clock);
      const after = contactsOf(app);
      const changed = [...before].filter(
        ([address, fields]) => JSON.stringify(fields) !== JSON.stringify(after.get(address)),
      );
      const { counts } = preview;
      t.equal(preview.is_possible, report.id > 0 ? 1 : 0);
      t.strictSame([preview.rows, preview.failed, preview.errors], [report.rows, report.failed, report.errors]);
      t.strictSame([counts.new, counts.changed + counts.unchanged], [report.created, report.updated]);
      t.equal(after.size - before.size, counts.new);
      t.equal(changed.length, counts.changed);
      for (const field of ['email', ...FIELDS])
        t.equal(
          preview.fields.find((one) => one.field === field)?.count ?? 0,
          changed.filter(([address, fields]) => fields[field] !== after.get(address)?.[field]).length,
          field,
        );
      for (const { email, changes } of preview.people.changed)
        for (const { field, before: was, after: is } of changes) {
          t.equal(was ?? '', before.get(email.toLowerCase())?.[field]);
          t.equal(is ?? '', after.get(email.toLowerCase())?.[field]);
        }
      app.clock.advance(1000);
      for (const { id } of [report, base]) {
        if (id > 0) undoImport(app.drizzle, 1, id, isoTimestamp(app.clock.now()));
        await app.background();
        if (id === report.id) t.strictSame(dump(app), tables, 'as before the import');
      }
      app.clock.advance(1000);
    }),
    { numRuns: 60 },
  );
});
