/** `sendlark nodes`: lists the sender nodes. */

import { mailWaitsReason } from '../delivery/queue/holds.ts';
import { listSenderNodes } from '../delivery/reporting/sender-nodes.ts';
import { senderNodeRecord } from '../installation/operations.ts';
import { type Command, requireWords } from './command.ts';
import { withDatabase } from './database.ts';

const HEADINGS = ['NAME', 'STATE', 'RELEASE', 'MAILS/S', 'HAS', 'TAKEN TODAY', 'REFUSED', 'WARM-UP', 'LAST SIGN'];

export const nodes: Command = {
  forms: ['nodes'],
  about: 'List the sender nodes: state, rate, counts of the day, warm-up, last sign of life.',
  help: `Reads the database, where the service records the state of the nodes every two seconds. Run the command on the machine of the service.
Below the list are the reason why mail waits, if any waits, and the replies of SMTP servers to nodes whose mail they refuse.`,
  options: {},
  async run(call) {
    requireWords(call);
    const now = Date.now();
    const { list, reason } = await withDatabase(({ $client }) => ({
      list: listSenderNodes($client, now).map((node) => senderNodeRecord(node, now)),
      reason: mailWaitsReason($client),
    }));
    const rows = list.map(({ warm_up: warmUp, ...node }) => [
      node.name,
      node.state,
      node.version,
      String(node.rate),
      `${node.recipients} of ${node.recipients + node.room}`,
      String(node.accepted),
      String(node.refused),
      warmUp === null ? '-' : `${warmUp.given} of ${warmUp.ceiling}`,
      `${Math.max(0, Math.round((now - Date.parse(node.heard_at)) / 1000))} s ago`,
    ]);
    const refusals = list.flatMap(({ name, refusal }) => (refusal === null ? [] : [`${name}: ${oneLine(refusal)}`]));
    call.answer(
      { nodes: list, waits_reason: reason },
      [
        ...(rows.length === 0 ? [] : table([HEADINGS, ...rows])),
        ...refusals,
        ...(reason === null ? [] : [String(reason)]),
      ],
      'There are no sender nodes; to start one: sendlark node',
    );
  },
};

/** Formats rows as lines, with columns as wide as their longest text. */
function table(rows: readonly string[][]): string[] {
  const widths = HEADINGS.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, at) => oneLine(cell).padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** Returns a text of a node or relay without control characters, which could move the cursor of a terminal. */
function oneLine(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ');
}
