/** Checks of the sender nodes: whether mail leaves, which are silent or refused, and which are of another release. */
import type { Database } from 'better-sqlite3';
import type { Config } from '../config.ts';
import { mailWaitsReason } from '../delivery/queue/sending-wait.ts';
import { readGauges } from '../delivery/reporting/gauges.ts';
import { listSenderNodes } from '../delivery/reporting/sender-nodes.ts';
import { sentence } from '../sentences.ts';
import { VERSION } from '../version.ts';
import type { Finding } from './finding.ts';

/** What the nodes say at `now`, epoch milliseconds; nothing where there are none because NATS_URL is not set. */
export function nodeChecks(client: Database, { NATS_URL }: Config, now: number): Finding[] {
  if (NATS_URL.length === 0) return [];
  const nodes = listSenderNodes(client, now);
  const there = nodes.filter(({ state }) => state !== 'silent');
  const name = 'Nodes';
  const problems: Finding[] = [];
  const reason = mailWaitsReason(client);
  if (reason !== null) {
    const state = readGauges(client).queued > 0 ? 'fail' : 'warn';
    problems.push({ name, state, found: reason, advice: [sentence('nodes_waits_cure')] });
  }
  const silent = nodes.filter(({ state }) => state === 'silent');
  if (silent.length > 0) {
    const found = sentence('nodes_silent', { names: namesOf(silent) });
    problems.push({ name: 'Silent nodes', state: 'warn', found, advice: [sentence('nodes_silent_cure')] });
  }
  const refused = there.filter(({ state }) => state === 'refused');
  if (refused.length > 0) {
    const found = sentence('nodes_refused', { names: namesOf(refused), reply: refused[0]?.refusal ?? '' });
    problems.push({ name: 'Refused nodes', state: 'warn', found, advice: [sentence('nodes_refused_cure')] });
  }
  const others = there.filter(({ version }) => version !== VERSION);
  if (others.length > 0) {
    const names = others.map((node) => `${node.name} (${node.version})`).join(', ');
    const found = sentence('nodes_releases', { version: VERSION, names });
    problems.push({ name: 'Releases of nodes', state: 'warn', found, advice: [sentence('nodes_releases_cure')] });
  }
  if (problems.length > 0) return problems;
  return [{ name, state: 'ok', found: sentence('nodes_well', { count: there.length }) }];
}

function namesOf(nodes: readonly { name: string }[]): string {
  return nodes.map(({ name }) => name).join(', ');
}
