/** The files that commands write: never over a database, never half, readable by their owner alone. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { linkSync, readdirSync, symlinkSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import t from 'tap';
import { assertWritable } from '../../src/commands/target-file.ts';
import { connect } from '../../src/database/open.ts';
import { migrateAndSeed } from '../../src/database/upgrade.ts';
import { scriptArguments } from '../support/run-script.ts';
import { folder, prepared } from './prepared.ts';

t.test('no command writes over a database, whatever name it is given, or over what belongs to one', async (t) => {
  const { db, path, run } = prepared(t);
  db.exec("INSERT INTO contact_types (user_id, name, created_at, updated_at) VALUES (1, 'Readers', '', '')");
  const home = join(path, '..');
  const others = join(folder(t), 'others.db');
  const other = connect(others);
  migrateAndSeed(other);
  t.teardown(() => other.$client.close());
  linkSync(path, join(home, 'hard.db'));
  symlinkSync(path, join(home, 'soft.db'));
  const targets = [path, join(home, 'hard.db'), join(home, 'soft.db'), relative(process.cwd(), path), others];
  const beside = ['-wal', '-shm', '-lock', '-journal'].flatMap((end) => [path + end, others + end]);
  const refused = /is the database itself|is a database in use|belongs to the database/;
  for (const file of [...targets, ...beside]) {
    for (const replaces of ['copies of a database', 'no database'] as const) {
      t.throws(() => assertWritable({ file, force: true, database: path, replaces }), { message: refused }, file);
    }
  }
  t.match(await run('backup', join(home, 'hard.db'), '--force'), { code: 1, err: refused });
  t.match(await run('export', '--type', '1', others, '--force'), { code: 1, err: refused });
  for (const same of [path, join(home, 'hard.db')]) {
    t.match(await run('restore', same, '--force'), { code: 1, err: /is the database itself/ }, `restore ${same}`);
  }
  t.equal(db.pragma('integrity_check', { simple: true }), 'ok');
  t.equal(other.$client.pragma('integrity_check', { simple: true }), 'ok');

  const copy = join(home, 'copy.db');
  t.match(await run('backup', copy), { code: 0 });
  t.match(await run('backup', copy, '--force'), { code: 0 }, 'an earlier copy may be replaced');
  t.match(
    await run('export', '--type', '1', copy, '--force'),
    { code: 1, err: /is a database\n$/ },
    'but not by a CSV file',
  );
  t.match(await run('backup', home), { code: 1, err: /is a folder: name a file in it\n$/ });
  t.match(await run('backup', join(home, 'none', 'x.db')), { code: 1, err: /^There is no folder \S+none\n$/ });
  t.match(await run('import', home, '--type', '1'), { code: 1, err: /is a folder/ });
});

t.test('a command that is told to stop leaves nothing unfinished behind', async (t) => {
  const made = folder(t);
  const script = `
    import { writeFileSync } from 'node:fs';
    import { writeComplete } from ${JSON.stringify(resolve('src/commands/target-file.ts'))};
    await writeComplete(${JSON.stringify(join(made, 'copy.db'))}, async (unfinished) => {
      writeFileSync(unfinished, 'half');
      console.log('begun');
      await new Promise((done) => setTimeout(done, 60_000));
    });`;
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    const child = spawn(process.execPath, scriptArguments(script), {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    t.equal(readdirSync(made).length, 1);
    child.kill(signal);
    t.strictSame(await once(child, 'exit'), [code, null]);
    t.strictSame(readdirSync(made), [], signal);
  }
});

t.test('every file that holds data is made readable by its owner alone, whatever the umask', async (t) => {
  const home = folder(t);
  const script = `
    process.umask(0);
    const folder = process.argv[1];
    const { connect } = await import(${JSON.stringify(resolve('src/database/open.ts'))});
    const { migrateAndSeed } = await import(${JSON.stringify(resolve('src/database/upgrade.ts'))});
    const { lockForServer } = await import(${JSON.stringify(resolve('src/database/server-lock.ts'))});
    const { backup } = await import(${JSON.stringify(resolve('src/commands/backup.ts'))});
    const { exportFile } = await import(${JSON.stringify(resolve('src/commands/export.ts'))});
    const { restore } = await import(${JSON.stringify(resolve('src/commands/restore.ts'))});
    const { parseCall } = await import(${JSON.stringify(resolve('src/commands/command.ts'))});
    const { readdirSync, statSync } = await import('node:fs');
    const seen = new Map();
    const look = () => {
      for (const name of readdirSync(folder)) {
        const mode = statSync(folder + '/' + name, { throwIfNoEntry: false })?.mode & 0o777;
        if (mode !== 0) seen.set(name.replace(/\\.[0-9a-f]{12}/, ''), mode.toString(8));
      }
    };
    const watch = setInterval(look, 0);
    process.env.DATABASE_PATH = folder + '/one.db';
    const lock = lockForServer(process.env.DATABASE_PATH);
    const db = connect(process.env.DATABASE_PATH);
    migrateAndSeed(db);
    db.$client.exec("INSERT INTO accounts (name, created_at) VALUES ('a', '')");
    db.$client.exec("INSERT INTO contact_types (user_id, name, created_at, updated_at) VALUES (1, 'Readers', '', '')");
    look();
    const call = (command, ...words) => command.run(parseCall(command, [...words, '--json']));
    await call(backup, folder + '/copy.db');
    await call(exportFile, folder + '/people.csv', '--type', '1');
    look();
    process.env.DATABASE_PATH = folder + '/two.db';
    await call(restore, folder + '/copy.db');
    look();
    clearInterval(watch);
    lock.release();
    console.error(JSON.stringify([...seen]));`;
  const ran = spawnSync(process.execPath, scriptArguments(script, home), { encoding: 'utf8' });
  const seen = new Map<string, string>(JSON.parse(ran.stderr.trim().split('\n').at(-1) ?? ''));
  for (const name of [
    'one.db',
    'one.db-wal',
    'one.db-shm',
    'one.db-lock',
    'copy.db',
    'copy.db.unfinished',
    'people.csv',
    'two.db',
    'two.db-lock',
  ])
    t.ok(seen.has(name), name);
  t.strictSame(
    [...seen].filter(([, mode]) => mode !== '600'),
    [],
    'unfinished files too',
  );
});
