/** What a release needs: one version everywhere with short notes, and a workflow that runs what CONTRIBUTING.md names. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { VERSION } from '../../src/version.ts';
import { ROOT } from '../support/documents.ts';

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const { version, scripts }: { version: string; scripts: Record<string, string> } = JSON.parse(read('package.json'));

t.test('the version is the same everywhere, and its notes have twenty lines at most', async (t) => {
  const lock: { version: string; packages: Record<string, { version: string }> } = JSON.parse(
    read('package-lock.json'),
  );
  t.strictSame([VERSION, lock.version, lock.packages['']?.version], [version, version, version]);
  const [, notes = ''] = new RegExp(`^## ${version}\\n([\\s\\S]*?)^##`, 'm').exec(read('CHANGELOG.md')) ?? [];
  const lines = notes.trim().split('\n');
  t.ok(lines.length > 5 && lines.length <= 20, `${lines.length} lines`);
});

t.test('the workflow runs the two commands and, on a tag only, the release', async (t) => {
  const workflow = read('.github/workflows/ci.yml');
  const runs = [...workflow.matchAll(/run: (?:npm run |npm )([\w:]+)$/gm)].map(([, name = '']) => name);
  t.strictSame(runs, ['ci', 'test', 'test:system', 'ci', 'release']);
  for (const name of runs) t.ok(name === 'ci' || scripts[name] !== undefined, name);
  t.match(workflow, /release:\n {4}if: startsWith\(github\.ref, 'refs\/tags\/v'\)\n {4}needs: test\n/);
  const installed = /apt-get install -y --no-install-recommends (.+)$/m.exec(workflow)?.[1]?.split(' ') ?? [];
  for (const [, name] of read('.ci/run').matchAll(/--no-install-recommends ([\w-]+)/g))
    t.ok(installed.includes(name ?? ''), `${name}`);
});
