/** `sendlark check`: findings of a file, their severities, and the exit code. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { sendlark } from '../support/command-line.ts';

t.test('a file with an error exits with 1, one without exits with 0', async (t) => {
  const folder = t.testdir();
  const file = join(folder, 'mail.html');
  writeFileSync(file, '<html lang="en"><p>Hello</p><a href="#">here</a></html>');
  const bad = await sendlark({}, 'check', file);
  t.equal(bad.code, 1);
  t.match(bad.out, /^error +urls: 1 link leads nowhere/m);
  const json = await sendlark({}, 'check', file, '--json');
  t.equal(json.code, 1);
  t.match(JSON.parse(json.out), {
    kind: 'html',
    findings: [{ code: 'urls', severity: 'error', count: 1, names: ['#'] }],
  });
  writeFileSync(file, '<html lang="en"><p>Hello</p></html>');
  const good = await sendlark({}, 'check', file);
  t.equal(good.code, 0);
  t.match(good.out, 'Nothing was found.');
});

t.test('a file that is not there or cannot be compiled is an error with one line', async (t) => {
  const folder = t.testdir({ 'broken.html': '<p>((if a))</p>' });
  const broken = await sendlark({}, 'check', join(folder, 'broken.html'));
  t.equal(broken.code, 1);
  t.match(broken.err, /end/);
  t.equal((await sendlark({}, 'check', join(folder, 'none.html'))).code, 1);
  t.equal((await sendlark({}, 'check')).code, 2);
});
