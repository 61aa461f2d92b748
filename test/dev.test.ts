/** `npm run dev`, as a contributor runs it: from the sources, in a folder with settings of their own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t from 'tap';
import { type Api, call } from '../scripts/api-client.ts';
import { ROOT } from './docs/blocks.ts';

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
    const api: Api = { url: '', headers: {} };
    for await (const line of createInterface({ input: dev.stdout })) {
      api.url ||= /^Sendlark serves (\S+)/.exec(line)?.[1] ?? '';
      const [, name, key] = /^(PublicKey|SecretKey): (\S+)$/.exec(line) ?? [];
      if (name && key) api.headers[name] = key;
      if (line.startsWith('Every endpoint: ')) break;
    }
    const { imports } = await call<{ imports: { created: number }[] }>(api, '/contacts/imports');
    t.match(imports, [{ created: 3 }]);
    dev.kill('SIGINT');
    t.strictSame(await ended, [0, null]);
    t.strictSame(readdirSync(join(folder, 'tmp')), [], 'the database is removed');
  },
);
