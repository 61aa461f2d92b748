/** The example of the page on transactional mail works as it stands there. Run `npm run build` before. */
import { spawnSync } from 'node:child_process';
import t from 'tap';
import { blocksOf } from '../support/documents.ts';
import { Service } from '../support/service.ts';
import { until } from '../support/service-campaign.ts';

t.test('the request of the document sends a mail', async (t) => {
  const service = new Service(t, {});
  await service.start();
  await service.post('/sender/save', {
    from_name: 'Lark Books',
    from_email: 'hello@example.com',
    reply_to_email: 'hello@example.com',
    country_id: '84',
    company_address: '1 Harbour St',
    nickname: 'Shop',
  });
  const [example] = blocksOf('docs/transactional.md');
  t.equal(example?.language, 'sh');
  const { PublicKey: PK, SecretKey: SK } = service.keys;
  const env = { PATH: process.env.PATH, URL: `${service.origin}/api`, PK, SK };
  const { stdout, stderr } = spawnSync('/bin/bash', ['-c', example?.text ?? ''], { env, encoding: 'utf8' });
  t.match(stdout, /^\{"status":"success","message":\{"utr":"[0-9a-f-]{36}"\}\}$/m, stderr);
  const { message } = await until(
    () => service.get('/outbox/list'),
    (answer) => JSON.stringify(answer).includes('Your order 4711'),
  );
  t.match(JSON.stringify(message), 'Zoë Müller <zoe@example.com>');
});
