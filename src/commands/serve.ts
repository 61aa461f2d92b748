/** `sendlark serve`: runs the service until it is told to stop. */
import { isSea } from 'node:sea';
import { type Command, requireWords } from './command.ts';
import { settings } from './database.ts';
import { stopOnSignal } from './stop-on-signal.ts';

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
    // Imported only here, because the other commands start in a fraction of the time without it.
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
      lines.push('No relay: mail stays in the built-in outbox, nothing leaves this machine');
    console.log(lines.join('\n'));
    stopOnSignal(() => server.close());
    void server.restart.then(async () => {
      await server.close().catch((error) => console.error(error));
      becomeAnew(new URL(server.apiUrl).port);
    });
    if (server.keys !== null) await server.keysShown();
  },
};

/** Starts the program anew in the place of this process, with the same number, so that whatever watches over it notices nothing. */
function becomeAnew(port: string): void {
  const env = { ...process.env, PORT: port };
  // Within a binary of one file, the program is no argument of its own.
  const program = isSea() ? [] : [...process.execArgv, ...process.argv.slice(1, 2)];
  process.execve?.(process.execPath, [process.execPath, ...program, ...process.argv.slice(2)], env);
  // Where the system cannot do that, whoever watches over the service starts it again.
  process.exit(0);
}
