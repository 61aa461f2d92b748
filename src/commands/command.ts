/** The type of a command, and the parser for the words after its name. */
import { type ParseArgsConfig, parseArgs } from 'node:util';

export interface Command {
  /** The ways to call the command, each without the leading `sendlark `. */
  forms: readonly string[];
  /** One sentence for the overview of commands. */
  about: string;
  /** Further advice, shown by the help of this command. */
  help: string;
  options: NonNullable<ParseArgsConfig['options']>;
  run(call: Call): Promise<void> | void;
}

/** Thrown if the command line is wrong. The program then ends with exit code 2 and points to the help. */
export class UsageError extends Error {}

/** One call of a command. */
export interface Call {
  /** The words that are not options, without the command's name. */
  words: readonly string[];
  /** True if the answer must be one JSON value on standard output. */
  json: boolean;
  /** True if an option without a text, such as --force, is set. */
  flag(name: string): boolean;
  /** The text of an option; undefined if the option is not set. */
  option(name: string): string | undefined;
  /** Prints a line for human readers. Prints nothing with --json. */
  say(line: string): void;
  /** Prints the result: `value` as JSON with --json, otherwise `lines`, or `none` if there are no lines. */
  answer(value: unknown, lines: readonly string[], none?: string): void;
}

/** Returns true if --json is among the words of the command line, even if they cannot be parsed. */
export function wantsJson(): boolean {
  return process.argv.includes('--json');
}

/** Prints a warning on standard error, with --json as JSON. */
export function warn(line: string): void {
  console.error(wantsJson() ? JSON.stringify({ warning: line }) : line);
}

/** Parses the words after a command's name. Throws UsageError for an unknown option. */
export function parseCall(command: Command, args: string[]): Call {
  const { values, positionals } = parse(command, args);
  const json = values.json === true;
  return {
    words: positionals,
    json,
    flag: (name) => values[name] === true,
    option: (name) => {
      const value = values[name];
      return typeof value === 'string' ? value : undefined;
    },
    say: (line) => {
      if (!json) console.log(line);
    },
    answer: (value, lines, none = 'None') =>
      console.log(json ? JSON.stringify(value) : lines.length > 0 ? lines.join('\n') : none),
  };
}

function parse({ options }: Command, args: string[]): { values: Record<string, unknown>; positionals: string[] } {
  try {
    return parseArgs({ args, options: { ...options, json: { type: 'boolean' } }, allowPositionals: true });
  } catch (error) {
    // Only the first sentence is kept, which names the error. Node's long advice on quoting follows.
    throw new UsageError(error instanceof Error ? (error.message.split('. ')[0] ?? '') : String(error));
  }
}

/** Returns the words of a call, one for each of `names`. Throws UsageError if a word is missing or there are more words. */
export function requireWords(call: Call, ...names: string[]): string[] {
  const missing = names[call.words.length];
  if (missing !== undefined) throw new UsageError(`${missing} is missing`);
  const extra = call.words[names.length];
  if (extra !== undefined) throw new UsageError(`Too much: ${extra}`);
  return [...call.words];
}

/** Parses the number of an option or word. Throws UsageError unless it is a positive whole number. */
export function requireNumber(text: string, name: string): number {
  if (!/^[1-9]\d{0,15}$/.test(text)) throw new UsageError(`${name} must be a number`);
  return Number(text);
}

/** Runs the subcommand that the first word names. Throws UsageError if there is no such subcommand. */
export function choose(
  call: Call,
  subcommands: Record<string, (call: Call) => Promise<void> | void>,
): Promise<void> | void {
  const [word = '', ...words] = call.words;
  const run = Object.hasOwn(subcommands, word) ? subcommands[word] : undefined;
  if (run === undefined) throw new UsageError(`Say what to do: ${Object.keys(subcommands).join(', ')}`);
  return run({ ...call, words });
}
