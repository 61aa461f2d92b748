/** Brings about the loss of a part of a fleet that is sending, and mends it. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Cut } from './link.ts';
import type { FleetSend } from './rig.ts';

/** Kills a node and starts it again. */
export async function killNode(send: FleetSend, at: number): Promise<void> {
  const node = send.nodes[at];
  if (node === undefined) return;
  const { name } = node;
  await node.end('SIGKILL');
  send.losses.push({ node: name, at: Date.now(), isKilled: true });
  node.start();
}

/** Stops a node, as a machine that is frozen, and lets it go on. */
export async function stopNode(send: FleetSend, at: number, ms: number): Promise<void> {
  const node = send.nodes[at];
  if (node === undefined) return;
  node.signal('SIGSTOP');
  send.losses.push({ node: node.name, at: Date.now(), isKilled: false });
  await pause(ms);
  node.signal('SIGCONT');
}

/** Cuts a node off from NATS. */
export async function cutNode(send: FleetSend, at: number, how: Cut, ms: number): Promise<void> {
  const node = send.nodes[at];
  if (node === undefined) return;
  send.links.nodes[at]?.cut(how);
  send.losses.push({ node: node.name, at: Date.now(), isKilled: false });
  await pause(ms);
  send.links.nodes[at]?.mend();
}

/** Cuts the service off from NATS. */
export async function cutService(send: FleetSend, how: Cut, ms: number): Promise<void> {
  send.links.service.cut(how);
  await pause(ms);
  send.links.service.mend();
}

/** Kills the service and starts it again. */
export async function killService(send: FleetSend): Promise<void> {
  await send.service.end('SIGKILL');
  await send.service.start();
}

/** Stops the service and lets it go on. */
export async function stopService(send: FleetSend, ms: number): Promise<void> {
  send.service.signal('SIGSTOP');
  await pause(ms);
  send.service.signal('SIGCONT');
}

/** Kills one NATS server, or all of them, and starts them again. */
export async function killNats(send: FleetSend, at: number | 'all', ms: number): Promise<void> {
  const servers = at === 'all' ? send.nats.servers : send.nats.servers.slice(at, at + 1);
  await Promise.all(servers.map((server) => server.end('SIGKILL')));
  await pause(ms);
  await Promise.all(servers.map((server) => server.start()));
}
