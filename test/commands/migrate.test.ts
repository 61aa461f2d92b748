/** `sendlark migrate`: a dry run, the run, and kills in the middle, after which nobody who had left can be mailed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import t from 'tap';
import { csv, EXPORTS } from '../support/exports.ts';
import { BUILT } from '../support/service.ts';
import { prepared } from './prepared.ts';

const TYPE = "INSERT INTO contact_types (user_id, name, created_at, updated_at) VALUES (1, 'Readers', '', '')";

t.test('without --confirm it says what it would do; with it, it does that', async (t) => {
  const { db, path, run } = prepared(t);
  db.exec(TYPE);
  const { filename, content } = EXPORTS.mailchimp();
  const file = join(path, '..', filename);
  writeFileSync(file, content);
  const dry = await run('migrate', 'mailchimp', file, '--type', '1');
  t.equal(dry.code, 0, dry.err);
  for (const line of [
    'Unsubscribed at the other service, and from all mail here: 133, new here: 133',
    'Bounced at the other service, and suppressed here: 67, new here: 67',
    'Contacts: 300 new, 0 changed, 0 unchanged, 0 failed',
    'Of these, unsubscribed or suppressed, and staying so: 200',
    'New fields: shoe_size (number), optin_time (datetime-local), mailchimp_tags (text)',
    'New segments: VIP, Graz, Austria',
    'Templates: Spring news',
    'Columns skipped: member_rating, leid, unsub_reason',
    'Files skipped: reports/opens.csv',
    `Nothing was changed. To do it: sendlark migrate mailchimp ${file} --type 1 --confirm`,
  ])
    t.ok(dry.out.split('\n').includes(line), line);
  const spaced = join(path, "../Ann's export.zip");
  writeFileSync(spaced, content);
  const quoted = spaced.replaceAll("'", "'\\''");
  t.match((await run('migrate', 'mailchimp', spaced, '--type', '1')).out, `mailchimp '${quoted}' --type 1 --confirm`);
  const count = (table: string) => db.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
  t.equal(count('contacts'), 0);
  t.equal(count('custom_fields'), 0);
  const told = JSON.parse((await run('migrate', 'mailchimp', file, '--type', '1', '--confirm', '--json')).out);
  t.match(told, { created: 300, updated: 0, failed: 0 });
  t.strictSame([count('contacts'), count('unsubscribers'), count('suppressions')], [300, 133, 67]);
  t.match(await run('migrate', 'elsewhere', file, '--type', '1'), { code: 2, err: /mailchimp, listmonk/ });
  t.match(await run('migrate', 'mailchimp', 'nothing.zip', '--type', '1'), {
    code: 1,
    err: 'There is no file nothing.zip\n',
  });
  t.match(await run('migrate', 'brevo', file, '--type', '1'), { code: 1, err: /Nothing would be taken over/ });
});

t.test('killed at any moment, nobody who had left has a contact that gets mail; run again, it is whole', async (t) => {
  const { db, path, run } = prepared(t);
  db.exec(TYPE);
  const file = join(path, '../contacts.csv');
  const people = 15_000;
  const rows = Array.from({ length: people }, (_, at) => [
    `p${at}@example.org`,
    ['active', 'unsubscribed', 'unreachable'][at % 3] ?? '',
  ]);
  writeFileSync(file, csv(['Email', 'Status'], rows));
  const mailable = db
    .prepare<[], string>(
      `SELECT email FROM contacts WHERE address_id NOT IN (SELECT address_id FROM unsubscribers UNION ALL SELECT address_id FROM suppressions)`,
    )
    .pluck();
  const isAnyWrong = () => mailable.all().some((email) => Number(email.slice(1, email.indexOf('@'))) % 3 !== 0);
  const [program, ...before] = BUILT.command;
  const words = [...before, 'migrate', 'keila', file, '--type', '1', '--confirm'];
  let kills = 0;
  // Each wait is a fifth longer than the last one, so that a run which takes ten times as long needs few kills more.
  for (let wait = 100; ; wait *= 1.2) {
    const child = spawn(program, words, {
      cwd: BUILT.cwd,
      env: { ...BUILT.env, DATABASE_PATH: path },
      stdio: 'ignore',
    });
    const ended = once(child, 'exit');
    await Promise.race([ended, setTimeout(wait)]);
    child.kill('SIGKILL');
    const [code] = await ended;
    t.notOk(isAnyWrong(), `after ${Math.round(wait)} ms`);
    if (code === 0) break;
    kills++;
  }
  t.ok(kills > 3);
  t.match(await run('migrate', 'keila', file, '--type', '1', '--confirm'), { code: 0 });
  t.equal(db.prepare('SELECT count(*) FROM contacts').pluck().get(), people);
  t.equal(mailable.all().length, people / 3);
});
