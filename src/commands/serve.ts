/** `sendlark serve`: runs the service until it is told to stop. */
import { linksFault } from '../config.ts';
import { type Command, requireWords } from './command.ts';
import { settings } from './database.ts';

export const serve: Command = {
  forms: ['serve'],
  about: 'Run the service; the default.',
  help: `Makes the database at the first start and shows the keys of the first account, once; sendlark keys create makes others.
SIGTERM or Ctrl-C stops it: what is in flight is finished within SHUTDOWN_SECONDS, nothing is sent twice.
Settings come from the environment and from a file .env in the working directory.`,
  options: {},
  async run(call) {
    requireWords(call);
    const config = settings();
    // The other commands start in a fraction of the time without what only the service needs.
    const { serve: startServer } = await import('../server.ts');
    const server = await startServer(config);
    const lines = [`Sendlark serves ${server.apiUrl}`, `Start page: ${new URL('/', server.apiUrl)}`];
    if (server.keys !== null) {
      lines.push('Keys of the first account, shown only now:');
      lines.push(`PublicKey: ${server.keys.publicKey}`, `SecretKey: ${server.keys.secretKey}`);
      lines.push('To make others: sendlark keys create');
    }
    const fault = linksFault(config);
    if (fault !== null) lines.push(`Sending is held. ${fault}`);
    if (config.SMTP_URL === '')
      lines.push('No SMTP_URL: mail stays in the built-in outbox, nothing leaves this machine');
    console.log(lines.join('\n'));
    const stop = () => {
      server.close().then(
        () => process.exit(0),
        (error) => {
          console.error(error);
          process.exit(1);
        },
      );
    };
    process.once('SIGTERM', stop);
    process.once('SIGINT', stop);
    await server.keysShown();
  },
};
