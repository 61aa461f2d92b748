/** Who else can read the files that hold personal data, keys and secrets. */
import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Config } from '../config.ts';
import { sentence } from '../sentences.ts';
import type { Finding } from './finding.ts';

/** Permissions of a file's group and of everybody else. */
const OTHERS = 0o077;

/**
 * Looks at the database and at every file beside it whose name begins with the database's: write-ahead log, lock, unfinished copies
 * and backups kept there. Earlier releases made them with the umask's mode, and a file keeps the mode it was made with.
 */
export function filesCheck(config: Config): Finding {
  const path = resolve(config.DATABASE_PATH);
  const files = readdirSync(dirname(path))
    .filter((name) => name.startsWith(basename(path)))
    .map((name) => join(dirname(path), name));
  const open = process.platform === 'win32' ? [] : files.filter(isOpen);
  if (open.length === 0) return { name: 'Files', state: 'ok', found: sentence('files_private') };
  return {
    name: 'Files',
    state: 'warn',
    found: open.length === 1 ? sentence('files_open_one') : sentence('files_open', { count: open.length }),
    advice: open.map((file) => sentence('files_cure', { file })),
  };
}

function isOpen(file: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  return found?.isFile() === true && (found.mode & OTHERS) !== 0;
}
