/** The layout of src: imports go downward only, and every source file opens with a sentence that says what it is. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import t from 'tap';

const SRC = resolve(import.meta.dirname, '../src');
/** Rooms from the ground up; a file may import from its own room and from those below. Files of src itself are named. */
const FLOORS = [
  ['clock.ts', 'config.ts', 'failure.ts', 'schemas.ts', 'version.ts'],
  ['database'],
  ['audience'],
  ['delivery'],
  ['campaigns'],
  ['deps.ts', 'plugins'],
  ['routes', 'pages'],
  ['app.ts', 'background.ts', 'import-thread.ts', 'background-thread.ts'],
  ['server.ts', 'commands'],
  ['command-line.ts'],
  ['cli.ts'],
];
const NO_HTTP = ['database', 'audience', 'delivery', 'campaigns'];

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
const roomOf = (file: string) => file.split('/')[0] ?? file;
const floorOf = (file: string) => FLOORS.findIndex((rooms) => rooms.includes(roomOf(file)));

t.test('every file belongs to a room', async (t) => {
  for (const file of files) t.not(floorOf(file), -1, file);
});

t.test('imports go downward only, and rooms on one floor leave each other alone', async (t) => {
  const wrong = files.flatMap((file) =>
    importsOf(file)
      .filter((target) => target.startsWith('.'))
      .map((target) => relative(SRC, resolve(SRC, dirname(file), target)))
      .filter((target) => floorOf(target) > floorOf(file) || isNeighbour(file, target))
      .map((target) => `${file} → ${target}`),
  );
  t.strictSame(wrong, []);
});

t.test('what is below HTTP does not know Fastify', async (t) => {
  const knowing = files.filter(
    (file) => NO_HTTP.includes(roomOf(file)) && importsOf(file).some((target) => /fastify/.test(target)),
  );
  t.strictSame(knowing, []);
});

t.test('every file opens with a header comment', async (t) => {
  const bare = files.filter((file) => !/^(#!.*\n)?(\/\*\*|\/\/)/.test(readFileSync(join(SRC, file), 'utf8')));
  t.strictSame(bare, []);
});

function importsOf(file: string): string[] {
  const text = readFileSync(join(SRC, file), 'utf8');
  return [...text.matchAll(/^(?:import|export) [^;]*?from '([^']+)';$/gm)].map((match) => match[1] ?? '');
}

/** Routes and pages share a floor and never import each other. */
function isNeighbour(file: string, target: string): boolean {
  const rooms = [roomOf(file), roomOf(target)].sort().join();
  return rooms === 'pages,routes';
}
