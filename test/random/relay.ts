/** The relay of the random steps: it knows no address that begins with "gone", and takes the mail of everybody else. */
import { once } from 'node:events';
import { SMTPServer } from 'smtp-server';
import type { Test } from 'tap';
import { type Arrived, isGone } from './model.ts';

const field = (raw: string, name: string) => new RegExp(`^${name}: (.*)`, 'im').exec(raw)?.[1]?.trim() ?? '';

/** Starts it; `take` is called with a mail before it is accepted, and `refuse` with an address that is refused. Gives its URL. */
export async function startRelay(
  t: Test,
  take: (mail: Arrived) => void,
  refuse: (to: string) => void,
): Promise<string> {
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo({ address }, _session, done) {
      if (!isGone(address)) return done();
      refuse(address);
      done(Object.assign(new Error('5.1.1 no such user'), { responseCode: 550 }));
    },
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const raw = Buffer.concat(chunks).toString('latin1');
        const returnPath = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
        const to = envelope.rcptTo[0]?.address ?? '';
        take({ to, subject: field(raw, 'Subject'), messageId: field(raw, 'Message-ID'), returnPath, raw });
        done();
      });
    },
  });
  server.on('error', () => undefined);
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  t.teardown(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const bound = listening.address();
  if (typeof bound !== 'object' || bound === null) throw new Error('the relay has no port');
  return `smtp://127.0.0.1:${bound.port}`;
}
