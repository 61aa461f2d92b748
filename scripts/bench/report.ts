/** What a bench found: printed as a table, and handed to `bench:all` when that started it. */
import { machine } from './measure.ts';

/** A row for each thing measured, by its name; each with the same columns. */
export type Table = Record<string, Readonly<Record<string, string | number>>>;

export interface Report {
  table: Table;
  /** Sentences below the table. */
  notes: readonly string[];
  machine: string;
}

/** Prints a table with its notes and the machine's line. */
export function report(table: Table, notes: readonly string[] = []): void {
  const found: Report = { table, notes, machine: machine() };
  console.table(table);
  for (const note of notes) console.log(note);
  console.log(found.machine);
  process.send?.(found);
}
