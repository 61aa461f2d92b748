/** `sendlark node`: runs a sender node until it is told to stop. */
import type { NodeLog } from '../nodes/node/log.ts';
import { type Command, requireWords } from './command.ts';
import { settings } from './database.ts';
import { stopOnSignal } from './stop-on-signal.ts';

export const node: Command = {
  forms: ['node'],
  about: 'Run a sender node: hand over mail that the service gives out over NATS.',
  help: `Needs NATS_URL, the same as the service. Relays are those of the service unless SMTP_URL names others; NODE_NAME names the node in lists.
SIGTERM or Ctrl-C stops it: what is in flight is finished within SHUTDOWN_SECONDS, the rest goes to other nodes.
It answers the pages of recipients at HOST and PORT. It keeps nothing on disk and needs no database.`,
  options: {},
  async run(call) {
    requireWords(call);
    const config = settings();
    if (config.NATS_URL.length === 0)
      throw new Error('A sender node needs NATS_URL, the servers it shares with the service');
    const { startNode } = await import('../nodes/node/start.ts');
    // As the log of the service has it.
    const log: NodeLog = (fields, text, level) =>
      console.log(JSON.stringify({ level: level === 'warn' ? 40 : 30, time: Date.now(), ...fields, msg: text }));
    const running = startNode(config, log, { servesPages: true });
    stopOnSignal(() => running.close());
  },
};
