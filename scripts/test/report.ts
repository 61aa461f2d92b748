/** Reads the TAP of test files. Prints what failed, with the command that runs only that file, and what was skipped; counts assertions. */
import { inspect } from 'node:util';
import { Parser, type Result } from 'tap-parser';

/** Comments that tap itself writes. All others come from tests and are printed. */
const COMMENTS_OF_TAP = /^\s*# (Subtest|time=|failed|skip|todo|test count|No coverage|\{ total)/;

/** The assertions of one file. */
interface Tally {
  asserted: number;
  failed: number;
  skipped: number;
}

/**
 * The report of one run. A file that asserts nothing counts as a failure, unless it skips something and says why. A file that is stopped
 * because it takes too long also counts as a failure.
 */
export class Report {
  /** The number of assertions that passed. */
  passed = 0;
  /** The number of failures. */
  failed = 0;
  readonly #print: (text: string) => void;

  /** `print` is called with complete lines. */
  constructor(print: (text: string) => void) {
    this.#print = print;
  }

  /** Returns a parser for the output of one worker: a test `files` with a subtest for each file. */
  parser(): Parser {
    const parser = new Parser();
    parser.on('child', (files) => files.on('child', (file: Parser) => this.#watchFile(file)));
    parser.on('bailout', (reason) => this.#print(`Bail out! ${reason}\n`));
    return parser;
  }

  /** Counts and prints a failure of a whole file. */
  fail(file: string, why: string): void {
    this.failed++;
    this.#print(`✗ ${file}: ${why}\n${rerun(file)}`);
  }

  #watchFile(file: Parser): void {
    const tally: Tally = { asserted: 0, failed: 0, skipped: 0 };
    this.#watch(file, file.name, tally);
    file.on('complete', (results) => {
      const reason = String(results.plan.skipReason ?? '').replace(/^SKIP\s*/i, '');
      if (reason !== '') this.#skip(file.name, reason, tally);
      if (tally.asserted + tally.skipped === 0) this.fail(file.name, 'no assertion ran');
      else if (tally.failed > 0) this.#print(rerun(file.name));
      else if (!results.ok) this.fail(file.name, 'it was stopped, or ended with an error, though no assertion failed');
    });
  }

  #watch(parser: Parser, path: string, tally: Tally): void {
    parser.on('comment', (comment) => {
      if (!COMMENTS_OF_TAP.test(comment)) this.#print(comment.trimStart());
    });
    parser.on('child', (child) => this.#watch(child, `${path} > ${child.name}`, tally));
    parser.on('assert', (assertion) => {
      if (assertion.skip !== false) {
        // Without a reason, `skip` is true.
        if (typeof assertion.skip === 'string') this.#skip(`${path} > ${assertion.name}`, assertion.skip, tally);
        return;
      }
      if (assertion.todo !== false) return;
      tally.asserted++;
      if (assertion.ok) this.passed++;
      else {
        this.failed++;
        tally.failed++;
        this.#print(`✗ ${path} > ${assertion.name}\n${diagnosis(assertion)}\n`);
      }
    });
  }

  #skip(name: string, reason: string, tally: Tally): void {
    tally.skipped++;
    this.#print(`- ${name} is skipped: ${reason}\n`);
  }
}

function rerun(file: string): string {
  return `  alone: npm test -- ${file}\n`;
}

/** Describes a failed assertion: its place in the file, how the found value differs from the expected one, and tap's other details. */
function diagnosis({ diag }: Result): string {
  const { at, diff, found, wanted, source, stack, compare: _, ...details }: Record<string, unknown> = diag ?? {};
  // A diff already has both values: its lines with - were expected, those with + were found.
  const values = diff === undefined && {
    ...(wanted === undefined ? {} : { expected: wanted }),
    ...(found === undefined ? {} : { found }),
  };
  const lines = Object.entries({ ...values, ...details }).map(([name, value]) => `${name}: ${display(value)}`);
  const parts = [place(at), diff, ...lines, source, typeof stack === 'string' && `stack:\n${stack}`];
  return parts
    .filter((part) => typeof part === 'string' && part !== '')
    .map(
      (part) =>
        `${String(part)
          .trimEnd()
          .replaceAll(/^(?=.)/gm, '    ')}\n`,
    )
    .join('');
}

function place(at: unknown): string {
  if (typeof at !== 'object' || at === null || !('fileName' in at)) return '';
  const [line, column] = ['lineNumber' in at && at.lineNumber, 'columnNumber' in at && at.columnNumber];
  return `at ${at.fileName}:${line}:${column}`;
}

function display(value: unknown): string {
  return typeof value === 'string' ? value : inspect(value, { depth: 8, breakLength: 120 });
}
