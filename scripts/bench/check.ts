/**
 * What it costs to check the mails of all recipients: CPU for each, and the longest time in which nothing else could run,
 * as CPU time of the thread, since a busy machine stretches the wall clock.
 *
 *   npm run bench:check -- [recipients]
 */
import { join } from 'node:path';
import { sampleHtml } from '../../fixtures/mailing.ts';
import { measureMail } from '../../src/delivery/checks/measured-mail.ts';
import { checkRecipients } from '../../src/delivery/checks/recipients-check.ts';
import { buildContent } from '../../src/delivery/mime/build.ts';
import { inFolder, madeDatabase, row, taken } from './measure.ts';
import { report } from './report.ts';

const count = Number(process.argv[2] ?? 100_000);
const condition = '((if city = "Berlin"))<p>Berlin</p>((else))<p>Elsewhere</p>((end))';

await inFolder(async (folder) => {
  const db = madeDatabase(join(folder, 'check.db'), count);
  const content = await buildContent({
    template_json: null,
    template_html: sampleHtml(29_000, 100).replace('</body>', `${condition.repeat(10)}((alt_email))</body>`),
    ...{ subject: 'News for ((first_name|you)) in ((city))', preheader: '', tracking: true, footer: true },
  });
  const mail = measureMail(content, { sender_name: 'Lark', sender_address: '1 Street' });
  const names = [{ id: 1, field_name: 'company_name' }];
  let longest = 0;
  let before = process.threadCpuUsage();
  let turn = setImmediate(function next() {
    const now = process.threadCpuUsage();
    longest = Math.max(longest, now.user - before.user + now.system - before.system);
    before = now;
    turn = setImmediate(next);
  });
  const result = await taken(count, async () => {
    const { checked, findings } = await checkRecipients(db.$client, mail, names, {
      ...{ targets: [{ table: 'contacts', id: '1' }], excluded: [], groupId: 0 },
    });
    if (checked !== count || findings.length === 0) throw new Error(`${checked} were checked`);
  });
  clearImmediate(turn);
  report({ 'check of all recipients': row(result, 'recipients', result) }, [
    `longest stretch ${Math.round(longest / 100) / 10} ms of CPU; HTML of 37 kB with 100 links and ten conditions`,
  ]);
  db.$client.close();
});
