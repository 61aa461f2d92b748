/** The `.env` file: the settings in it, and the lines that are not read as they may be meant. */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';

/**
 * The variables of the `.env` file in the working directory, if there is one, and of the environment, which take precedence. Throws an
 * Error that names an unreadable file.
 */
export function readEnvironment(): Record<string, string | undefined> {
  return { ...environmentFile(), ...process.env };
}

function environmentFile(): Record<string, string | undefined> {
  return parseEnv(environmentText().replace(BYTE_ORDER_MARK, ''));
}

const BYTE_ORDER_MARK = /^\ufeff/;

/** The text of the `.env` file in the working directory; empty if there is none. Throws an Error that names an unreadable file. */
function environmentText(): string {
  if (!existsSync('.env')) return '';
  try {
    return readFileSync('.env', 'utf8');
  } catch (error) {
    throw new Error(
      `The file .env in ${process.cwd()} cannot be read: ${error instanceof Error ? error.message : error}`,
    );
  }
}

/** One sentence for each line of the `.env` file that is not read as it may be meant, with its number. Never contains values. */
export function environmentFileFaults(text = environmentText()): string[] {
  const faults: string[] = [];
  const say = (line: number, problem: string) => faults.push(`${resolve('.env')}, line ${line}: ${problem}`);
  if (BYTE_ORDER_MARK.test(text)) say(1, 'a byte order mark, which is ignored: save the file as UTF-8 without one');
  /** The quote that a value of several lines ends with; empty outside of such a value. */
  let quote = '';
  for (const [at, line] of text.replace(BYTE_ORDER_MARK, '').split(/\r?\n/).entries()) {
    if (quote !== '') {
      if (line.includes(quote)) quote = '';
      continue;
    }
    if (/^\s*(#|$)/.test(line)) continue;
    const [assignment = '', opening = ''] = /^\s*(?:export\s+)?[\w.-]+\s*=\s*(["'`]?)/.exec(line) ?? [];
    if (assignment === '') {
      const [, name] = /^\s*(?:export\s+)?(\w+)\s*:/.exec(line) ?? [];
      say(
        at + 1,
        name === undefined
          ? 'no setting: write NAME=value, or # before a comment'
          : `write ${name}=value, not ${name}: value`,
      );
    } else if (opening !== '' && !line.slice(assignment.length).includes(opening)) quote = opening;
  }
  return faults;
}
