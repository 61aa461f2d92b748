/**
 * The position up to which this database has applied a stream. The position is written in the transaction that applies messages, so a
 * restored backup has an older position, and the messages after that are applied again.
 */
import type { Database } from 'better-sqlite3';
import { addNamedValue, findNamedValue, writeNamedValue } from '../../database/named-values.ts';

/** A position in a stream. */
export interface StreamPosition {
  /** When the stream was created. The sequence of a stream that was lost and created again starts from 1. */
  made: string;
  /** The sequence of the last applied message. */
  sequence: number;
}

const nameOf = (stream: string) => `applied_${stream}`;

/** Returns the position in a stream; null if nothing of the stream was applied. */
export function findPosition(client: Database, stream: string): StreamPosition | null {
  const text = findNamedValue(client, nameOf(stream));
  return text === null ? null : JSON.parse(text);
}

/** Saves the position. Call it in the transaction that applies the messages up to it. */
export function savePosition(client: Database, stream: string, position: StreamPosition): void {
  writeNamedValue(client, nameOf(stream), JSON.stringify(position));
}

/** Starts recording changes of lists for a stream before the stream is known. The triggers record changes once a position is stored. */
export function startRecording(client: Database, stream: string): void {
  addNamedValue(client, nameOf(stream), JSON.stringify({ made: '', sequence: 0 } satisfies StreamPosition));
}

/** The applied position of a stream, with a way to wait for it. */
export class Progress {
  #sequence = -1;
  readonly #waiting = new Set<() => void>();

  /** Records that all messages up to this sequence are in the database. */
  reached(sequence: number): void {
    this.#sequence = sequence;
    for (const check of this.#waiting) check();
  }

  /** Resolves with true once all messages up to this sequence are applied, or with false after `ms` milliseconds. */
  until(sequence: number, ms: number): Promise<boolean> {
    if (this.#sequence >= sequence) return Promise.resolve(true);
    return new Promise((resolve) => {
      const finish = (isApplied: boolean) => {
        clearTimeout(timer);
        this.#waiting.delete(check);
        resolve(isApplied);
      };
      const check = () => {
        if (this.#sequence >= sequence) finish(true);
      };
      const timer = setTimeout(() => finish(false), ms);
      this.#waiting.add(check);
    });
  }
}
