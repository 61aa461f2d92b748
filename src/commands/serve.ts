/** `sendlark serve` and `sendlark node`: run the service or a sender node until the process is told to stop. */
import { rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { makePrivateFile } from '../database/private-file.ts';
import { processLog } from '../log.ts';
import type { Server } from '../server.ts';
import { type Command, requireWords } from './command.ts';
import { restartInPlace } from './restart-in-place.ts';
import { settings } from './settings.ts';

/** The file with the keys and the link of a first start without a terminal. */
const FIRST_SIGN_IN = 'first-sign-in.txt';

export const serve: Command = {
  forms: ['serve'],
  about: 'Run the service; the default.',
  help: `The first start makes the database, and shows the keys of the first account and a link to sign in once. Without a terminal it writes them to
the file ${FIRST_SIGN_IN} beside the database. For more keys and links: sendlark keys create, sendlark login-link.
SIGTERM or Ctrl-C stops the service: mails in flight are finished within SHUTDOWN_SECONDS, no mail is sent twice.
Settings come from the environment and from a file .env in the working directory.`,
  options: {},
  async run(call) {
    requireWords(call);
    const config = settings();
    // The server is imported here, because without this import the other commands start in a fraction of the time.
    const { serve: startServer } = await import('../server.ts');
    const server = await startServer(config);
    // The signals are handled before the lines below are printed, because a program that reads these lines may stop the
    // service at once.
    stopOnSignal(() => server.close());
    const isTerminal = process.stdout.isTTY;
    const secrets = firstSecrets(server);
    const secretLines = isTerminal ? secrets : storedSecrets(secrets, config.DATABASE_PATH);
    const lines = [`Sendlark serves ${server.apiUrl}`, `Dashboard: ${new URL('/', server.apiUrl)}`, ...secretLines];
    if (!server.hasOwner && server.welcomeUrl === null)
      lines.push('Nobody can sign in yet; to make a link for that: sendlark login-link');
    if (server.courier === 'nodes') lines.push('Campaign mail leaves from the sender nodes of NATS_URL');
    if (server.courier === 'outbox')
      lines.push('No SMTP server: mail stays in the test outbox, nothing leaves this machine');
    const held = server.linksFault === null ? [] : [`Sending is held. ${server.linksFault}`];
    if (isTerminal) console.log([...lines, ...held].join('\n'));
    else {
      // These lines are logged whatever LOG_LEVEL is, because the person who starts the service waits for them.
      const log = processLog({ LOG_LEVEL: 'info' });
      for (const line of lines) log({}, line);
      for (const line of held) log({}, line, 'error');
    }
    void server.restart.then(async () => {
      await server.close().catch((error) => console.error(error));
      restartInPlace({ PORT: new URL(server.apiUrl).port });
      // If the system cannot replace the process image, the process manager starts the service again.
      process.exit(0);
    });
    if (server.keys !== null) await server.keysShown();
  },
};

/** Returns the lines with the keys and the link of the first start; an empty list at later starts. */
function firstSecrets({ keys, welcomeUrl }: Pick<Server, 'keys' | 'welcomeUrl'>): string[] {
  return [
    ...(keys === null
      ? []
      : [
          'Keys of the first account, shown only now:',
          `PublicKey: ${keys.publicKey}`,
          `SecretKey: ${keys.secretKey}`,
          'To make others: sendlark keys create',
        ]),
    ...(welcomeUrl === null
      ? []
      : ['To sign in, open this link within 30 minutes and choose a password; it works once:', welcomeUrl]),
  ];
}

/**
 * Writes the lines to a file beside the database. Only the file's owner can read it, while the output may go to a journal that others read.
 * Returns the line that names the file.
 */
function storedSecrets(lines: readonly string[], databasePath: string): string[] {
  if (lines.length === 0) return [];
  const path = resolve(dirname(databasePath), FIRST_SIGN_IN);
  rmSync(path, { force: true });
  makePrivateFile(path);
  writeFileSync(path, `${lines.join('\n')}\n`, { flush: true });
  return [
    `The first keys and the link to sign in are in ${path}, for this user only; delete the file once you have them`,
  ];
}

export const node: Command = {
  forms: ['node'],
  about: 'Run a sender node: hand over mail that the service gives out over NATS.',
  help: `Needs NATS_URL, the same as the service. Uses the SMTP servers of the service unless SMTP_URL names others; NODE_NAME names the node in lists.
SIGTERM or Ctrl-C stops the node: mails in flight are finished within SHUTDOWN_SECONDS, all others go to other nodes.
The node serves the pages of recipients at HOST and PORT. It keeps nothing on disk and needs no database.`,
  options: {},
  async run(call) {
    requireWords(call);
    const config = settings();
    if (config.NATS_URL.length === 0)
      throw new Error('A sender node needs NATS_URL, the servers it shares with the service');
    const { startNode } = await import('../nodes/node/start.ts');
    const running = startNode(config, processLog(config), { servesPages: true });
    stopOnSignal(() => running.close());
  },
};

/** How long a forgotten timer or socket may keep the process alive after the service was closed. */
const FORGOTTEN_MS = 2000;

/**
 * At SIGTERM or Ctrl-C, closes once and ends the process: with 0, or with 1 and the error if closing fails. Node ends by itself
 * once nothing is open. process.exit is only the last resort, because it can wait for ever while one of Node's compiler
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
