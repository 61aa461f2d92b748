import { chmodSync, mkdtempSync, readFileSync, statfsSync } from 'node:fs';

/** Test files leave databases and built programs there for as long as they run. */
const NEEDED_BYTES = 4_000_000_000;

/**
 * A new folder in memory for what tests write, where there is room and programs may be run from it; otherwise null. Tests end processes,
 * never the machine, so what they write need not survive a power loss, and a sync to a crowded disk can take seconds.
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
    // Postfix runs as a user of its own.
    chmodSync(folder, 0o755);
    return folder;
  } catch {
    return null;
  }
}
