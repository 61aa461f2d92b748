/** A machine on which the documents' commands are run: an empty folder with the built program and a service in it. */
import { spawn } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import Database from 'better-sqlite3';
import type { Test } from 'tap';
import { ROOT } from '../support/documents.ts';
import { Service } from '../support/service.ts';
import { until } from '../support/service-campaign.ts';
import { startDns } from '../support/smtp/dns-server.ts';

const DNS_RECORDS = {
  'example.com': ['v=spf1 a:relay.example ~all'],
  '_dmarc.example.com': ['v=DMARC1; p=none'],
};

export class Machine {
  readonly #folder = mkdtempSync(join(tmpdir(), 'sendlark-docs-'));
  readonly #service: Service;
  readonly #records: Record<string, string[]> = { ...DNS_RECORDS };
  readonly #ran: string[] = [];
  /** Assignments of variables, which hold for the commands after them. */
  #variables = '';
  /** What stands in the documents → what stands for it here. */
  #substitutes: [documented: string, here: string][] = [];

  /** With a service running on `sendlark.db` in its folder; both go with the test. */
  static async start(t: Test): Promise<Machine> {
    const machine = new Machine(t);
    const dns = await startDns(t, machine.#records);
    await machine.#service.start();
    const keys = Object.entries(machine.#service.keys).map(([name, value]) => `${name}: ${value}\n`);
    writeFileSync(machine.#path('keys.txt'), keys.join(''));
    machine.#substitutes = [
      ['http://127.0.0.1:3000', machine.#service.origin],
      ['/usr/local/bin', machine.#path('bin')],
      ['/var/lib/sendlark', machine.#folder],
      ['/backups', machine.#path('backups')],
      ['sendlark doctor', `sendlark doctor --dns ${dns}`],
    ];
    return machine;
  }

  private constructor(t: Test) {
    t.teardown(() => rmSync(this.#folder, { recursive: true, force: true }));
    this.#service = new Service(t, { DATABASE_PATH: this.#path('sendlark.db') });
    for (const name of ['bin', 'backups', 'dist-binary', 'docs']) mkdirSync(this.#path(name));
    copyFileSync(join(ROOT, 'docs/readers.csv'), this.#path('docs/readers.csv'));
    const program = this.#path('dist-binary/sendlark');
    writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${join(ROOT, 'dist/cli.js')}' "$@"\n`);
    chmodSync(program, 0o755);
    // As it is downloaded, not executable yet.
    copyFileSync(program, this.#path('sendlark-linux-x64'));
    chmodSync(this.#path('sendlark-linux-x64'), 0o644);
  }

  /** Runs one command of a shell block; fails the test unless it does what it is there for. */
  async run(t: Test, command: string): Promise<void> {
    this.#ran.push(command);
    if (/^[A-Z]+=/.test(command)) this.#variables += `${this.#here(command)}\n`;
    else if (command.startsWith('npm ')) this.#checkNpm(t, command);
    else if (command.startsWith('systemctl ')) await this.#supervise(t, command);
    else if (/^(useradd|install -[do]|install -m 644) /.test(command)) checkPreparation(t, command);
    // The service here has its keys in the settings; test/commands/serve.test.ts reads the file of one that has none.
    else if (command === 'cat /var/lib/sendlark/first-sign-in.txt') return;
    else if (command.startsWith('litestream ')) this.#replicate(t, command);
    else if (command.endsWith(' serve')) await this.#serve(t, command);
    else await this.#shell(t, command, [this.#path('bin'), process.env.PATH ?? '']);
  }

  /** Runs the command of a line of cron, which has the path of Debian's cron. */
  async runCron(t: Test, command: string): Promise<void> {
    t.equal(await this.#shell(t, command, ['/usr/bin', '/bin']), '', 'it is silent when all is well');
  }

  /** The service has pages at these paths. */
  async checkPages(t: Test, paths: string[]): Promise<void> {
    for (const path of paths) t.equal((await fetch(this.#service.origin + path)).status, 200, path);
  }

  /** Returns true if a command that begins with these words was run. */
  hasRun(words: string): boolean {
    return this.#ran.some((command) => command === words || command.startsWith(`${words} `));
  }

  #path(name: string): string {
    return join(this.#folder, name);
  }

  #here(command: string): string {
    return this.#substitutes.reduce((so, [documented, here]) => so.replaceAll(documented, here), command);
  }

  /** Starts another service by the command, beside the one that runs, until it says that it serves. */
  async #serve(t: Test, command: string): Promise<void> {
    const child = spawn('/bin/bash', ['-c', `exec ${command}`], {
      cwd: this.#folder,
      env: { PATH: process.env.PATH, PORT: '0', DATABASE_PATH: this.#path('another.db') },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    for await (const line of createInterface({ input: child.stdout })) {
      said += line;
      if (/serves \S+\/api/.test(line)) child.kill('SIGTERM');
    }
    t.match(said, /serves \S+\/api/, command);
  }

  /** Gives what the command prints. */
  async #shell(t: Test, command: string, path: string[]): Promise<string> {
    if (command.includes('/single-send/recipients')) await this.#campaignEnd();
    const child = spawn('/bin/bash', ['-c', this.#variables + this.#here(command)], {
      cwd: this.#folder,
      env: { PATH: path.join(delimiter), HOME: this.#folder },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
    const [code, out, err] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
    t.equal(code, 0, `${command}\n${out}${err}`);
    if (command.startsWith('curl ')) t.match(out, /^\{"status":"success"/, command);
    if (command.includes('/outbox/details')) await this.#openMail(t, out);
    this.#learn(command, out);
    return out + err;
  }

  /** What a later command needs of this one's answer, and where the documents can only hint at it. */
  #learn(command: string, out: string): void {
    const found = (pattern: RegExp) => pattern.exec(out)?.[1] ?? `nothing in ${out}`;
    if (command.includes('/single/send/create')) this.#substitutes.push(['utr=UTR', `utr=${found(/"utr":"([^"]+)"/)}`]);
    if (command.startsWith('sendlark keys create')) this.#substitutes.push(['pk_…', found(/^PublicKey: (\S+)$/m)]);
    if (command.startsWith('sendlark dkim create')) {
      this.#records[found(/^ {2}Name: {2}(\S+)$/m)] = [found(/^ {2}Value: (.+)$/m)];
    }
  }

  /** The address that an answer of the outbox gives for a browser shows the mail. */
  async #openMail(t: Test, answer: string): Promise<void> {
    const { message }: { message: { mail: { web_copy: string } } } = JSON.parse(answer);
    const copy = await fetch(message.mail.web_copy);
    t.equal(copy.status, 200);
    t.match(await copy.text(), '1 Harbour St, Germany');
  }

  async #campaignEnd(): Promise<void> {
    await until(
      () => this.#service.get('/outbox/list'),
      ({ message }) => JSON.stringify(message).includes('jose@example.com'),
    );
  }

  /** Registry and compiler are not had here; the build, the program and the tests are what this very run comes from. */
  #checkNpm(t: Test, command: string): void {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    for (const part of command.split(' && ')) {
      const [, verb = '', name = verb] = part.split(' ');
      t.ok(name === 'ci' ? existsSync(join(ROOT, 'package-lock.json')) : scripts[name], part);
    }
    t.equal(scripts.start, 'npm run --silent build && node dist/cli.js serve');
  }

  async #supervise(t: Test, command: string): Promise<void> {
    t.match(command, /^systemctl (daemon-reload|(enable --now|start|stop) sendlark)$/);
    if (/daemon-reload|enable/.test(command)) return;
    if (command.includes(' stop ')) t.equal(await this.#service.end('SIGTERM'), 0, command);
    else await this.#service.start();
  }

  /** Litestream gives an ordinary database file, which a copy by SQLite stands for. */
  #replicate(t: Test, command: string): void {
    const [, name = ''] = /^litestream restore -o (\S+) s3:\/\/\S+$/.exec(command) ?? [];
    t.not(name, '', command);
    const client = new Database(this.#path('sendlark.db'), { readonly: true });
    client.prepare('VACUUM INTO ?').run(this.#path(name));
    client.close();
  }
}

/** What root prepares before the first start: the unit's user, its folder, a folder for backups and the file of settings. */
function checkPreparation(t: Test, command: string): void {
  const known = [
    /^useradd --system --home-dir \/var\/lib\/sendlark --shell \S+ sendlark$/,
    /^install -d -o sendlark -g sendlark -m 700 \/var\/lib\/sendlark \/backups$/,
    /^install -m 644 deploy\/systemd\/sendlark\.service \/etc\/systemd\/system\/sendlark\.service$/,
    /^install -o sendlark -g sendlark -m 600 \/dev\/null \/var\/lib\/sendlark\/\.env$/,
  ];
  t.ok(
    known.some((form) => form.test(command)),
    command,
  );
}
