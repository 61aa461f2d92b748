/**
 * Measures the CPU time of handing over a prebuilt message to the raw sink: with our pool, then with nodemailer's, in the same run.
 *
 *   npm run bench:smtp -- [messages] [connections] [bytes]
 */
import nodemailer from 'nodemailer';
import { MailData } from '../../src/delivery/mime/mail-data.ts';
import { SmtpPool } from '../../src/delivery/transport/smtp/pool.ts';
import { parseRelays } from '../../src/delivery/transport/smtp/relay-urls.ts';
import { startSink } from './measure.ts';
import { report } from './report.ts';

const [messages = 100_000, connections = 20, bytes = 37_000] = process.argv.slice(2).map(Number);

/** Makes a message of about this number of bytes that looks like quoted-printable HTML. */
function sampleMessage(size: number): Buffer {
  const head = 'From: a@example.com\r\nTo: b@example.com\r\nSubject: bench\r\nMessage-ID: <1@example.com>\r\n\r\n';
  const line = '<td style=3D"padding:0 8px;color:#333333">Lorem ipsum dolor. sit amet, con=\r\n';
  return Buffer.from(head + line.repeat(Math.max(1, Math.round((size - head.length) / line.length))));
}

/** Calls `send` with the numbers from 0 to `count` − 1, `width` calls at the same time. */
async function sendAll(count: number, width: number, send: (number: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  async function lane(): Promise<void> {
    while (next < count) await send(next++);
  }
  await Promise.all(Array.from({ length: width }, lane));
}

type Row = {
  messages: number;
  'messages/s': number;
  'CPU µs/message': number;
  'sink CPU µs/message': number;
};

/** Measures `run` with `count` messages, after a tenth as many to warm up. */
async function measure(
  count: number,
  sinkCpu: () => Promise<number>,
  run: (count: number) => Promise<void>,
): Promise<Row> {
  await run(Math.ceil(count / 10));
  const sinkBefore = await sinkCpu();
  const cpuBefore = process.cpuUsage();
  const start = performance.now();
  await run(count);
  const seconds = (performance.now() - start) / 1000;
  const cpu = process.cpuUsage(cpuBefore);
  const sink = (await sinkCpu()) - sinkBefore;
  return {
    messages: count,
    'messages/s': Math.round(count / seconds),
    'CPU µs/message': Math.round(((cpu.user + cpu.system) / count) * 10) / 10,
    'sink CPU µs/message': Math.round(((sink * 1e6) / count) * 10) / 10,
  };
}

const sink = await startSink();
const sinkCpu = async () => (await sink.totals()).cpuSeconds;

const message = sampleMessage(bytes);
const pool = new SmtpPool(parseRelays(sink.url), { connections });
const mailData = MailData.of(message.toString('latin1'));
const ours = await measure(messages, sinkCpu, (count) =>
  sendAll(count, connections, async (number) => {
    const outcome = await pool.send({ from: 'a@example.com', to: `b${number}@example.com`, start: () => mailData });
    if (outcome === 'withdrawn' || outcome.kind !== 'accepted') throw new Error(JSON.stringify(outcome));
  }),
);
await pool.close(1000);

const transport = nodemailer.createTransport({
  host: '127.0.0.1',
  port: Number(new URL(sink.url).port),
  pool: true,
  maxConnections: connections,
  maxMessages: Number.POSITIVE_INFINITY,
});
const theirs = await measure(Math.ceil(messages / 10), sinkCpu, (count) =>
  sendAll(count, connections, (number) =>
    transport.sendMail({ envelope: { from: 'a@example.com', to: `b${number}@example.com` }, raw: message }),
  ),
);
transport.close();
sink.close();

report({ 'our SmtpPool': ours, 'nodemailer, pooled': theirs }, [
  `${(theirs['CPU µs/message'] / ours['CPU µs/message']).toFixed(1)} times less CPU a message; ${message.length} bytes, ${connections} connections`,
]);
