import { chmodSync, mkdtempSync, readFileSync, statfsSync } from 'node:fs';

/** The space that databases and built programs of running tests may need. */
const NEEDED_BYTES = 4_000_000_000;

/**
 * Makes a folder in memory for the files that tests write. Returns null if memory has too little room or programs cannot be run from
 * there. Syncing to a busy disk can take seconds, and tests do not need it: they end processes, but never the machine.
 */
export function memoryFolder(): string | null {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    if (
      bavail * bsize < NEEDED_BYTES ||
      readFileSync('/proc/mounts', 'utf8').match(/ \/dev\/shm \S+ \S*noexec/) !== null
    )
      return null;
    const folder = mkdtempSync('/dev/shm/sendlark-tests-');
    // Postfix runs as another user, and has to read the folder too.
    chmodSync(folder, 0o755);
    return folder;
  } catch {
    return null;
  }
}
