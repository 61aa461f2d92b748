/** What an account has beside people and mailings: an automation with people in it, a segment, groups, senders, an upload, users. */
import type { Test } from 'tap';
import { contactImports, importKept } from '../../../src/database/schema/index.ts';
import { releaseSending } from '../../../src/delivery/queue/holds.ts';
import { sentence } from '../../../src/errors/sentences.ts';
import { addFeed, holdFeed } from '../../../src/feeds/feeds.ts';
import { isoTimestamp } from '../../../src/time/clock.ts';
import { DAY_MS } from '../../../src/units.ts';
import type { TestApp } from '../app.ts';
import { mustSucceed } from '../campaign.ts';
import { addPerson, cookieOf } from '../people.ts';
import { png, uploadPicture } from '../pictures.ts';
import { until } from '../until.ts';
import type { Naming } from './filled-account.ts';

/**
 * A rule about inactive people that finds nobody, and two whom it found before: neither of them would get mail anyway,
 * so that no audience changes.
 */
async function addInactive(app: TestApp): Promise<void> {
  const rule = { is_on: 1, months: 36, least_mails: 50, action: 'stop' };
  await app.one.call('POST', '/sunset/save', { form: rule });
  const now = app.clock.now().getTime();
  app.db
    .prepare(
      `INSERT INTO sunset_people (user_id, address_id, action, cutoff, created_at) SELECT 1, id, iif(id % 8 = 0, 'stop', 'segment'), 0, ?
      FROM addresses WHERE normalized_email IN ('d4p0@example.org', 'd8p0@example.org')`,
    )
    .run(isoTimestamp(new Date(now - DAY_MS)));
}

/** Adds these records to an account that `fillAccount` has filled. Returns the ids and utrs in the paths of their screens. */
export async function fillRest(
  t: Test,
  app: TestApp,
  naming: Naming,
): Promise<
  Record<
    | 'automation'
    | 'automationMail'
    | 'automationStep'
    | 'feed'
    | 'job'
    | 'upload'
    | 'previewed'
    | 'migration'
    | 'migrationPreview'
    | 'pastImport'
    | 'undoneImport',
    string
  >
> {
  const must = mustSucceed(t, app.one);
  // A month without the background is taken for a clock that went wrong, until somebody says that it is right.
  releaseSending(app.db, app.clock.now().getTime());
  await must('/unsubscribes-groups/save', {
    group_name: naming('Events'),
    description: naming('Readings and talks'),
    is_display: 1,
  });
  await must('/contacts-type/add', { name: naming('Customers') });
  await must('/sender/save', {
    from_name: naming('Lark Books Events'),
    from_email: 'events@example.com',
    reply_to_email: 'events@example.com',
    country_id: 84,
    company_address: naming('1 Harbour St'),
    nickname: naming('Events'),
  });
  await must('/custom-fields/save', { field_name: 'favourite_genre', field_type: 'text' });
  await must('/segment/store', {
    segment_name: naming('Called reader'),
    contact_type_id: 1,
    select_field: ['first_name'],
    select_operator: ['contains'],
    value: ['Reader'],
  });
  await must('/forms/create', {
    name: naming('Footer of the website'),
    contact_type_id: 1,
    sender_id: 1,
    fields: ['first_name', 'favourite_genre'],
    required: ['first_name'],
    group_ids: ['1'],
    asks_tracking: 1,
    intro: naming('Once a month, a letter about new books.'),
  });
  await addInactive(app);
  const colleague = addPerson(app, 'editor', { name: naming('Bo Lindqvist'), email: 'bo@example.org' });
  cookieOf(app, colleague, naming('Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0'));
  addPerson(app, 'viewer', { name: 'Chi', email: 'chi@example.org' });
  const automation = await welcomeSeries(t, app, naming, await addPictures(app, naming));
  const { series } = (await app.one.call('GET', '/automations/series', { query: { utr: automation } })).body.message;
  return {
    automation,
    feed: heldFeed(app, naming),
    // Its second mail, for which some wait.
    automationMail: series.mails[1].utr,
    automationStep: series.steps[3].utr,
    job: await action(t, app),
    upload: await upload(app, naming),
    previewed: await previewed(app, await upload(app, naming), ['email', 'first_name', 'city']),
    migration: (await migration(app, naming)).id,
    migrationPreview: await migrationPreview(app, naming),
    ...pastImports(app, naming),
  };
}

/** Adds a feed that is held because of too many new items, and whose last read failed. Returns its id. */
function heldFeed(app: TestApp, naming: Naming): string {
  const input = {
    ...{
      feed_name: naming('Blog at Lark Books'),
      url: 'https://127.0.0.1/feed.xml',
      sender_id: 1,
      unsubscribe_group_id: 1,
    },
    ...{ recipient_id: ['contacts_1'], exclude_specific_recipient_id: [], template_id: 0 },
    ...{ subject: '((item_title))', weekday: 1, time_of_day: '08:00', time_zone: 'Europe/Berlin' },
  };
  const id = addFeed(app.drizzle, 1, { ...input, rhythm: 'weekly' }, app.clock.now());
  holdFeed(app.drizzle, id, sentence('feed_many_items', { count: 53 }), app.clock.now());
  return String(id);
}

/** A series of three mails and a wait: one reader has left it, some wait for the second mail and some for the third. */
async function welcomeSeries(t: Test, app: TestApp, naming: Naming, picture: string): Promise<string> {
  const must = mustSucceed(t, app.one);
  const { utr } = (await must('/automations/create', {
    type: 'welcome',
    automation_for: 'contacts_1',
    automation_name: naming('Welcome to Lark Books'),
    unsubscribe_group_id: 1,
    exit_criteria: 0,
  })) as { utr: string };
  for (const [subject, waiting_type, waiting_period] of [
    ['Good that you are here', 'instantly', 1],
    ['Three books to begin with', 'days', 2],
    ['How was the first one?', 'days', 7],
  ] as const)
    await must('/automations/schedule/create', {
      ...{ utr, subject: naming(subject), waiting_type, waiting_period },
      sender_id: 1,
      template_id: 1,
      preview_img: 'blank.png',
      template_html: `<p>Hello ((first_name))</p><img src="${picture}" alt="">`,
    });
  await must('/automations/step/add', {
    ...{ utr, kind: 'wait_until', until: 'event', event: 'purchase', timeout_hours: 72 },
    ...{ waiting_type: 'instantly', waiting_period: 1 },
  });
  const live = await app.one.call('GET', '/automations/set-live', { query: { utr } });
  if (live.status !== 200) throw new Error(live.text);
  for (const [day, names] of [['Ada', 'Grace', 'Edsger'], ['Barbara', 'Alan'], ['Margaret']].entries()) {
    for (const name of names)
      await must('/contacts/add', {
        ...{ contact_type_id: 1, country: 1, first_name: name },
        email: `${name.toLowerCase()}@example.net`,
      });
    if (day === 1) await must('/global-unsubscribes/save', { email_address: 'edsger@example.net' });
    await app.background();
    app.clock.advance(1.5 * DAY_MS);
    await app.background();
  }
  return utr;
}

/** Some pictures; gives the address of the first. */
async function addPictures(app: TestApp, naming: Naming): Promise<string> {
  const pictures = [
    ['Books on a shelf', png(600, 400, [176, 112, 58])],
    ['Sky over the harbour', png(800, 300, [122, 168, 204])],
    ['Winter sale', png(300, 300, [40, 92, 84])],
  ] as const;
  const urls: string[] = [];
  for (const [name, bytes] of pictures)
    urls.push((await uploadPicture(app.one, bytes, `${naming(name).replaceAll('"', '')}.png`)).url);
  return urls[0] ?? '';
}

/** An action on many people that is done. */
async function action(t: Test, app: TestApp): Promise<string> {
  const { job } = (await mustSucceed(t, app.one)('/contacts/jobs/start', {
    action: 'segment',
    to_segment_id: 1,
    everything: 1,
    search: 'reader',
  })) as { job: { id: number } };
  await app.background();
  return String(job.id);
}

/** Adds an import that can be undone, and one that was undone, except for two contacts. */
function pastImports(app: TestApp, naming: Naming): { pastImport: string; undoneImport: string } {
  const created_at = isoTimestamp(app.clock.now());
  const add = (more: Partial<typeof contactImports.$inferInsert>) => {
    const made = { user_id: 1, contact_type_id: 1, file_name: `${naming('readers')}.csv`, notes: [], errors: [] };
    const counts = { rows: 1240, created: 1200, updated: 38, failed: 2 };
    return app.drizzle
      .insert(contactImports)
      .values({ ...made, ...counts, created_at, ...more })
      .returning()
      .get().id;
  };
  const pastImport = add({ undo_until: '9999-01-01T00:00:00.000000Z' });
  const undoneImport = add({ state: 'undone', removed: 1199, restored: 37, kept: 2 });
  for (const [contact_id, reason] of [
    [13, 'changed'],
    [999_999, 'deleted'],
  ] as const)
    app.drizzle.insert(importKept).values({ import_id: undoneImport, contact_id, reason }).run();
  return { pastImport: String(pastImport), undoneImport: String(undoneImport) };
}

/** A file of which the columns are to be named. */
async function upload(app: TestApp, naming: Naming): Promise<string> {
  const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const rows = ['Zoë', 'Łukasz', 'Ngọc'].map((name) => [`${name.length}@example.net`, name, naming('Köln')].map(cell));
  const content = [['email', 'first_name', naming('city')].map(cell), ...rows].join('\n');
  const file = { filename: 'readers.csv', content: `${content}\n` };
  const { status, text, body } = await app.one.call('POST', '/contacts/imports/look', { multipart: [['file', file]] });
  if (status !== 200) throw new Error(text);
  return body.message.upload.id;
}

/** Waits for the preview of an upload. Returns the id of the upload. */
async function previewed(app: TestApp, upload_id: string, mapping: readonly string[]): Promise<string> {
  const plan = { upload_id, contact_type_id: 1, mapping };
  const { status, text } = await app.one.call('POST', '/contacts/imports/preview', { json: plan });
  if (status !== 200) throw new Error(text);
  await until(async () => {
    const { message } = (await app.one.call('GET', '/contacts/imports/progress', { query: { upload_id } })).body;
    return message.upload.state === 'looked';
  });
  return upload_id;
}

/** An export of another service. */
async function migration(app: TestApp, naming: Naming): Promise<{ id: string; columns: { field: string }[] }> {
  const list = (subscription_status: string) => ({ name: naming('Readers'), subscription_status });
  const results = ['confirmed', 'unsubscribed'].map((state) => ({
    email: `${state}@example.net`,
    name: naming('Zoë'),
    status: 'enabled',
    attribs: { city: naming('Köln'), favourite: naming('Novels') },
    lists: [list(state)],
  }));
  const file = { filename: 'listmonk.json', content: JSON.stringify({ data: { results } }) };
  const { status, text, body } = await app.one.call('POST', '/contacts/imports/look', {
    multipart: [
      ['source', 'listmonk'],
      ['file', file],
    ],
  });
  if (status !== 200) throw new Error(text);
  return body.message.upload;
}

async function migrationPreview(app: TestApp, naming: Naming): Promise<string> {
  const { id, columns } = await migration(app, naming);
  return previewed(
    app,
    id,
    columns.map(({ field }) => field),
  );
}
