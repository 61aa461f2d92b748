/** The command line: finds the command that the first word names; `serve` is the default. */

import { isNear } from '../errors/edit-distance.ts';
import { VERSION } from '../version.ts';
import { account } from './account.ts';
import { backup } from './backup.ts';
import { check } from './check.ts';
import { type Command, parseCall, UsageError, wantsJson } from './command.ts';
import { completionOf } from './completion.ts';
import { designLinks } from './design-links.ts';
import { dkim } from './dkim.ts';
import { doctor } from './doctor.ts';
import { exportFile } from './export.ts';
import { importFile } from './import.ts';
import { keys } from './keys.ts';
import { loginLink } from './login-link.ts';
import { mcp } from './mcp.ts';
import { migrate } from './migrate.ts';
import { nodes } from './nodes.ts';
import { purge } from './purge.ts';
import { release } from './release.ts';
import { restore } from './restore.ts';
import { node, serve } from './serve.ts';
import { endWithOutput } from './standard-streams.ts';
import { users } from './users.ts';

const COMMANDS = new Map<string, Command>([
  ['serve', serve],
  ['node', node],
  ['nodes', nodes],
  ['account', account],
  ['keys', keys],
  ['users', users],
  ['login-link', loginLink],
  ['design-links', designLinks],
  ['import', importFile],
  ['migrate', migrate],
  ['export', exportFile],
  ['backup', backup],
  ['restore', restore],
  ['release', release],
  ['purge', purge],
  ['check', check],
  ['dkim', dkim],
  ['doctor', doctor],
  ['mcp', mcp],
]);
COMMANDS.set('completion', completionOf(COMMANDS));
const HELP = ['help', '--help', '-h'];
const VERSION_WORDS = ['version', '--version', '-v'];

async function main([name = 'serve', ...args]: string[]): Promise<void> {
  // A service goes on when its log cannot be written.
  if (name !== 'serve' && name !== 'node') endWithOutput(fail);
  if (HELP.includes(name)) return help(args[0]);
  if (VERSION_WORDS.includes(name)) return console.log(VERSION);
  const command = requireCommand(name);
  if (args.some((word) => word === '--help' || word === '-h')) return help(name);
  await command.run(parseCall(command, args));
}

function help(name: string | undefined): void {
  console.log(name === undefined ? overview([...COMMANDS.values()]) : manual(requireCommand(name)));
}

/** Returns the command of this name. Throws UsageError if there is none. */
function requireCommand(name: string): Command {
  const command = COMMANDS.get(name);
  if (command !== undefined) return command;
  if (name.startsWith('-')) throw new UsageError(`Unknown option '${name}'`);
  const meant = [...COMMANDS.keys()].find((known) => isNear(name, known, known.length < 6 ? 1 : 2));
  throw new UsageError(`There is no command ${name}${meant === undefined ? '' : `; did you mean ${meant}?`}`);
}

const words = process.argv.slice(2);
main(words).catch(fail);

/** Says on standard error why the command failed, and sets the exit code: 2 for wrong usage, else 1. */
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

/** Returns the list of commands, each with its purpose. */
function overview(commands: readonly Command[]): string {
  const forms = commands.map(({ forms, about }) => ({ form: forms[0]?.split(' ')[0] ?? '', about }));
  const width = Math.max(...forms.map(({ form }) => form.length));
  return [
    'Sendlark: self-hosted e-mail campaigns in one process and one file.',
    '',
    'Usage: sendlark [COMMAND]',
    '',
    ...forms.map(({ form, about }) => `  ${form.padEnd(width)}  ${about}`),
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
