/** `npm run dev`, as a contributor runs it: from the sources, in a folder with settings of their own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t from 'tap';
import { fetch } from 'undici';
import { ROOT } from '../support/documents.ts';

t.test(
  'the development service has data, prints keys that work, ignores relays, and leaves nothing behind',
  async (t) => {
    const folder = t.testdir({ '.env': 'SMTP_URL=smtp://127.0.0.1:1\n', tmp: {} });
    const dev = spawn(process.execPath, [join(ROOT, 'scripts/dev.ts')], {
      cwd: folder,
      env: { PATH: process.env.PATH, TMPDIR: join(folder, 'tmp'), PORT: '0', SMTP_URL: 'smtp://127.0.0.1:1' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(dev, 'exit');
    t.teardown(() => dev.kill('SIGTERM'));
    let url = '';
    const headers: Record<string, string> = {};
    for await (const line of createInterface({ input: dev.stdout })) {
      url ||= /Sendlark serves ([^\s"]+)/.exec(line)?.[1] ?? '';
      const [, name, key] = /^(PublicKey|SecretKey): (\S+)$/.exec(line) ?? [];
      if (name && key) headers[name] = key;
      if (line.startsWith('Every endpoint: ')) break;
    }
    const answer = await fetch(`${url}/contacts/imports`, { headers });
    t.match(await answer.json(), { message: { imports: [{ created: 3 }] } });
    const gallery = await fetch(new URL('/settings/gallery', url), { redirect: 'manual' });
    t.equal(gallery.status, 303, 'it has the gallery of components, for who has signed in');
    dev.kill('SIGINT');
    t.strictSame(await ended, [0, null]);
    t.strictSame(readdirSync(join(folder, 'tmp')), [], 'the database is removed');
  },
);
