/** Waiting for what a test has set going. */
import { setTimeout } from 'node:timers/promises';

/** Long enough for a machine that is busy with much else. */
const PATIENCE_MS = 60_000;

/** Waits until this holds, looking every few milliseconds; `step` runs before each look. Rejects after a minute. */
export async function until(holds: () => unknown, step: () => unknown = () => undefined): Promise<void> {
  for (const end = performance.now() + PATIENCE_MS; ; await setTimeout(2)) {
    await step();
    if (await holds()) return;
    if (performance.now() > end) throw new Error(`it does not come to this: ${holds}`);
  }
}
