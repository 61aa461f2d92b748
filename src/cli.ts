#!/usr/bin/env node
/** The command line; `serve` is the default. */
import { readConfig, readEnvironment } from './config.ts';
import { serve } from './server.ts';

async function main([command = 'serve']: string[]): Promise<void> {
  if (command !== 'serve') throw new Error(`Unknown command: ${command}`);
  const config = readConfig(readEnvironment());
  const server = await serve(config);
  const lines = [`Sendlark serves ${server.apiUrl}`];
  if (server.keys !== null) {
    lines.push('Keys of the first account, shown only now:');
    lines.push(`PublicKey: ${server.keys.publicKey}`, `SecretKey: ${server.keys.secretKey}`);
  }
  if (config.SMTP_URL === '') lines.push('No SMTP_URL: mail stays in the built-in outbox, nothing leaves this machine');
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
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
