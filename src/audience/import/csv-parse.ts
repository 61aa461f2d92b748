/**
 * A parser for CSV (RFC 4180) that takes text in pieces of any size and returns batches of rows. The libraries that we tried do not
 * fit: fast-csv needs nine times the CPU per row. Papa Parse and uDSV cannot report the line of a malformed
 * row, continue after it and limit a row's length. `scripts/bench/csv.ts` compares them; docs/contributing/benchmarks.md has the figures.
 */

import { type Said, SaidError, sentence } from '../../errors/sentences.ts';
import { unescapeFormula } from '../csv-write.ts';

/** The maximum number of columns of a file. */
export const MAX_COLUMNS = 1_000;
/** The maximum length of a cell, in UTF-16 code units. */
export const MAX_CELL = 65_535;
/** The maximum length of all cells of a row together, in UTF-16 code units. */
export const MAX_ROW = 1_000_000;

/** Some rows of a file. */
export interface CsvBatch {
  rows: string[][];
  /** For each row, the line of the file on which it begins, counted from 1. */
  lines: number[];
  /**
   * The first lines of malformed rows, which are not in the batch. In a malformed row something other than a delimiter follows
   * a closing quote.
   */
  malformed: number[];
}

/** Thrown if the file cannot be read any further. The message explains the reason to the user who uploaded it. */
export class CsvError extends SaidError {
  /** The line of the error, counted from 1; null if it concerns the whole file. */
  readonly line: number | null;

  constructor(line: number | null, problem: Said) {
    super(line === null ? problem : sentence('file_line', { line, text: problem }));
    this.line = line;
  }
}

const LF = 0x0a;
const CR = 0x0d;
const QUOTE = 0x22;

type State = 'row start' | 'cell start' | 'unquoted' | 'quoted' | 'after quote' | 'skipping';

/**
 * Parses one file. The delimiter is one character other than a quote or line break. Lines end with CRLF, LF or CR; blank lines
 * are skipped; a quote within an unquoted cell is text; rows may differ in length; escaped formulas are unescaped. A malformed
 * row is skipped and reported, and parsing continues after its line. Both methods throw a `CsvError` if a limit above is
 * exceeded, so that at most one row is in memory between calls.
 */
export class CsvParser {
  readonly #delimiter: number;
  #state: State = 'row start';
  /** The finished cells of the current row. */
  #row: string[] = [];
  /** The total length of the finished cells. */
  #rowLength = 0;
  /** The beginning of the unfinished cell, from earlier pieces. */
  #partial = '';
  /** The current line of the file, counted from 1. */
  #line = 1;
  /** The line on which the current row begins. */
  #rowLine = 1;
  /** A CR at the end of a piece waits for the next one, which may begin with its LF. */
  #waitingCr = '';
  #batch: CsvBatch = { rows: [], lines: [], malformed: [] };

  constructor(delimiter: string) {
    this.#delimiter = delimiter.charCodeAt(0);
  }

  /** Parses the next piece of the file; returns the rows that end in it. */
  push(piece: string): CsvBatch {
    const text = this.#waitingCr === '' ? piece : this.#waitingCr + piece;
    this.#waitingCr = text.endsWith('\r') ? '\r' : '';
    this.#parse(text, text.length - this.#waitingCr.length);
    return this.#takeBatch();
  }

  /** Ends the file; returns the last row if the file does not end with a line break. */
  end(): CsvBatch {
    this.#parse(this.#waitingCr, this.#waitingCr.length);
    if (this.#state === 'quoted') throw new CsvError(this.#rowLine, sentence('file_quote'));
    if (this.#state === 'skipping') this.#endMalformed();
    else if (this.#state !== 'row start') this.#endRow('');
    return this.#takeBatch();
  }

  /** Parses a text up to an index. Each state reads up to the character that ends it, or to the end of the text. */
  #parse(text: string, end: number): void {
    const delimiter = this.#delimiter;
    let at = 0;
    while (at < end) {
      const code = text.charCodeAt(at);
      switch (this.#state) {
        case 'row start':
          if (code === LF || code === CR) {
            at = this.#endLine(text, at);
            break;
          }
          this.#rowLine = this.#line;
          this.#state = 'cell start';
          break;
        case 'cell start':
          this.#state = code === QUOTE ? 'quoted' : 'unquoted';
          if (code === QUOTE) at++;
          break;
        case 'unquoted': {
          const start = at;
          let stop = code;
          while (stop !== delimiter && stop !== LF && stop !== CR && ++at < end) stop = text.charCodeAt(at);
          if (at === end) {
            this.#keep(text.slice(start, end));
          } else if (stop === delimiter) {
            this.#endCell(text.slice(start, at++));
            this.#state = 'cell start';
          } else {
            this.#endRow(text.slice(start, at));
            at = this.#endLine(text, at);
          }
          break;
        }
        case 'quoted': {
          const start = at;
          for (let inside = code; inside !== QUOTE; inside = text.charCodeAt(at)) {
            at = inside === LF || inside === CR ? this.#endLine(text, at) : at + 1;
            if (at === end) break;
          }
          this.#keep(text.slice(start, at));
          if (at < end) {
            this.#state = 'after quote';
            at++;
          }
          break;
        }
        case 'after quote':
          if (code === QUOTE) {
            this.#partial += '"';
            this.#state = 'quoted';
            at++;
          } else if (code === delimiter) {
            this.#endCell('');
            this.#state = 'cell start';
            at++;
          } else if (code === LF || code === CR) {
            this.#endRow('');
            at = this.#endLine(text, at);
          } else {
            this.#state = 'skipping';
          }
          break;
        case 'skipping':
          if (code === LF || code === CR) {
            this.#endMalformed();
            at = this.#endLine(text, at);
          } else {
            at++;
          }
      }
    }
  }

  /** Counts the line that ends at this character; returns the index after the line break. */
  #endLine(text: string, at: number): number {
    this.#line++;
    return text.charCodeAt(at) === CR && text.charCodeAt(at + 1) === LF ? at + 2 : at + 1;
  }

  /** Adds a text to the unfinished cell. */
  #keep(text: string): void {
    this.#partial += text;
    if (this.#partial.length > MAX_CELL) this.#refuseCell();
  }

  #endCell(text: string): void {
    let cell = text;
    if (this.#partial !== '') {
      cell = this.#partial + text;
      this.#partial = '';
    }
    this.#rowLength += cell.length;
    if (cell.length > MAX_CELL) this.#refuseCell();
    if (this.#rowLength > MAX_ROW) throw new CsvError(this.#rowLine, sentence('file_row_long', { count: MAX_ROW }));
    if (this.#row.push(unescapeFormula(cell)) > MAX_COLUMNS) {
      throw new CsvError(this.#rowLine, sentence('file_columns', { count: MAX_COLUMNS }));
    }
  }

  #refuseCell(): never {
    const code = this.#state === 'quoted' ? 'file_cell_unclosed' : 'file_cell_long';
    throw new CsvError(this.#rowLine, sentence(code, { count: MAX_CELL }));
  }

  #endRow(lastCell: string): void {
    this.#endCell(lastCell);
    this.#batch.rows.push(this.#row);
    this.#batch.lines.push(this.#rowLine);
    this.#startRow();
  }

  #endMalformed(): void {
    this.#batch.malformed.push(this.#rowLine);
    this.#partial = '';
    this.#startRow();
  }

  #startRow(): void {
    this.#row = [];
    this.#rowLength = 0;
    this.#state = 'row start';
  }

  #takeBatch(): CsvBatch {
    const batch = this.#batch;
    this.#batch = { rows: [], lines: [], malformed: [] };
    return batch;
  }
}
