/** The check of a file and the check of a campaign find the same in the same template. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { editedTemplate } from '../../../src/delivery/content/mjml-editor.ts';
import { checkFile } from '../../../src/delivery/shown/file-check.ts';
import { readyToSend } from '../../support/single-sends.ts';

const FOLDER = join(import.meta.dirname, 'ugly');
const fromFile = (name: string) => readFileSync(join(FOLDER, name), 'utf8');
/** Templates with faults, by name. The large one has more HTML than Gmail shows. */
const TEMPLATES = new Map([
  ...readdirSync(FOLDER).map((name): [string, string] => [name, fromFile(name)]),
  ['large', `<html lang="en"><body><p>${'A long mail. '.repeat(9000)}</p></body></html>`],
]);
/** What is about the sender, or about merge tags that may be fields of the account. */
const OF_ACCOUNT = ['address', 'addressLacks', 'unknown', 'values', 'freemail'];

interface Found {
  code: string;
  severity: string;
  count: number;
  limit: number;
  names: readonly string[];
}

/** The findings in an order of their own, each with what the file alone decides. The size has the postal address of the sender in it. */
const comparable = (findings: readonly Found[]) =>
  findings
    .filter(({ code }) => !OF_ACCOUNT.includes(code))
    .map(({ code, severity, count, limit, names }) => ({
      code,
      severity,
      count: code === 'size' ? 0 : count,
      limit,
      names,
    }))
    .sort((one, other) => (one.code < other.code ? -1 : 1));

t.test('every template with faults has the same findings in a file and in a campaign', async (t) => {
  const { app, body } = await readyToSend(t);
  const codes = new Set<string>();
  for (const [name, text] of TEMPLATES) {
    const form = text.startsWith('<mjml>') ? { template_json: editedTemplate(text, '') } : { template_html: text };
    const inFile = await checkFile(text).catch((error: unknown) => String(error));
    for (const recipient_id of [[], body.recipient_id]) {
      const { check } = (await app.one.call('POST', '/check', { form: { ...form, recipient_id } })).body.message;
      if (typeof inFile === 'string') {
        t.match(check.problem, inFile.replace(/^\w+: /, '').slice(0, 40), `${name}: it cannot be compiled`);
        continue;
      }
      t.equal(check.problem, null, name);
      const found = comparable(check.findings);
      t.strictSame(found, comparable(inFile.findings), name);
      for (const { code } of found) codes.add(code);
    }
  }
  const all = ['urls', 'foreign', 'sample', 'images', 'links', 'contrast', 'headings', 'http', 'examples', 'spamWords'];
  const missing = [...all, 'size', 'imagesOnly', 'language'].filter((code) => !codes.has(code));
  t.strictSame(missing, [], 'the templates have each of these faults');
});

t.test('what only some contacts would get is found, whoever is in the preview', async (t) => {
  const { app, body } = await readyToSend(t);
  const form = { template_html: fromFile('branches.txt'), recipient_id: body.recipient_id };
  const { check } = (await app.one.call('POST', '/check', { form })).body.message;
  const urls = check.findings.find(({ code }: Found) => code === 'urls');
  t.strictSame(urls.names, ['#', 'http://localhost/deep']);
});
