/** The command line: finds the command that the first word names; `serve` is the default. */

import { isNear } from '../errors/edit-distance.ts';
import { VERSION } from '../version.ts';
import { type Command, parseCall, UsageError, wantsJson } from './command.ts';
import { completionOf } from './completion.ts';
import { endWithOutput } from './standard-streams.ts';

/** The commands by name. A command is imported only when it is called, because loading all commands takes longer than most of them run. */
const COMMANDS = new Map<string, () => Promise<Command>>([
  ['serve', async () => (await import('./serve.ts')).serve],
  ['node', async () => (await import('./serve.ts')).node],
  ['nodes', async () => (await import('./nodes.ts')).nodes],
  ['account', async () => (await import('./account.ts')).account],
  ['keys', async () => (await import('./keys.ts')).keys],
  ['users', async () => (await import('./users.ts')).users],
  ['login-link', async () => (await import('./login-link.ts')).loginLink],
  ['design-links', async () => (await import('./design-links.ts')).designLinks],
  ['import', async () => (await import('./import.ts')).importFile],
  ['migrate', async () => (await import('./migrate.ts')).migrate],
  ['export', async () => (await import('./export.ts')).exportFile],
  ['backup', async () => (await import('./backup.ts')).backup],
  ['restore', async () => (await import('./restore.ts')).restore],
  ['release', async () => (await import('./release.ts')).release],
  ['purge', async () => (await import('./purge.ts')).purge],
  ['check', async () => (await import('./check.ts')).check],
  ['dkim', async () => (await import('./dkim.ts')).dkim],
  ['doctor', async () => (await import('./doctor.ts')).doctor],
  ['mcp', async () => (await import('./mcp.ts')).mcp],
  ['completion', async () => completionOf(loadAll)],
]);
/** The length in characters up to which a command's name is recognized with one typing error; longer names are with two. */
const SHORT_NAME = 5;
const HELP = ['help', '--help', '-h'];
const VERSION_WORDS = ['version', '--version', '-v'];

async function main([name = 'serve', ...args]: string[]): Promise<void> {
  // A service continues to run if its log cannot be written. All other commands end.
  if (name !== 'serve' && name !== 'node') endWithOutput(fail);
  if (HELP.includes(name)) return help(args[0]);
  if (VERSION_WORDS.includes(name)) return console.log(VERSION);
  const command = await loadCommand(name);
  if (args.some((word) => word === '--help' || word === '-h')) return help(name);
  await command.run(parseCall(command, args));
}

async function help(name: string | undefined): Promise<void> {
  console.log(name === undefined ? overview([...(await loadAll()).values()]) : manual(await loadCommand(name)));
}

async function loadAll(): Promise<Map<string, Command>> {
  const entries = [...COMMANDS].map(async ([name, load]) => [name, await load()] as const);
  return new Map(await Promise.all(entries));
}

/** Resolves with the command of this name. Throws UsageError if no command has this name. */
async function loadCommand(name: string): Promise<Command> {
  const load = COMMANDS.get(name);
  if (load !== undefined) return load();
  if (name.startsWith('-')) throw new UsageError(`Unknown option '${name}'`);
  const meant = [...COMMANDS.keys()].find((known) => isNear(name, known, known.length <= SHORT_NAME ? 1 : 2));
  throw new UsageError(`There is no command ${name}${meant === undefined ? '' : `; did you mean ${meant}?`}`);
}

const words = process.argv.slice(2);
main(words).catch(fail);

/** Prints on standard error why the command failed, and sets the exit code: 2 for wrong usage, otherwise 1. */
function fail(error: unknown): void {
  const text = error instanceof Error ? error.message : String(error);
  const known = words.find((word) => COMMANDS.has(word));
  const see = ['sendlark help', ...(known === undefined ? [] : [known])].join(' ');
  const isUsage = error instanceof UsageError;
  if (wantsJson()) console.error(JSON.stringify({ error: text, ...(isUsage && { see }) }));
  else {
    console.error(text);
    if (isUsage) console.error(`See: ${see}`);
  }
  process.exitCode = isUsage ? 2 : 1;
}

function overview(commands: readonly Command[]): string {
  const entries = commands.map(({ forms, about }) => ({ name: forms[0]?.split(' ')[0] ?? '', about }));
  const width = Math.max(...entries.map(({ name }) => name.length));
  return [
    'Sendlark: self-hosted e-mail campaigns in one process and one file.',
    '',
    'Usage: sendlark [COMMAND]',
    '',
    ...entries.map(({ name, about }) => `  ${name.padEnd(width)}  ${about}`),
    '',
    'sendlark help COMMAND tells more; sendlark --version says which release this is. --json gives a result as JSON on standard output,',
    'an error as JSON on standard error. In place of a file, - stands for standard input or output.',
    'Exit codes: 0 done, 1 failed (one line on standard error says why), 2 wrong usage.',
    'Settings come from the environment and from .env, DATABASE_PATH first of all.',
  ].join('\n');
}

/** Returns the help of one command: its forms, its purpose and further advice. */
function manual({ forms, about, help }: Command): string {
  return [...forms.map((form) => `sendlark ${form}`), '', about, '', help].join('\n');
}
