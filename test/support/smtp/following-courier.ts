/** The courier that the service has: the relays kept in the file, or the outbox. For tests that change them while it runs. */

import type { Db } from '../../../src/database/open.ts';
import { RelayUse } from '../../../src/delivery/queue/relay-use.ts';
import { OutboxCourier } from '../../../src/delivery/transport/outbox.ts';
import { CurrentCourier } from '../../../src/delivery/transport/relays/current-courier.ts';
import { SmtpPool } from '../../../src/delivery/transport/smtp/pool.ts';
import { systemClock } from '../../../src/time/clock.ts';

/** Follows the relays of the file and keeps how they are used, as the background thread does. */
export function followingCourier(db: Db): CurrentCourier {
  const use = new RelayUse(db.$client);
  return new CurrentCourier({
    client: db.$client,
    open: (relays) =>
      relays.length === 0
        ? new OutboxCourier(db, systemClock)
        : new SmtpPool(relays, {
            onRelayFailure: (relay, { reply }, id) => use.failed({ relay, id, reply, at: Date.now() }),
            onRelayAcceptance: (relay, id) => use.accepted({ relay, id, at: Date.now() }),
          }),
    graceMs: 1000,
  });
}
