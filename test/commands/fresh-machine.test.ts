/** A fresh machine's story, with the one-file program where nothing is installed (with the build on Nodes it is not made with). */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import t, { type Test } from 'tap';
import { builtUrls } from '../../src/http/static-files.ts';
import { runProgram } from '../support/command-line.ts';
import { ROOT } from '../support/documents.ts';
import { BUILT, type Program, Service, startSink } from '../support/service.ts';
import { startCampaign, until } from '../support/service-campaign.ts';

const PEOPLE = 300;
const HAS_BINARY = process.version.startsWith('v24.');

function emptyFolder(t: Test): string {
  const made = mkdtempSync(join(tmpdir(), 'sendlark-story-'));
  t.teardown(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** The program in an environment without PATH, home or anything else, started in an empty folder. */
function programOn(t: Test): { program: Program; cache: string } {
  const cache = emptyFolder(t);
  if (!HAS_BINARY) return { program: BUILT, cache };
  execFileSync('npm', ['run', '--silent', 'build:binary']);
  const command = [resolve('dist-binary/sendlark')] as const;
  return { program: { command, cwd: emptyFolder(t), env: { XDG_CACHE_HOME: cache } }, cache };
}

t.test('start, campaign, backup while it sends, move to another folder: nobody twice, nobody missing', async (t) => {
  const { program, cache } = programOn(t);
  const sink = await startSink(t, 5);
  const mailed = () => sink.mails.map(({ to }) => to).filter((to) => to.startsWith('reader'));
  const settings = {
    SMTP_URL: sink.url,
    SENDER_VERIFICATION: 'optional',
    SEND_RATE: '15',
    PUBLIC_KEY: '',
    SECRET_KEY: '',
  };
  const service = new Service(t, settings, program);
  await service.start();
  const run = (path: string, ...words: string[]) => runProgram(program, { DATABASE_PATH: path }, words);
  const path = join(service.folder, 'test.db');
  t.match(await run(path, 'account', 'list'), { code: 0, out: /Main/ });
  const files = ['grapes.js', 'grapes-mjml.js', 'design.css', 'scalar.js', 'reference'].map(
    (name) => builtUrls(name).url,
  );
  for (const page of ['/docs', '/images/templates/blank.png', ...files])
    t.equal((await fetch(service.origin + page)).status, 200, page);

  // The rest waits for its answers until the stop, however long the backup takes.
  sink.allow(PEOPLE / 5);
  const counters = await startCampaign(service, PEOPLE);
  await until(counters, ({ delivered }) => delivered > 20);
  const copy = join(emptyFolder(t), 'copy.db');
  t.match(await run(path, 'backup', copy), { code: 0, out: /integrity ok/ });
  sink.allow(Number.POSITIVE_INFINITY);
  t.equal(await service.end('SIGTERM'), 0);
  const sent = mailed().length;
  t.ok(sent > 20 && sent < PEOPLE, 'the stop came within the send');
  t.match(await run(path, 'backup', copy, '--force'), { code: 0 }, 'the last copy, of the stopped service');

  const elsewhere = join(emptyFolder(t), 'moved.db');
  t.match(await run(elsewhere, 'restore', copy), { code: 0, out: new RegExp(`held; ${PEOPLE - sent} mails wait`) });
  const moved = new Service(
    t,
    {
      ...settings,
      SEND_RATE: '0',
      PUBLIC_KEY: 'pk_of_the_moved_one',
      SECRET_KEY: 'sk_of_the_moved_one',
      DATABASE_PATH: elsewhere,
    },
    program,
  );
  await moved.start();
  const ready = async () => (await fetch(`${moved.origin}/readyz`)).json() as Promise<Record<string, unknown>>;
  await until(ready, (state) => state.background === 'running');
  t.match(await ready(), { ready: true, sending: 'held' });
  t.equal(mailed().length, sent, 'nothing leaves before the release');
  t.match(await run(elsewhere, 'release'), { code: 0, out: /^Sending goes on/ });
  await until(
    () => mailed().length,
    (count) => count >= PEOPLE,
  );
  t.equal(await moved.end('SIGTERM'), 0);
  t.equal(mailed().length, PEOPLE, 'nothing is sent twice');
  t.equal(new Set(mailed()).size, PEOPLE, 'nobody is missing');
  if (!HAS_BINARY) return;
  await t.test('its files', (t) => checkFiles(t, program, join(cache, 'sendlark')));
  await t.test('a cache folder that takes no entries', (t) => checkNoCache(t, program));
});

/** What the one file has laid out is its owner's alone, and put right when it was changed. */
async function checkFiles(t: Test, program: Program, cache: string): Promise<void> {
  const [folder = '', ...others] = readdirSync(cache);
  const said = readFileSync(join(ROOT, 'docs/operating.md'), 'utf8');
  const megabytes = (pattern: RegExp) => Number(pattern.exec(said)?.[1]) * 1e6;
  const whole = megabytes(/The file is (\d+) MB/);
  const found = statSync(program.command[0]).size;
  if (existsSync('/usr/bin/strip')) t.ok(Math.abs(found - whole) < 0.05 * whole, `the file has ${found} bytes`);
  const laidOut = readdirSync(join(cache, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
  const lays = megabytes(/unpacks (\d+) MB/);
  t.ok(Math.abs(laidOut - lays) < 0.1 * lays, `${laidOut} bytes are laid out`);
  t.strictSame(others, [], 'one folder, whatever many starts there were');
  for (const path of [cache, join(cache, folder)]) t.equal(statSync(path).mode & 0o777, 0o700);
  const addon = join(cache, folder, `node_modules/better-sqlite3/prebuilds/${process.platform}-${process.arch}.node`);
  const { size } = statSync(addon);
  writeFileSync(addon, 'changed');
  t.match(await runProgram(program, {}, ['account', 'list']), { code: 1, err: /^No database at sendlark\.db/ });
  t.equal(statSync(addon).size, size, 'a changed file is laid out anew');
}

/** /proc exists and takes no entries: the next place is used, and where there is none, one line says so. */
async function checkNoCache(t: Test, { command }: Program): Promise<void> {
  const temporary = emptyFolder(t);
  const run = (env: Program['env']) => runProgram({ command, cwd: emptyFolder(t), env }, {}, ['help']);
  t.match(await run({ XDG_CACHE_HOME: '/proc', TMPDIR: temporary }), { code: 0, err: '' });
  t.strictSame(readdirSync(temporary), [`sendlark-${process.getuid?.()}`]);
  t.match(await run({ XDG_CACHE_HOME: '/proc', TMPDIR: '/proc' }), { code: 1, err: /^No folder for [^\n]+\n$/ });
}
