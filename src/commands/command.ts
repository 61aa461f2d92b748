/** What a command is, and the words of one call of it. */
import { type ParseArgsConfig, parseArgs } from 'node:util';

export interface Command {
  /** Its forms, each what follows `sendlark `. */
  forms: readonly string[];
  /** One sentence for the list of commands. */
  about: string;
  /** What somebody who runs it should know. */
  help: string;
  options: NonNullable<ParseArgsConfig['options']>;
  run(call: Call): Promise<void> | void;
}

/** The command line is wrong: exit code 2 and a hint at the help. */
export class UsageError extends Error {}

/** One call of a command. */
export interface Call {
  /** What is no option, the command's own name left out. */
  words: readonly string[];
  /** Whether the answer is to be one JSON value on standard output. */
  json: boolean;
  flag(name: string): boolean;
  /** The text of an option, or undefined when it is not given. */
  option(name: string): string | undefined;
  /** Says a line to a person; silent with --json. */
  say(line: string): void;
  /** Gives the result: as JSON with --json, otherwise as the given lines, or `none` where there are none. */
  answer(value: unknown, lines: readonly string[], none?: string): void;
}

/** Reads the words after a command's name; throws UsageError for an option it does not have. */
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
    // What follows the first sentence is advice on quoting that is longer than the fault.
    throw new UsageError(error instanceof Error ? (error.message.split('. ')[0] ?? '') : String(error));
  }
}

/** Exactly `count` words, or a UsageError that names what is missing. */
export function stringOption(call: Call, ...names: string[]): string[] {
  const missing = names[call.words.length];
  if (missing !== undefined) throw new UsageError(`${missing} is missing`);
  const extra = call.words[names.length];
  if (extra !== undefined) throw new UsageError(`Too much: ${extra}`);
  return [...call.words];
}

/** An identifier given as an option or word: a positive whole number. */
export function numberOption(text: string, name: string): number {
  if (!/^[1-9]\d{0,15}$/.test(text)) throw new UsageError(`${name} must be a number`);
  return Number(text);
}

/** Runs the form that the first word names. */
export function choose(call: Call, forms: Record<string, (call: Call) => Promise<void> | void>): Promise<void> | void {
  const [word = '', ...words] = call.words;
  const form = Object.hasOwn(forms, word) ? forms[word] : undefined;
  if (form === undefined) throw new UsageError(`Say what to do: ${Object.keys(forms).join(', ')}`);
  return form({ ...call, words });
}
