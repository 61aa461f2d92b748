/** Runs a Postfix for a test: in a temporary folder, on loopback ports, forwarding every mail to a sink. */
import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import { freePorts } from '../../../../fixtures/free-ports.ts';
import { localhostCertificate } from '../../../support/smtp/certificate.ts';
import { skipWithout, toolPath } from '../../../support/tools.ts';

const POSTFIX = toolPath('postfix');
const run = promisify(execFile);

/** Why Postfix cannot run here, or false: it needs its Debian package, and root to switch to its users. */
export function whyNoPostfix(): string | false {
  const reason = skipWithout('postfix');
  if (reason !== false) return reason;
  return process.getuid?.() === 0 ? false : 'Postfix can only be started by root';
}

/** The listeners by name, each with its smtpd settings. */
const LISTENERS = {
  usual: {},
  /** One connection at a time; a second one gets a 421 (anvil). */
  narrow: { smtpd_client_connection_count_limit: 1, smtpd_client_event_limit_exceptions: '' },
  /** The fourth error ends the connection with 421. */
  impatient: { smtpd_hard_error_limit: 3 },
  /** Ten messages a minute, then 450 at MAIL. */
  slow: { smtpd_client_message_rate_limit: 10, smtpd_client_event_limit_exceptions: '' },
  plain: { smtpd_tls_security_level: 'none' },
} as const;
type Listener = keyof typeof LISTENERS;

/** The refused recipients, by the start of the address: unknown users, greylisting and so on. */
const RECIPIENTS = `
/^nobody/  550 5.1.1 User unknown in local recipient table
/^later/   451 4.3.0 Greylisted, try again later
/^policy/  554 5.7.1 Refused by policy
`;

export interface Postfix {
  /** SMTP_URL of a listener. */
  url(listener?: Listener): string;
  /** The text of its log. */
  log(): string;
}

/** Starts Postfix and stops it when the test ends. Accepted mail goes to the relay on port `next`. */
export async function startPostfix(t: Test, next: number): Promise<Postfix> {
  const folder = mkdtempSync(join(tmpdir(), 'sendlark-postfix-'));
  // Its daemons drop root privileges and must still be able to read their files.
  chmodSync(folder, 0o755);
  for (const name of ['queue', 'data']) mkdirSync(join(folder, name));
  const names = Object.keys(LISTENERS) as Listener[];
  const ports = await freePorts(names.length);
  certificate(folder);
  writeFileSync(join(folder, 'recipients'), RECIPIENTS);
  writeFileSync(join(folder, 'main.cf'), mainFile(folder, next));
  writeFileSync(join(folder, 'master.cf'), masterFile(names.map((name, at) => [ports[at] ?? 0, LISTENERS[name]])));
  execFileSync('chown', ['postfix', join(folder, 'data')]);
  const postfix = (command: string) => run(POSTFIX, ['-c', folder, command], { timeout: 30_000 });
  t.teardown(async () => {
    await postfix('stop').catch(() => undefined);
    rmSync(folder, { recursive: true, force: true });
  });
  await postfix('start');
  return {
    url: (listener = 'usual') => `smtp://127.0.0.1:${ports[names.indexOf(listener)]}`,
    log: () => readFileSync(join(folder, 'log'), 'utf8'),
  };
}

function certificate(folder: string): void {
  const { key, cert } = localhostCertificate();
  writeFileSync(join(folder, 'key.pem'), key, { mode: 0o600 });
  writeFileSync(join(folder, 'cert.pem'), cert);
}

function mainFile(folder: string, next: number): string {
  return settings({
    compatibility_level: 3.6,
    queue_directory: `${folder}/queue`,
    data_directory: `${folder}/data`,
    maillog_file: `${folder}/log`,
    maillog_file_prefixes: tmpdir(),
    mail_owner: 'postfix',
    setgid_group: 'postdrop',
    myhostname: 'relay.example.com',
    mydestination: '',
    inet_interfaces: '127.0.0.1',
    inet_protocols: 'ipv4',
    alias_maps: '',
    alias_database: '',
    mynetworks: '127.0.0.0/8',
    smtpd_recipient_restrictions: `check_recipient_access regexp:${folder}/recipients, permit_mynetworks, reject`,
    smtpd_tls_security_level: 'may',
    smtpd_tls_cert_file: `${folder}/cert.pem`,
    smtpd_tls_key_file: `${folder}/key.pem`,
    message_size_limit: 200_000,
    smtpd_error_sleep_time: 0,
    // It refuses a bare LF and commands sent before the reply to the previous one.
    smtpd_forbid_bare_newline: 'yes',
    smtpd_forbid_unauth_pipelining: 'yes',
    smtpd_client_event_limit_exceptions: '127.0.0.0/8',
    relayhost: `[127.0.0.1]:${next}`,
    smtp_dns_support_level: 'disabled',
  });
}

function masterFile(listeners: [number, Record<string, string | number>][]): string {
  const own = listeners.map(([port, given]) => `127.0.0.1:${port} inet n - n - - smtpd${options(given)}`);
  const others = [
    'pickup unix n - n 60 1 pickup',
    'cleanup unix n - n - 0 cleanup',
    'qmgr unix n - n 300 1 qmgr',
    'tlsmgr unix - - n 1000? 1 tlsmgr',
    'rewrite unix - - n - - trivial-rewrite',
    'bounce unix - - n - 0 bounce',
    'defer unix - - n - 0 bounce',
    'trace unix - - n - 0 bounce',
    'proxymap unix - - n - - proxymap',
    'smtp unix - - n - - smtp',
    'error unix - - n - - error',
    'retry unix - - n - - error',
    'discard unix - - n - - discard',
    'anvil unix - - n - 1 anvil',
    'scache unix - - n - 1 scache',
    'postlog unix-dgram n - n - 1 postlogd',
  ];
  return `${[...own, ...others].join('\n')}\n`;
}

function options(given: Record<string, string | number>): string {
  return Object.entries(given)
    .map(([name, value]) => ` -o ${name}=${value}`)
    .join('');
}

function settings(given: Record<string, string | number>): string {
  return Object.entries(given)
    .map(([name, value]) => `${name} = ${value}\n`)
    .join('');
}
