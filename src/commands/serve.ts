/** `sendlark serve` and `sendlark node`: run the service or a sender node until the process is told to stop. */
import type { NodeLog } from '../nodes/node/reporter.ts';
import { type Command, requireWords } from './command.ts';
import { settings } from './database.ts';
import { restartInPlace } from './restart-in-place.ts';

export const serve: Command = {
  forms: ['serve'],
  about: 'Run the service; the default.',
  help: `Makes the database at the first start and shows the keys of the first account and a link to sign in, once; sendlark keys create
and sendlark login-link make others.
SIGTERM or Ctrl-C stops it: what is in flight is finished within SHUTDOWN_SECONDS, nothing is sent twice.
Settings come from the environment and from a file .env in the working directory.`,
  options: {},
  async run(call) {
    requireWords(call);
    const config = settings();
    // Imported only here, because without this import the other commands start in a fraction of the time.
    const { serve: startServer } = await import('../server.ts');
    const server = await startServer(config);
    const lines = [`Sendlark serves ${server.apiUrl}`, `Dashboard: ${new URL('/', server.apiUrl)}`];
    if (server.keys !== null) {
      lines.push('Keys of the first account, shown only now:');
      lines.push(`PublicKey: ${server.keys.publicKey}`, `SecretKey: ${server.keys.secretKey}`);
      lines.push('To make others: sendlark keys create');
    }
    if (server.welcomeUrl !== null) {
      lines.push('To sign in, open this link within 30 minutes and choose a password; it works once:');
      lines.push(server.welcomeUrl);
    } else if (!server.hasOwner) lines.push('Nobody can sign in yet; to make a link for that: sendlark login-link');
    if (server.linksFault !== null) lines.push(`Sending is held. ${server.linksFault}`);
    if (server.courier === 'nodes') lines.push('Campaign mail leaves from the sender nodes of NATS_URL');
    if (server.courier === 'outbox')
      lines.push('No SMTP server: mail stays in the test outbox, nothing leaves this machine');
    // Before the lines are printed, because a program that reads them may stop the service at once.
    stopOnSignal(() => server.close());
    console.log(lines.join('\n'));
    void server.restart.then(async () => {
      await server.close().catch((error) => console.error(error));
      restartInPlace({ PORT: new URL(server.apiUrl).port });
      // If the system cannot do that, the process manager starts the service again.
      process.exit(0);
    });
    if (server.keys !== null) await server.keysShown();
  },
};

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
    // In the format of the service's log.
    const log: NodeLog = (fields, text, level) =>
      console.log(JSON.stringify({ level: level === 'warn' ? 40 : 30, time: Date.now(), ...fields, msg: text }));
    const running = startNode(config, log, { servesPages: true });
    stopOnSignal(() => running.close());
  },
};

/** How long a forgotten timer or socket may keep the process alive after the service was closed. */
const FORGOTTEN_MS = 2000;

/**
 * At SIGTERM or Ctrl-C, closes once and ends the process: with 0, or with 1 and the error if closing fails. Node ends by itself
 * once nothing is open. process.exit is only the second resort, because it can wait for ever while one of Node's compiler
 * threads waits for the main thread (https://github.com/nodejs/node/issues/54918).
 */
function stopOnSignal(close: () => Promise<void>): void {
  const stop = async () => {
    process.exitCode = 0;
    try {
      await close();
    } catch (error) {
      console.error(error);
      process.exitCode = 1;
    }
    setTimeout(() => process.exit(), FORGOTTEN_MS).unref();
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
}
