/** Checks of the files that the documents give to programs which are not at hand here. */
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { SETTINGS } from '../../src/config.ts';

const ANALYZE = '/usr/bin/systemd-analyze';
const STATE = '/var/lib/sendlark';
const ADDRESS = `${SETTINGS.HOST.fallback}:${SETTINGS.PORT.fallback}`;

/** A unit that systemd takes, whose program is where the documents install it, and which stops later than the program does. */
export function checkUnit(t: Test, unit: string): void {
  const values = new Map(pairsOf(unit, /^(\w+)=(.*)$/gm));
  t.equal(values.get('ExecStart'), '/usr/local/bin/sendlark serve');
  t.equal(values.get('WorkingDirectory'), STATE);
  t.equal(`/var/lib/${values.get('StateDirectory')}`, STATE);
  t.ok(Number(values.get('TimeoutStopSec')) > Number(SETTINGS.SHUTDOWN_SECONDS.fallback));
  if (!existsSync(ANALYZE)) return;
  const path = join(t.testdir(), 'sendlark.service');
  // The program and the user exist on the operator's machine only.
  writeFileSync(path, unit.replace(/^ExecStart=\S+/m, 'ExecStart=/bin/true').replace(/^User=.*/m, 'User=root'));
  const { status, stderr } = spawnSync(ANALYZE, ['verify', path], { encoding: 'utf8' });
  t.equal(status, 0, stderr);
  t.notMatch(stderr, /sendlark\.service.*(Unknown|Failed)/);
  const { stdout } = spawnSync(ANALYZE, ['security', '--offline=true', path], { encoding: 'utf8' });
  const [, exposure] = /exposure level for \S+: ([\d.]+)/.exec(stdout) ?? [];
  // With root in place of its user, one more than the documents say.
  t.ok(Number(exposure) <= 3.6, `exposure ${exposure}`);
}

/** What the two groups of a pattern find. */
export function pairsOf(text: string, pattern: RegExp): [name: string, value: string][] {
  return [...text.matchAll(pattern)].map(([, name = '', value = '']) => [name, value]);
}

/** Gives the command of a line of /etc/cron.d: five fields, the unit's user, and percent signs with backslashes, which cron asks for. */
export function checkCron(t: Test, text: string): string {
  const [line = '', ...others] = text.trim().split('\n');
  t.strictSame(others, []);
  const [, user, command = ''] = /^(?:[\d*][\d*,/-]* ){5}(\S+) (.+)$/.exec(line) ?? [];
  t.equal(user, 'sendlark');
  t.notMatch(command, /(?<!\\)%/);
  return command.replaceAll('\\%', '%');
}

/** A site that hands everything to the address we listen on; gives the paths that it keeps inside. */
export function checkCaddy(t: Test, text: string): string[] {
  checkBraces(t, text);
  t.match(text, `reverse_proxy ${ADDRESS}`);
  t.match(text, /^\trespond @private 403$/m);
  const [, paths = ''] = /^\t@private path (.+)$/m.exec(text) ?? [];
  t.strictSame(paths.split(' '), ['/metrics', '/readyz']);
  return paths.split(' ');
}

/** The same of nginx, which passes on what TRUST_PROXY reads, and bodies as large as we take. */
export function checkNginx(t: Test, text: string): void {
  checkBraces(t, text);
  for (const line of text.trim().split('\n')) t.match(line, /[;{}]$/, 'a directive ends');
  t.match(text, `proxy_pass http://${ADDRESS};`);
  for (const header of ['Host $host', 'X-Forwarded-For $remote_addr', 'X-Forwarded-Proto $scheme']) {
    t.ok(text.includes(`proxy_set_header ${header};`), header);
  }
  t.ok(text.includes('proxy_set_header X-Forwarded-Host "";'), 'a host that the caller makes up is not passed on');
  const [, megabytes] = /client_max_body_size (\d+)m;/.exec(text) ?? [];
  t.ok(Number(megabytes) * 2 ** 20 > Number(SETTINGS.MAX_UPLOAD_BYTES.fallback), 'an upload passes');
  t.match(text, /location ~ \^\/\(metrics\|readyz\)\$ \{ return 403; \}/);
}

/** Litestream's list of databases, with the file of the unit's service. */
export function checkLitestream(t: Test, text: string): void {
  const [, path] = /^dbs:\n {2}- path: (\S+)\n {4}replicas:\n {6}- url: s3:\/\/\S+\n$/.exec(text) ?? [];
  t.equal(path, join(STATE, SETTINGS.DATABASE_PATH.fallback));
}

/** A service that keeps its database on a volume, is reachable from this machine only, and is given longer to stop than it takes. */
export function checkCompose(t: Test, text: string): void {
  t.match(text, /^ {6}- 127\.0\.0\.1:3000:3000$/m);
  const [, volume = '', folder = ''] = /^ {6}- (\w+):(\/\w+)$/m.exec(text) ?? [];
  t.match(text, `\nvolumes:\n  ${volume}:\n`);
  const settings = new Map(pairsOf(text, /^ {6}([A-Z_]+): "?([^"\n]*)"?$/gm));
  for (const name of settings.keys()) t.ok(Object.hasOwn(SETTINGS, name), name);
  t.equal(settings.get('DATABASE_PATH'), join(folder, SETTINGS.DATABASE_PATH.fallback));
  t.equal(settings.get('PORT'), SETTINGS.PORT.fallback);
  const [, seconds] = /^ {4}stop_grace_period: (\d+)s$/m.exec(text) ?? [];
  t.ok(Number(seconds) > Number(SETTINGS.SHUTDOWN_SECONDS.fallback) + 1, 'it may finish what is in flight');
}

function checkBraces(t: Test, text: string): void {
  let depth = 0;
  for (const brace of text.match(/[{}]/g) ?? []) {
    depth += brace === '{' ? 1 : -1;
    t.ok(depth >= 0, 'a brace closes what was opened');
  }
  t.equal(depth, 0, 'every brace is closed');
}
