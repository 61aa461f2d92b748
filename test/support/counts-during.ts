/** What a statement counts while a request is answered. */
import { setImmediate } from 'node:timers/promises';
import type { TestApp } from './app.ts';

/** Returns the status of the answer, and the different counts that this statement gave between the turns of the event loop before it. */
export async function countsDuring(
  app: TestApp,
  statement: string,
  request: Promise<{ status: number }>,
): Promise<{ status: number; counts: Set<number | undefined> }> {
  const count = app.db.prepare<[], number>(statement).pluck();
  const counts = new Set<number | undefined>();
  const state = { isAnswered: false };
  const answered = request.then(({ status }) => {
    state.isAnswered = true;
    return status;
  });
  while (!state.isAnswered) {
    counts.add(count.get());
    await setImmediate();
  }
  return { status: await answered, counts };
}
