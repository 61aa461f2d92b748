/** What is watched: the alert rules and the dashboard of `deploy/`, by Prometheus' own tool and by the metrics that there are. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { NodeMetrics } from '../../src/nodes/node/node-metrics.ts';
import { startApp } from '../support/app.ts';
import { ROOT } from '../support/documents.ts';
import { skipWithout, toolPath } from '../support/tools.ts';

const skip = skipWithout('promtool');
const RULES = join(ROOT, 'deploy/prometheus');
const dashboard: { panels: { title: string; targets: { expr: string }[] }[] } = JSON.parse(
  readFileSync(join(ROOT, 'deploy/grafana/sendlark.json'), 'utf8'),
);
const queries = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));

function promtool(...words: string[]) {
  const { status, stdout, stderr } = spawnSync(toolPath('promtool'), words, { cwd: RULES, encoding: 'utf8' });
  return { status, said: stdout + stderr };
}

t.test('each alert rule fires at its fault, and none while a long queue is sent', { skip }, async (t) => {
  t.match(promtool('check', 'rules', 'alerts.yml'), { status: 0, said: /SUCCESS/ });
  t.match(promtool('test', 'rules', 'alerts.test.yml'), { status: 0, said: /SUCCESS/ });
  const tried = readFileSync(join(RULES, 'alerts.test.yml'), 'utf8');
  for (const [, name] of readFileSync(join(RULES, 'alerts.yml'), 'utf8').matchAll(/- alert: (\w+)/g))
    t.match(tried, `alertname: ${name}\n`);
});

t.test('Prometheus understands every query of the Grafana dashboard', { skip }, async (t) => {
  const rules = queries.map((expr, at) => {
    const filled = expr.replaceAll('$__rate_interval', '5m').replaceAll('$job', 'sendlark');
    return `      - { record: "panel:${at}", expr: ${JSON.stringify(filled)} }`;
  });
  const path = join(t.testdir({}), 'panels.yml');
  writeFileSync(path, ['groups:', '  - name: panels', '    rules:', ...rules, ''].join('\n'));
  t.match(promtool('check', 'rules', path), { status: 0 });
});

t.test('rules and dashboard ask for no metric that there is not', async (t) => {
  const app = await startApp(t, { NATS_URL: 'nats://127.0.0.1:1', PUBLIC_URL: 'https://m.example' });
  const { text } = await app.page('GET', '/metrics');
  const known = new Set([...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name));
  const asked = `${readFileSync(join(RULES, 'alerts.yml'), 'utf8')} ${queries.join(' ')}`.matchAll(/\bsendlark_\w+/g);
  for (const name of new Set([...asked].map(([name]) => name))) t.ok(known.has(name.replace(/_bucket$/, '')), name);
});

t.test('promtool finds no fault with the metrics of a sender node', { skip }, async (t) => {
  const metrics = new NodeMetrics();
  t.teardown(() => metrics.close());
  metrics.follow(() => ({ isSending: true, isRelayFailing: false, unreported: 2 }));
  metrics.count({ kind: 'accepted' });
  const input = await metrics.text();
  t.match(input, /^sendlark_node_hand_offs_total\{result="accepted"\} 1$/m);
  t.match(input, /^sendlark_node_sending 1$/m);
  const { status, stdout, stderr } = spawnSync(toolPath('promtool'), ['check', 'metrics'], { input, encoding: 'utf8' });
  t.strictSame({ status, said: stdout + stderr }, { status: 0, said: '' });
});
