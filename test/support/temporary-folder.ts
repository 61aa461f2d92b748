/** A temporary folder of one test, where it is to see what is left in it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';

/**
 * Until the test ends, this process keeps its temporary files in a folder of its own, away from those of tests in other
 * processes; gives it.
 */
export function ownTemporaryFolder(t: Test): string {
  const before = process.env.TMPDIR;
  const folder = mkdtempSync(join(tmpdir(), 'sendlark-own-'));
  process.env.TMPDIR = folder;
  t.teardown(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}
