/**
 * The rate of a campaign against its size: the running service with a hundred tracked links in the mail, and raw pipelined SMTP of as
 * many bytes built beforehand, which writes no ledger and renders nothing. A small campaign is over before the code is compiled and
 * all connections are open.
 *
 *   npm run bench:sizes -- [recipients ...]
 */
import { ranApart, startedSink, type Taken } from './measure.ts';
import { report, type Table } from './report.ts';

const given = process.argv.slice(2);
const sizes = given.length > 0 ? given : ['10000', '50000'];

const sink = await startedSink();
const table: Table = {};
for (const size of sizes) {
  await sink.reset();
  const ours: Taken = await ranApart('delivery.ts', [size, 'campaign', sink.url]);
  const { bytes, messages } = await sink.totals();
  const floor: Taken = await ranApart('delivery.ts', [size, 'floor', sink.url, String(Math.round(bytes / messages))]);
  const each = ({ cpuSeconds, units }: Taken) => (cpuSeconds / units) * 1e6;
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
