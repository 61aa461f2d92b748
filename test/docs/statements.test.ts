/** Single statements of the documents that a change of the program could make false. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readImports } from '../../fixtures/import-graph.ts';
import { campaigns } from '../../src/campaigns/words.en.ts';
import { SHOWN_DELIVERY_STATES } from '../../src/delivery/reporting/mailing-report.ts';
import { isSentenceCode, SENTENCES } from '../../src/errors/sentences.ts';
import { sentences as englishSentences } from '../../src/ui/words/en/sentences.ts';
import { startApp } from '../support/app.ts';
import { ROOT } from '../support/documents.ts';

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

t.test('a path with another method is answered 404, as docs/http-conventions.md says', async (t) => {
  const { one } = await startApp(t);
  for (const [method, path] of [
    ['GET', '/contacts/add'],
    ['POST', '/contacts-type'],
    ['DELETE', '/sender/list'],
  ] as const)
    t.match(await one.call(method, path), { status: 404, body: { status: 'failed', errors: 'Not Found' } }, path);
  t.match(read('docs/http-conventions.md'), '| 404 | the record, or the path with this method, does not exist');
  t.match(read('docs/http-conventions.md'), '| 405 | TRACE, everywhere |');
});

/** The files that open connections of their own, with what SECURITY.md calls the other end. */
const CONNECTING: Record<string, string> = {
  'delivery/transport/smtp/connection.ts': 'SMTP servers',
  'installation/health-checks/returned-mail.ts': 'own MX record',
  'installation/health-checks/public-url.ts': 'own tracking domain',
  'installation/health-checks/domain-authentication.ts': 'name servers',
  'delivery/transport/smtp/helo.ts': 'name servers',
  'webhooks/addresses.ts': 'name servers',
  'webhooks/requests.ts': 'webhooks',
  'feeds/fetch-feed.ts': 'feeds',
  'delivery/feedback/providers/amazon-download.ts': 'Amazon',
  'nodes/connection.ts': 'NATS',
};
const CONNECTS =
  /(?<!type )\b(Agent|Pool|Client|request|get|fetch|connect|net|tls|Resolver|lookup)\b[^;]*from '(undici|node:(https?|net|tls|dns|dns\/promises)|@nats-io\/transport-node)'/;

t.test('SECURITY.md names everything that a running service connects to', async (t) => {
  const outside = [...readImports(['src']).keys()]
    .map((file) => file.slice('src/'.length))
    // Commands run beside the service, for as long as their user waits.
    .filter((file) => !/^(commands|mcp)\/|\/browser\//.test(file))
    .filter((file) => {
      const imports = read(`src/${file}`).match(/^import (?!type )[^;]*;/gm) ?? [];
      return imports.some((line) => CONNECTS.test(line.replace(/\btype \w+( as \w+)?,?/g, '')));
    });
  t.strictSame(outside.sort(), Object.keys(CONNECTING).sort());
  const security = read('SECURITY.md').replaceAll(/\s+/g, ' ');
  const [, said = ''] = /- A running service connects only to (.*?)\. /.exec(security) ?? [];
  for (const end of Object.values(CONNECTING)) t.match(said, end);
});

t.test('the paths that a proxy lets through to recipients are named in docs/operating.md', async (t) => {
  const [, paths = ''] =
    /recipients and mail providers need ([^.]*)\./.exec(read('docs/operating.md').replaceAll(/\s+/g, ' ')) ?? [];
  const named = [...paths.matchAll(/`(\/[^`]*)`/g)].map(([, path]) => path ?? '');
  t.ok(named.length > 5);
  const routes = [...readImports(['src']).keys()]
    .filter((file) => /^src\/(pages|http)\//.test(file))
    .map(read)
    .join();
  for (const path of named) t.ok(routes.includes(`${path}/`), path);
  for (const path of ['/u', '/o', '/c', '/w', '/f', '/pictures', '/hooks/in']) t.ok(named.includes(path), path);
});

t.test('docs/why-no-mail.md has every reason and cause as the dashboard shows it, with its code', async (t) => {
  const rows = read('docs/why-no-mail.md').matchAll(/^\| (.+?) \| `(?!state`|reason_code`)(\w+)` \| /gm);
  const stated = new Map([...rows].map(([, words = '', code = '']) => [code, words]));
  for (const state of SHOWN_DELIVERY_STATES) {
    t.equal(stated.get(state), campaigns[`delivery.${state}`], state);
    stated.delete(state);
  }
  for (const [code, words] of stated)
    t.equal(isSentenceCode(code) && (englishSentences[code] ?? SENTENCES[code]), words, code);
  const codes = Object.keys(SENTENCES);
  const reasons = codes.slice(codes.indexOf('unsubscribed_all'), codes.indexOf('merged_subject_too_long') + 1);
  // Results of a test mail, words of a suppression, and what is put before the words of a server.
  const others = ['no_test_sent', 'suppression_bounce', 'suppression_complaint', 'returned', 'complaint'];
  t.strictSame(
    reasons.filter((code) => !stated.has(code)),
    reasons.filter((code) => others.includes(code)),
  );
});
