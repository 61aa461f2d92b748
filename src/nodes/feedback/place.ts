/**
 * The position up to which this database has applied a stream. It is written in the transaction that applies messages, so a restored backup
 * has its own older position, and newer messages are applied to it again.
 */
import type { Database } from 'better-sqlite3';
import { addNamedValue, findNamedValue, writeNamedValue } from '../../database/named-values.ts';

export interface StreamPosition {
  /** When the stream was created: one that was lost and created again counts from 1. */
  made: string;
  /** The sequence of the last applied message. */
  sequence: number;
}

const nameOf = (stream: string) => `applied_${stream}`;

/** The position in a stream, or null if nothing of it was applied. */
export function findPosition(client: Database, stream: string): StreamPosition | null {
  const text = findNamedValue(client, nameOf(stream));
  return text === null ? null : (JSON.parse(text) as StreamPosition);
}

/** Saves the position. Call it in the transaction that applies the messages up to it. */
export function savePosition(client: Database, stream: string, place: StreamPosition): void {
  writeNamedValue(client, nameOf(stream), JSON.stringify(place));
}

/** Starts recording changes of lists for the stream, even before the stream is known. */
export function startRecording(client: Database, stream: string): void {
  addNamedValue(client, nameOf(stream), JSON.stringify({ made: '', sequence: 0 } satisfies StreamPosition));
}

/** The applied position of a stream, with a way to wait for it. */
export class Progress {
  #sequence = -1;
  readonly #waiting = new Set<() => void>();

  /** Call it when everything up to this sequence is in the database. */
  reached(sequence: number): void {
    this.#sequence = sequence;
    for (const look of this.#waiting) look();
  }

  /** Resolves with true once everything up to this sequence is applied, with false after `ms` milliseconds. */
  until(sequence: number, ms: number): Promise<boolean> {
    if (this.#sequence >= sequence) return Promise.resolve(true);
    return new Promise((resolve) => {
      const finish = (isApplied: boolean) => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve(isApplied);
      };
      const look = () => {
        if (this.#sequence >= sequence) finish(true);
      };
      const timer = setTimeout(() => finish(false), ms);
      this.#waiting.add(look);
    });
  }
}
