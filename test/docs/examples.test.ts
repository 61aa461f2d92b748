/**
 * The requests and commands of the documents work as they stand there, on a service with a few records. `docs.test.ts` runs those of the
 * README and of operating, `recipes.test.ts` those of the recipes. Run `npm run build` before.
 */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { blocksOf, DOCS, ROOT } from '../support/documents.ts';
import { SHOP_FORM } from '../support/sender.ts';
import { Service } from '../support/service.ts';
import { until } from '../support/service-campaign.ts';

const ELSEWHERE = ['docs/operating.md', 'docs/recipes.md'];
/** Documents with commands that cannot be run here, and why. */
const NOT_RUN: Record<string, string> = {
  'docs/failover.md': 'starts three NATS servers: test/nodes/failover.test.ts does what this command does',
  'docs/migrating.md':
    'needs an export of another service, or such a service: test/commands/migrate.test.ts has exports',
  'docs/nodes.md':
    'needs NATS under a name of its own and never ends: test/nodes/rights.test.ts starts NATS with this configuration',
  'docs/operating-nodes.md': 'needs Docker: test/docs/deploy.test.ts looks at compose.nodes.yaml',
};

const blocks = DOCS.filter((document) => !ELSEWHERE.includes(document))
  .flatMap(blocksOf)
  .filter(({ language }) => language === 'sh');

t.test(
  'every block of code in the documents has a language, and every reason not to run one has a block',
  async (t) => {
    for (const { document, language, text } of DOCS.flatMap(blocksOf)) t.not(language, '', `${document}: ${text}`);
    for (const document of Object.keys(NOT_RUN))
      t.ok(
        blocks.some((one) => one.document === document),
        document,
      );
  },
);

t.test('every request and command that stands in a document does what it is there for', async (t) => {
  const service = new Service(t, {});
  await service.start();
  await service.post('/unsubscribes-groups/save', { group_name: 'News', description: 'News', is_display: '1' });
  await service.post('/sender/save', { ...SHOP_FORM, country_id: '84' });
  await service.post('/contacts-type/add', { name: 'Readers' });
  for (const name of ['ann', 'ben', 'cem', 'dora', 'eve', 'finn', 'zoe'])
    await service.post('/contacts/add', { contact_type_id: '1', email: `${name}@example.com`, country: '84' });
  await service.post('/segment/store', {
    segment_name: 'Anns',
    contact_type_id: '1',
    'select_field[0]': 'first_name',
    'select_operator[0]': 'is',
    'value[0]': 'Ann',
  });
  const send = await service.post('/single/send/draft', { single_send_name: 'Autumn' });
  const { utr: UTR } = send.message as { utr: string };
  await service.post('/single/send/save', {
    utr: UTR,
    subject: 'Autumn',
    template_id: '2',
    'recipient_id[0]': 'contacts_1',
  });
  // A campaign with an A/B test has no versions in other languages.
  const other = await service.post('/single/send/draft', { single_send_name: 'Winter' });
  const { utr: untested } = other.message as { utr: string };
  const series = await service.post('/automations/create', {
    type: 'custom',
    automation_name: 'Welcome',
    unsubscribe_group_id: '1',
    automation_for: 'contacts_1',
  });
  const { utr: automation } = series.message as { utr: string };
  // Contacts enter only a live one, which needs a mail.
  await service.post('/automations/schedule/create', {
    utr: automation,
    sender_id: '1',
    subject: 'Welcome',
    waiting_type: 'instantly',
    waiting_period: '1',
    template_id: '2',
    preview_img: 'blank.png',
  });
  const live = await service.get(`/automations/set-live?utr=${automation}`);
  t.match(JSON.stringify(live), 'live');
  const folder = t.testdir({
    'newsletter.html': '<p>Dear ((first_name|reader)), <a href="((unsubscribe_preferences))">leave</a></p>',
    'mail.eml': [
      'From: hello@example.com',
      'To: zoe@example.com',
      'Subject: News',
      'Date: Thu, 15 Jan 2026 09:00:00 +0000',
      'Message-ID: <1@example.com>',
      'List-Unsubscribe: <https://mail.example.com/u/1>',
      'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
      '',
      'News. Unsubscribe: https://mail.example.com/u/1',
    ].join('\r\n'),
  });
  writeFileSync(
    join(folder, 'sendlark'),
    `#!/bin/sh\nexec '${process.execPath}' '${join(ROOT, 'dist/cli.js')}' "$@"\n`,
    {
      mode: 0o755,
    },
  );
  const { PublicKey, SecretKey } = service.keys;
  const env = {
    PATH: `${folder}:${process.env.PATH}`,
    SENDLARK_URL: service.origin,
    SENDLARK_PUBLIC_KEY: PublicKey,
    SENDLARK_SECRET_KEY: SecretKey,
  };
  for (const { document, text } of blocks.filter((block) => !(block.document in NOT_RUN))) {
    const campaign = document === 'docs/languages.md' ? untested : UTR;
    const utr = text.includes('/automations/') ? automation : campaign;
    const { status, stdout, stderr } = spawnSync('/bin/bash', ['-ec', text], {
      cwd: folder,
      env: { ...env, UTR: utr },
      stdio: ['ignore', 'pipe', 'pipe'],
      encoding: 'utf8',
    });
    t.equal(status, 0, `${document}: ${text}${stdout}${stderr}`);
    const answers = stdout.split(/(?<=\})\s*(?=\{"status")/);
    const requests = text.split('\n').filter((line) => line.startsWith('curl '));
    if (requests.length > 0) t.equal(answers.length, requests.length, `${document}: ${stdout}`);
    for (const answer of requests.length > 0 ? answers : []) t.match(answer, /^\{"status":"success"/, document);
  }
  const { message } = await until(
    () => service.get('/outbox/list'),
    (answer) => JSON.stringify(answer).includes('Your order 4711'),
  );
  t.match(JSON.stringify(message), 'Zoë Müller <zoe@example.com>', 'the transactional mail has arrived');
});
