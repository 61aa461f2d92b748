/** Which file of the project imports which: the layout's test asks it, and so do the runs that choose test files. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');

/** What a file imports: files of the project by their paths from its root, and packages and modules of Node by their names. */
export interface Imports {
  files: readonly string[];
  packages: readonly string[];
}

/** The imports of each source file in these folders, types included. */
export function readImports(folders: readonly string[]): Map<string, Imports> {
  const files = globSync(
    folders.map((folder) => `${folder}/**/*.{ts,tsx,js}`),
    { cwd: ROOT },
  );
  return new Map(files.map((file) => [file, importsOf(file)]));
}

function importsOf(file: string): Imports {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const named = [
    ...text.matchAll(/^(?:import|export) [^;]*?from '([^']+)';$/gm),
    ...text.matchAll(/^import '([^']+)';$/gm),
  ];
  const lazy = [...text.matchAll(/\bimport\('([^']+)'\)/g)];
  const names = [...named, ...lazy].map(([, name]) => name ?? '');
  return {
    files: names
      .filter((name) => name.startsWith('.'))
      .map((name) => join(dirname(file), name))
      .filter((path) => existsSync(join(ROOT, path))),
    packages: names.filter((name) => !name.startsWith('.')),
  };
}

/** All files that a file reaches by its imports, itself included, without going on from those at which `stops` is true. */
export function reachedFrom(
  graph: ReadonlyMap<string, Imports>,
  file: string,
  stops: (file: string) => boolean = () => false,
): Set<string> {
  const reached = new Set([file]);
  for (const one of reached) {
    if (one !== file && stops(one)) continue;
    for (const next of graph.get(one)?.files ?? []) reached.add(next);
  }
  return reached;
}
