/** Prints failing assertions as readable diffs, what was skipped and why, a line per test file, and closes with `N passed, N failed`. */
import { Transform } from 'node:stream';
import { inspect } from 'node:util';
import { Parser } from 'tap-parser';

/** Comments that tap itself writes; all others are a test's own and are printed. */
const TAPS_OWN = /^\s*# (Subtest|time=|failed|skip|todo|test count|No coverage|\{ total)/;

/**
 * A tap reporter: reads the combined TAP stream, writes the readable summary. A file that asserts nothing counts as a failure,
 * unless it skips something and says why, and so does a file that is stopped because its time is up.
 */
export default class Reporter extends Transform {
  #passed = 0;
  #failed = 0;
  #parser = new Parser();

  constructor() {
    super();
    this.#parser.on('child', (file) => this.#watchFile(file));
    this.#parser.on('bailout', (reason) => this.push(`Bail out! ${reason}\n`));
  }

  #watchFile(file) {
    const tally = { asserted: 0, failed: 0, skipped: 0 };
    this.#watch(file, file.name, tally);
    file.on('complete', (result) => {
      const reason = result.plan.skipReason.replace(/^SKIP\s*/i, '');
      if (reason !== '') this.#skip(file.name, reason, tally);
      if (tally.asserted + tally.skipped === 0) {
        this.#failed++;
        this.push(`✗ ${file.name}: no assertion ran\n`);
      } else if (!result.ok && tally.failed === 0) {
        this.#failed++;
        this.push(`✗ ${file.name}: it was stopped, or ended with an error, though no assertion failed\n`);
      }
      this.push(`${result.ok ? '✓' : '✗'} ${file.name} ${Math.round(result.time ?? 0)} ms\n`);
    });
  }

  #watch(parser, path, tally) {
    parser.on('comment', (comment) => {
      if (!TAPS_OWN.test(comment)) this.push(comment.trimStart());
    });
    parser.on('child', (child) => this.#watch(child, `${path} > ${child.name}`, tally));
    parser.on('assert', (assertion) => {
      if (assertion.skip) {
        // Without a reason it is `true`.
        if (typeof assertion.skip === 'string') this.#skip(`${path} > ${assertion.name}`, assertion.skip, tally);
        return;
      }
      if (assertion.todo) return;
      tally.asserted++;
      if (assertion.ok) {
        this.#passed++;
      } else {
        this.#failed++;
        tally.failed++;
        this.push(`✗ ${path} > ${assertion.name}\n${diagnosis(assertion.diag ?? {})}\n`);
      }
    });
  }

  #skip(what, reason, tally) {
    tally.skipped++;
    // What `tap --grep` leaves out is what its caller asked for.
    if (!reason.startsWith('filter: ')) this.push(`- ${what} is skipped: ${reason}\n`);
  }

  _transform(chunk, _encoding, done) {
    this.#parser.write(chunk);
    done();
  }

  _flush(done) {
    this.#parser.end();
    this.push(`${this.#passed} passed, ${this.#failed} failed\n`);
    done();
  }
}

/** What tap tells of a failed assertion: where it is, how what was found differs from what was expected, and what else it says. */
function diagnosis({ at, diff, found, wanted, source, stack, compare: _, ...rest }) {
  const place = at && `at ${at.fileName}:${at.lineNumber}:${at.columnNumber}`;
  // A diff has both values; its lines with - were expected, those with + found.
  const values = diff === undefined && {
    ...(wanted === undefined ? {} : { expected: wanted }),
    ...(found === undefined ? {} : { found }),
  };
  const others = Object.entries({ ...values, ...rest }).map(([name, value]) => `${name}: ${shown(value)}`);
  const parts = [place, diff, ...others, source, stack && `stack:\n${stack}`];
  return parts
    .filter((part) => typeof part === 'string' && part !== '')
    .map((part) => `${part.trimEnd().replaceAll(/^(?=.)/gm, '    ')}\n`)
    .join('');
}

function shown(value) {
  return typeof value === 'string' ? value : inspect(value, { depth: 8, breakLength: 120 });
}
