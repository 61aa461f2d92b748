/** Checks a container file by laying out its last stage in a folder and starting the program there. */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { Test } from 'tap';
import { builtUrls } from '../../src/http/static-files.ts';
import { ROOT } from '../support/documents.ts';
import { Service } from '../support/service.ts';
import { pairsOf } from './files.ts';

const WORKDIR = '/opt/sendlark';
const KNOWN = ['FROM', 'WORKDIR', 'COPY', 'RUN', 'ENV', 'VOLUME', 'EXPOSE', 'USER', 'CMD'];

/** The file's instructions are known, its base runs our Node, its files suffice, and it runs as an ordinary user. */
export async function checkImage(t: Test, text: string): Promise<void> {
  const kept = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n');
  for (const name of ['.env', '*.db', '*.db-*', 'first-sign-in.txt', 'keys.txt', 'node_modules', 'dist'])
    t.ok(kept.includes(name), `no ${name} in the image`);
  const ignored = readFileSync(join(ROOT, '.gitignore'), 'utf8').split('\n');
  for (const name of ['.env', '*.db', 'first-sign-in.txt', 'keys.txt'])
    t.ok(ignored.includes(name), `no ${name} in a commit`);
  const lines = pairsOf(text, /^([^\s#]\S*) (.+)$/gm);
  for (const [instruction] of lines) t.ok(KNOWN.includes(instruction), instruction);
  const last = lines.slice(lines.findLastIndex(([instruction]) => instruction === 'FROM'));
  const the = (instruction: string) => last.find(([name]) => name === instruction)?.[1] ?? '';
  for (const [, image] of lines.filter(([name]) => name === 'FROM')) t.match(image, /^node:24-/);
  t.equal(the('USER'), 'node', 'not root');
  t.equal(the('WORKDIR'), WORKDIR);
  const settings: Record<string, string> = Object.fromEntries(pairsOf(the('ENV'), /(\w+)=(\S+)/g));
  t.equal(dirname(settings.DATABASE_PATH ?? ''), the('VOLUME'), 'the database is on the volume');
  t.match(the('RUN'), `chown node:node ${the('VOLUME')}`);

  const folder = mkdtempSync(join(tmpdir(), 'sendlark-image-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  for (const [, words] of last.filter(([name]) => name === 'COPY')) {
    const [, path = '', target = ''] = /^--from=build \/opt\/sendlark\/(\S+) (\S+)$/.exec(words) ?? [];
    t.equal(join(target, target.endsWith('/') ? basename(path) : ''), path, words);
    if (path === 'node_modules') symlinkSync(join(ROOT, path), join(folder, path));
    else cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  }
  const [file, ...rest]: string[] = JSON.parse(the('CMD'));
  t.equal(file, 'node');
  const service = new Service(t, {}, { command: [process.execPath, ...rest], cwd: folder, env: {} });
  await service.start();
  t.match(await service.get('/contacts-type'), { status: 'success' });
  for (const page of ['/docs', builtUrls('grapes.js').url])
    t.equal((await fetch(service.origin + page)).status, 200, page);
}
