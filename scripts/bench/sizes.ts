/**
 * Measures how the rate of a campaign depends on its size: the running service with a hundred tracked links in the mail, compared with raw
 * pipelined SMTP of as many bytes built beforehand, which renders nothing and writes nothing to the database. A small campaign is over
 * before Node has compiled the code and all connections are open.
 *
 *   npm run bench:sizes -- [recipients ...]
 */
import { type Measurement, runApart, startSink } from './measure.ts';
import { report, type Table } from './report.ts';

const wantedSizes = process.argv.slice(2);
const sizes = wantedSizes.length > 0 ? wantedSizes : ['10000', '50000'];

const sink = await startSink();
const table: Table = {};
for (const size of sizes) {
  await sink.reset();
  const ours: Measurement = await runApart('delivery.ts', [size, 'campaign', sink.url]);
  const { bytes, messages } = await sink.totals();
  const floor: Measurement = await runApart('delivery.ts', [
    size,
    'floor',
    sink.url,
    String(Math.round(bytes / messages)),
  ]);
  const each = ({ cpuSeconds, units }: Measurement) => (cpuSeconds / units) * 1e6;
  table[Number(size).toLocaleString('en-US').replaceAll(',', ' ')] = {
    'mails/s': Math.round(ours.units / ours.seconds),
    'floor/s': Math.round(floor.units / floor.seconds),
    'CPU µs a mail': Math.round(each(ours) * 10) / 10,
    'CPU ratio': Math.round((each(ours) / each(floor)) * 100) / 100,
    'peak RSS MB': Math.round(ours.maxRssKb / 1024),
  };
}
sink.close();
report(table);
