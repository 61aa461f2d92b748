/**
 * A sender that kills itself at a step of its work, or goes on without recovery, for the crash test.
 *
 *   node test/crash/victim.ts STEP TIMES DATABASE SMTP_URL
 */

import { readConfig } from '../../src/config.ts';
import { connect } from '../../src/database/open.ts';
import { openTokens } from '../../src/delivery/links/tokens.ts';
import { Ledger } from '../../src/delivery/queue/ledger/ledger.ts';
import { SmtpConnection } from '../../src/delivery/transport/smtp/connection.ts';
import { SmtpPool } from '../../src/delivery/transport/smtp/pool.ts';
import { parseRelays } from '../../src/delivery/transport/smtp/relay-urls.ts';
import { Background } from '../../src/threads/background.ts';
import { systemClock } from '../../src/time/clock.ts';

const [step = '', times = '1', path = '', url = ''] = process.argv.slice(2);
const db = connect(path);

let passed = 0;
function dieInTime(): void {
  if (++passed === Number(times)) process.kill(process.pid, 'SIGKILL');
}

const { claim, record, inTransaction: together } = Ledger.prototype;
const { send } = SmtpPool.prototype;
const { send: write } = SmtpConnection.prototype;

const STEPS: Record<string, () => void> = {
  'before the claim'() {
    Ledger.prototype.claim = function (...args) {
      dieInTime();
      return claim.apply(this, args);
    };
  },
  'after the claim'() {
    let isClaimed = false;
    Ledger.prototype.claim = function (...args) {
      const found = claim.apply(this, args);
      isClaimed ||= found.claims.length > 0;
      return found;
    };
    Ledger.prototype.inTransaction = function <T>(this: Ledger, moves: () => T): T {
      const done = (together<T>).call(this, moves);
      if (isClaimed) dieInTime();
      isClaimed = false;
      return done;
    };
  },
  'in the middle of DATA'() {
    SmtpConnection.prototype.send = function (piece, end, taken) {
      if (passed + 1 < Number(times)) {
        passed++;
        write.call(this, piece, end, taken);
      } else write.call(this, piece.subarray(0, piece.length / 2), '', dieInTime);
    };
  },
  'after the 250'() {
    SmtpPool.prototype.send = async function (handoff) {
      const outcome = await send.call(this, handoff);
      dieInTime();
      return outcome;
    };
  },
  'before the commit'() {
    Ledger.prototype.record = function (...args) {
      if (args[0].length === 0) return;
      db.$client
        .transaction(() => {
          record.apply(this, args);
          dieInTime();
        })
        .immediate();
    };
  },
  'without recovery'() {
    Ledger.prototype.recover = () => 0;
  },
};
const prepareStep = STEPS[step];
if (prepareStep === undefined) throw new Error(`no step "${step}"`);
prepareStep();

const background = new Background({
  db,
  config: readConfig({ DATABASE_PATH: path }),
  clock: systemClock,
  courier: new SmtpPool(parseRelays(url), { connections: 20, onRelayFailure: () => undefined }),
  tokens: openTokens(db.$client),
  publicUrl: () => 'http://localhost',
  log: () => undefined,
});
// Without recovery a mailing never ends: what an earlier run had in hand stays in hand.
await background.untilIdle();
await background.close(1000);
db.$client.close();
