/** Prints the results of a bench as a table, and sends them to `bench:all` if it started the bench. */
import { machine } from './measure.ts';

/** The rows of a table by their names. All rows have the same columns. */
export type Table = Record<string, Readonly<Record<string, string | number>>>;

export interface Report {
  table: Table;
  /** Sentences below the table. */
  notes: readonly string[];
  machine: string;
}

/** Prints a table with its notes and the machine, and sends them to the parent process if it listens. */
export function report(table: Table, notes: readonly string[] = []): void {
  const result: Report = { table, notes, machine: machine() };
  console.table(table);
  for (const note of notes) console.log(note);
  console.log(result.machine);
  process.send?.(result);
}
