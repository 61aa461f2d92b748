/** The demo, as a reader runs it in a folder with settings of their own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t from 'tap';
import { fetch } from 'undici';
import { ROOT } from '../support/documents.ts';

t.test('the demo ignores the settings of its reader and, kept, ends with links that work', async (t) => {
  const folder = t.testdir({ '.env': 'TRACKING=off\nPORT=none\n', tmp: {} });
  symlinkSync(join(ROOT, 'dist'), join(folder, 'dist'));
  const demo = spawn(process.execPath, [join(ROOT, 'scripts/demo.ts'), '20', '--keep'], {
    cwd: folder,
    env: { PATH: process.env.PATH, TMPDIR: join(folder, 'tmp'), TRACKING: 'off', SMTP_URL: 'smtp://127.0.0.1:1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(demo, 'exit');
  t.teardown(() => demo.kill('SIGKILL'));
  const lines: string[] = [];
  for await (const line of createInterface({ input: demo.stdout })) {
    lines.push(line);
    if (line.includes('/outbox/list')) break;
  }
  const said = lines.join('\n');
  t.match(said, /One of the mails: “Autumn books for \p{L}+” to \p{L}+ [\p{L}']+ <reader\d+@example\.org>/u);
  t.match(said, 'Counters: triggered 19, delivered 19, opened 1, unsubscribed 1, status 3');
  const links = [...said.matchAll(/ (http:\/\/\S+)$/gm)]
    .map(([, link = '']) => link)
    .filter((link) => !link.includes('/api'));
  t.equal(links.length, 4, links.join());
  t.match(links[0], /\/welcome#[\w-]{20,}$/, 'the first one signs in to the dashboard');
  for (const link of links) t.equal((await fetch(link)).status, 200, link);
  demo.kill('SIGINT');
  t.strictSame(await ended, [0, null]);
  t.strictSame(readdirSync(join(folder, 'tmp')), [], 'nothing is left behind');
});
