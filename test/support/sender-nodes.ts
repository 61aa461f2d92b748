/** Sender nodes as the service writes them down. */
import { nodeDays, senderNodes } from '../../src/database/schema/index.ts';
import { VERSION } from '../../src/version.ts';
import type { TestApp } from './app.ts';

type Row = typeof senderNodes.$inferInsert;

/** Writes down a node that was heard a second ago and sends, unless `node` says otherwise. */
export function addNode(
  app: TestApp,
  node: Partial<Row> & { name: string },
  day?: Partial<typeof nodeDays.$inferInsert>,
) {
  const now = app.clock.now();
  const row: Row = {
    run: `run of ${node.name}`,
    version: VERSION,
    state: 'sending',
    rate: 40,
    capacity: 200,
    load: 50,
    heard_at: now.getTime() - 1000,
    lease_until: now.getTime() + 6000,
    ...node,
  };
  app.drizzle.insert(senderNodes).values(row).run();
  const counts = { name: node.name, day: now.toISOString().slice(0, 10), ...day };
  if (day !== undefined) app.drizzle.insert(nodeDays).values(counts).run();
}
