/**
 * The background by a clock of its own, which kills itself within the transaction that takes a step of a kind, for the crash test. Besides the kinds of
 * steps there are `enter ID`, the entry into an automation, `end REASON`, an end, and `record CHANGE`, where a date or segment has begun one of them.
 *
 *   node test/crash/journey-victim.ts DATABASE START HOURS [KIND]   (START in epoch milliseconds)
 */
import { readConfig } from '../../src/config.ts';
import { connect } from '../../src/database/open.ts';
import { openTokens } from '../../src/delivery/links/tokens.ts';
import { OutboxCourier } from '../../src/delivery/transport/outbox.ts';
import { Background } from '../../src/threads/background.ts';
import { HOUR_MS } from '../../src/units.ts';

/** It dies with the third contact of a page. */
const FATAL = 3;
const [path = '', start = '0', hours = '0', kind = ''] = process.argv.slice(2);
const db = connect(path);
let at = Number(start);
const clock = { now: () => new Date(at), monotonic: () => at };

let taken = 0;
db.$client.function('takes', (of) => {
  if (of === kind && ++taken === FATAL) process.kill(process.pid, 'SIGKILL');
  return 0;
});
db.$client.exec(`CREATE TEMP TRIGGER dies AFTER INSERT ON main.steps BEGIN
  SELECT takes((SELECT kind FROM automation_schedules WHERE id = new.schedule_id)); END;
CREATE TEMP TRIGGER dies_entering AFTER INSERT ON main.enrolments BEGIN SELECT takes('enter ' || new.automation_id); END;
CREATE TEMP TRIGGER dies_ending AFTER UPDATE OF state ON main.enrolments WHEN new.reason IS NOT NULL BEGIN SELECT takes('end ' || new.reason); END;
CREATE TEMP TRIGGER dies_recording AFTER INSERT ON main.membership_changes BEGIN SELECT takes('record ' || new.change); END`);

const background = new Background({
  db,
  config: readConfig({ DATABASE_PATH: path }),
  clock,
  courier: new OutboxCourier(db, clock),
  tokens: openTokens(db.$client),
  publicUrl: () => 'http://localhost',
  log: () => undefined,
});
for (let hour = 0; hour <= Number(hours); hour++) {
  await background.untilIdle();
  at += HOUR_MS;
}
await background.close(1000);
db.$client.close();
