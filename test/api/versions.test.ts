/** Versions of mails: when one is made, what is in it, who made it, bringing one back, and what becomes of them. */
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { packContent, unpackContent } from '../../src/database/functions/packed-content.ts';
import { purge } from '../../src/database/purge.ts';
import { MINUTE_MS } from '../../src/units.ts';
import { buildWorld } from '../support/account-records.ts';
import { type Caller, startApp, type TestApp } from '../support/app.ts';
import { addPerson, callerOf } from '../support/people.ts';

interface Listed {
  id: number;
  made_by: string | null;
  is_current: 0 | 1;
  created_at: string;
  updated_at: string;
}

const versionsOf = async (caller: Caller, utr: string): Promise<Listed[]> =>
  (await caller.call('GET', '/versions/list', { query: { mail_utr: utr } })).body.message.versions;
const newDraft = async (caller: Caller): Promise<string> =>
  (await caller.call('POST', '/single/send/draft', { form: { single_send_name: 'June' } })).body.message.utr;
const save = async (caller: Caller, utr: string, changes: Record<string, unknown>) => {
  const { status, text } = await caller.call('POST', '/single/send/save', { form: { utr, ...changes } });
  if (status !== 200) throw new Error(text);
};
const htmlOf = async (caller: Caller, utr: string) => {
  const { status, body } = await caller.call('GET', '/single-send/details', { query: { utr } });
  if (status !== 200) throw new Error('the single send is gone');
  return body.message.singleSend[0].template_html;
};
const contents = (app: TestApp): string[] =>
  app.db
    .prepare<[], Buffer>('SELECT content FROM mail_versions ORDER BY id')
    .pluck()
    .all()
    .map((packed) => unpackContent(packed).template_html);

t.test(
  'a change makes a version, within five minutes of the same person the same one, and without a change none',
  async (t) => {
    const app = await startApp(t);
    const ann = callerOf(app, addPerson(app, 'editor', { name: 'Ann' }));
    const ben = callerOf(app, addPerson(app, 'editor', { name: 'Ben', email: 'ben@example.org' }));
    const utr = await newDraft(ann);
    await save(ann, utr, { subject: 'Hello' });
    t.strictSame(await versionsOf(ann, utr), [], 'nothing that could be brought back');
    await save(ann, utr, { template_html: '1' });
    app.clock.advance(4 * MINUTE_MS);
    await save(ann, utr, { template_html: '2' });
    await save(ann, utr, { template_html: '2', subject: 'Hello again' });
    t.strictSame(contents(app), ['2']);
    const [first] = await versionsOf(ann, utr);
    t.match(first, { made_by: 'Ann', is_current: 1, created_at: '2026-01-15T09:00', updated_at: '2026-01-15T09:04' });
    app.clock.advance(MINUTE_MS);
    await save(ann, utr, { template_html: '3' });
    t.strictSame(contents(app), ['2', '3'], 'five minutes after the version began');
    await save(ben, utr, { template_html: '4' });
    t.strictSame(contents(app), ['2', '3', '4'], 'another person');
    await save(app.one, utr, { template_html: '5' });
    t.match(
      (await versionsOf(ann, utr)).map(({ made_by, is_current }) => [made_by, is_current]),
      [
        [null, 1],
        ['Ben', 0],
        ['Ann', 0],
        ['Ann', 0],
      ],
    );
  },
);

t.test('a template or another kind of code in place of what was there is a version of its own at once', async (t) => {
  const app = await startApp(t);
  const utr = await newDraft(app.one);
  await save(app.one, utr, { template_html: 'Mine' });
  await save(app.one, utr, { template_id: 3, template_json: '', template_html: '' });
  t.strictSame(contents(app), ['Mine', '']);
  const { body } = await app.one.call('POST', '/templates/create', {
    form: { template_name: 'x', template_html: 'Kept' },
  });
  await save(app.one, utr, { template_html: 'Typed' });
  await save(app.one, utr, { template_id: body.message.id, template_json: '', template_html: '' });
  t.strictSame(contents(app), ['Mine', '', 'Typed', 'Kept']);
  const [, , chosen] = await versionsOf(app.one, utr);
  const { version } = (await app.one.call('GET', '/versions/details', { query: { version_id: chosen?.id } })).body
    .message;
  t.match(version, { utr, template_id: 3, template_json: '', template_html: '' });
  t.match(version.html, /<html/, 'the template as it comes can be looked at');
});

t.test('what a mail was made of before its first change is kept with it', async (t) => {
  const app = await startApp(t);
  const { schedules } = await buildWorld(app.one);
  const utr = await newDraft(app.one);
  app.db.prepare("UPDATE single_sends SET template_html = 'Old' WHERE utr = ?").run(utr);
  app.db.exec('DELETE FROM mail_versions');
  await save(app.one, utr, { template_html: 'New' });
  t.strictSame(contents(app), ['Old', 'New'], 'although both are of the same five minutes');
  app.db.exec('DELETE FROM mail_versions');
  app.db
    .prepare("UPDATE automation_schedules SET template_html = 'Other', template_json = '' WHERE utr = ?")
    .run(schedules[0]);
  t.equal((await versionsOf(app.one, schedules[0] ?? '')).length, 2);
});

t.test('a version that is brought back is a version itself, so that it can be undone', async (t) => {
  const app = await startApp(t);
  const editor = callerOf(app, addPerson(app, 'editor', { name: 'Ann' }));
  const utr = await newDraft(editor);
  await save(editor, utr, { template_html: 'Good' });
  app.clock.advance(6 * MINUTE_MS);
  await save(editor, utr, { template_html: 'Bad' });
  const restore = (version_id: number | undefined, caller = editor) =>
    caller.call('POST', '/versions/restore', { form: { version_id } });
  const [bad, good] = await versionsOf(editor, utr);
  t.equal((await restore(good?.id)).status, 200);
  t.equal(await htmlOf(editor, utr), 'Good');
  t.strictSame(contents(app), ['Good', 'Bad', 'Good']);
  t.match((await versionsOf(editor, utr))[0], { made_by: 'Ann', is_current: 1 });
  await restore(bad?.id);
  t.equal(await htmlOf(editor, utr), 'Bad');
  await restore(bad?.id);
  t.equal(contents(app).length, 4, 'bringing back what is there changes nothing');
  const viewer = callerOf(app, addPerson(app, 'viewer'));
  t.equal((await restore(good?.id, viewer)).status, 403);
  t.equal((await restore(good?.id, app.two)).status, 404);
  t.equal((await app.two.call('GET', '/versions/list', { query: { mail_utr: utr } })).status, 404);
  t.equal((await app.two.call('GET', '/versions/details', { query: { version_id: good?.id } })).status, 404);
  app.db.prepare('UPDATE single_sends SET status = 3 WHERE utr = ?').run(utr);
  t.equal((await restore(good?.id)).status, 409, 'what was sent stays');
});

t.test('a design page and bringing back make versions of the mails of an automation', async (t) => {
  const app = await startApp(t);
  const { automations, schedules } = await buildWorld(app.one);
  const utr = schedules[0] ?? '';
  const { automation_schedules } = (
    await app.one.call('GET', '/automations/schedule', { query: { utr: automations[0] } })
  ).body.message;
  const { pathname } = new URL(automation_schedules[0].design_url);
  t.equal((await app.page('POST', pathname, { json: { html: '<p>New</p>' } })).status, 200);
  const { mail, versions } = (await app.one.call('GET', '/versions/list', { query: { mail_utr: utr } })).body.message;
  t.match(mail, { kind: 'automation_mail', utr: automations[0] });
  t.equal(versions.length, 2);
  await app.one.call('POST', '/versions/restore', { form: { version_id: versions[1].id } });
  const { template_json, template_html } = automation_schedules[0];
  t.match(
    (await app.one.call('GET', '/automations/schedule', { query: { utr: automations[0] } })).body.message
      .automation_schedules[0],
    { template_json, template_html },
  );
});

t.test('a mail keeps its 20 newest versions, and an account 50 MiB of them', async (t) => {
  const app = await startApp(t);
  const utr = await newDraft(app.one);
  for (let number = 1; number <= 25; number++) {
    await save(app.one, utr, { template_html: String(number) });
    app.clock.advance(6 * MINUTE_MS);
  }
  t.strictSame(
    contents(app),
    Array.from({ length: 20 }, (_, at) => String(at + 6)),
  );
  const other = await newDraft(app.one);
  const theirs = await newDraft(app.two);
  await save(app.two, theirs, { template_html: 'Theirs' });
  app.db.exec('UPDATE mail_versions SET size = 5242880 WHERE user_id = 1 AND id % 2 = 0');
  await save(app.one, other, { template_html: 'Last' });
  const kept = contents(app);
  t.ok(kept.length < 22 && kept.length > 15, `${kept.length} are kept`);
  t.strictSame(kept.slice(-3), ['25', 'Theirs', 'Last'], 'the oldest of the account go');
  const sum = app.db.prepare('SELECT sum(size) FROM mail_versions WHERE user_id = 1').pluck().get();
  t.ok(Number(sum) <= 50 * 1024 * 1024);
});

t.test('versions are removed with their mail, and those of a deleted automation by purge', async (t) => {
  const app = await startApp(t);
  const { automations, schedules } = await buildWorld(app.one);
  const utr = await newDraft(app.one);
  await save(app.one, utr, { template_html: 'x' });
  for (const schedule of schedules)
    app.db.prepare("UPDATE automation_schedules SET template_html = 'New' WHERE utr = ?").run(schedule);
  const [version] = await versionsOf(app.one, schedules[0] ?? '');
  await app.one.call('DELETE', '/single/send/delete', { query: { utr } });
  t.notOk(contents(app).includes('x'));
  await app.one.call('DELETE', '/automations/schedule/delete', { query: { utr: schedules.at(-1) } });
  const left = contents(app).length;
  t.ok(left > 0);
  await app.one.call('DELETE', '/automations/delete', { query: { utr: automations[0] } });
  t.equal((await app.one.call('GET', '/versions/details', { query: { version_id: version?.id } })).status, 404);
  t.equal(
    (await purge(app.db, () => {})).mail_versions,
    contents(app).length === 0 ? left : left - contents(app).length,
  );
  t.equal((await versionsOf(app.one, utr).catch(() => [])).length, 0);
});

t.test('content is packed to the same bytes and comes back as it was', async (t) => {
  const content = { template_id: 7, template_json: '', template_html: `<p>Größe 🎈${'\u2028'}</p>`.repeat(1000) };
  t.strictSame(unpackContent(packContent(content)), content);
  t.ok(packContent(content).equals(packContent({ ...content })));
  t.ok(packContent(content).length < 500);
  const dense = { ...content, template_html: randomBytes(1024 * 1024).toString('hex') };
  t.strictSame(unpackContent(packContent(dense)), dense, '2 MiB that hardly shrink');
});
