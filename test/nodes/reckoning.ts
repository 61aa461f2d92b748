/**
 * The reckoning of a send over nodes: what the relay took, beside the ledger and the reports in JetStream. Nobody may be left out, and
 * what was sent twice must have been with a node that was lost before NATS had its report.
 */
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import type { NatsCluster } from '../../fixtures/nats.ts';
import type { Report } from '../../src/nodes/protocol.ts';
import { STREAM } from '../../src/nodes/streams.ts';
import { ledgerProblems } from '../support/ledger-problems.ts';

/** A node that was killed, or could not be heard for some time although it lived. Epoch milliseconds. */
export interface Loss {
  node: string;
  at: number;
  isKilled: boolean;
}

/** A mail that the relay took. */
export interface Taken {
  to: string;
  messageId: string;
  /** The name its client gave. */
  from: string;
  /** When its recipient was named; epoch milliseconds. */
  begunAt: number;
}

export interface Reckoning {
  /** What breaks the promise, in words. */
  problems: string[];
  /** How many mails were sent once more. */
  duplicates: number;
  /** The bound: mails of lost nodes that were handed over, and of which NATS had no report when the node was lost. */
  unreported: number;
}

/** No node is given up sooner after it was last heard. A report that comes later may be too late. */
const SURELY_HEARD_MS = 10_000;

interface Facts {
  people: number;
  taken: readonly Taken[];
  losses: readonly Loss[];
  /** When the controller was lost, if it was; epoch milliseconds. */
  controllerLostAt: number | null;
  nats: NatsCluster;
  read(sql: string): Record<string, unknown>;
}

export async function reckon({ people, taken, losses, controllerLostAt, nats, read }: Facts): Promise<Reckoning> {
  const reported = await acceptances(nats.urls);
  const reportedAt = ({ messageId, from }: Taken) =>
    reported.get(`${from.replace(/\.test$/, '')} ${deliveryOf(messageId)}`) ?? Number.POSITIVE_INFINITY;
  const isExcused = (mail: Taken) => {
    const { from, begunAt } = mail;
    const node = from.replace(/\.test$/, '');
    const at = reportedAt(mail);
    return losses.some((loss) => {
      if (loss.node !== node) return false;
      const heardUntil = loss.at + SURELY_HEARD_MS;
      return loss.isKilled ? at === Number.POSITIVE_INFINITY : begunAt <= heardUntil && at > heardUntil;
    });
  };
  const byRecipient = Map.groupBy(taken, ({ to }) => to);
  const all = [...byRecipient.values()];
  /** The first of a recipient's mails, if a node had it when the controller was lost, and NATS had no report of it. */
  const wasInFlight = (mail: Taken, mails: readonly Taken[]) =>
    controllerLostAt !== null &&
    mails.every(({ begunAt }) => begunAt >= mail.begunAt) &&
    reportedAt(mail) > controllerLostAt;
  const twice = all.filter((mails) => mails.filter((mail) => !isExcused(mail) && !wasInFlight(mail, mails)).length > 1);
  const renamed = all.filter((mails) => new Set(mails.map(({ messageId }) => messageId)).size > 1);
  const nameless = taken.filter(({ messageId }) => deliveryOf(messageId) === '');
  const missing = people - byRecipient.size;
  const problems = [
    missing !== 0 && `${missing} recipients got nothing`,
    renamed.length > 0 && `${renamed.length} recipients got the mail under two Message-IDs`,
    nameless.length > 0 && `${nameless.length} mails have no Message-ID of ours`,
    twice.length > 0 &&
      `${twice.length} mails were sent again although they were reported: ${JSON.stringify(twice[0])}`,
    ...ledgerProblems(people, read),
  ].filter((problem) => problem !== false);
  return { problems, duplicates: taken.length - byRecipient.size, unreported: taken.filter(isExcused).length };
}

/** The id of the delivery, which is in its Message-ID. */
function deliveryOf(messageId: string): string {
  return /\.(\d+)@/.exec(messageId)?.[1] ?? '';
}

/** When NATS had the first acceptance of each delivery from each node. */
async function acceptances(urls: string): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  const connection = await connect({ servers: urls.split(',') });
  try {
    const manager = await jetstreamManager(connection);
    const { state } = await manager.streams.info(STREAM.results);
    if (state.messages === 0) return found;
    const consumer = await jetstream(connection).consumers.get(STREAM.results);
    for await (const message of await consumer.consume()) {
      const node = message.subject.split('.').at(-1) ?? '';
      for (const [, ended] of message.json<Report>().ended) {
        for (const [delivery, kind] of ended) {
          const key = `${node} ${delivery}`;
          if (kind === 'accepted' && !found.has(key)) found.set(key, message.time.getTime());
        }
      }
      if (message.seq >= state.last_seq) break;
    }
    return found;
  } finally {
    await connection.close();
  }
}
