/**
 * How far this database has applied a stream. The place is written in the transaction of what was applied, so a restored backup has the
 * place of its own time, and what is newer is applied again to it.
 */
import type { Database } from 'better-sqlite3';
import { addNamedValue, findNamedValue, writeNamedValue } from '../../database/named-values.ts';

export interface Place {
  /** When the stream was made: one that was lost and made anew counts from 1 again. */
  made: string;
  /** The sequence of the last message applied. */
  sequence: number;
}

const nameOf = (stream: string) => `applied_${stream}`;

/** The place in a stream, or null where nothing of it was applied. */
export function findPlace(client: Database, stream: string): Place | null {
  const text = findNamedValue(client, nameOf(stream));
  return text === null ? null : (JSON.parse(text) as Place);
}

/** Keeps the place. Call it in the transaction that applies the messages up to it. */
export function savePlace(client: Database, stream: string, place: Place): void {
  writeNamedValue(client, nameOf(stream), JSON.stringify(place));
}

/** Has changes of lists written down for the stream from now on, also before the stream is known. */
export function beginPlace(client: Database, stream: string): void {
  addNamedValue(client, nameOf(stream), JSON.stringify({ made: '', sequence: 0 } satisfies Place));
}

/** How far a stream is applied by now, and waiting for it. */
export class Progress {
  #sequence = -1;
  readonly #waiting = new Set<() => void>();

  /** Everything up to this sequence is in the database. */
  reached(sequence: number): void {
    this.#sequence = sequence;
    for (const look of this.#waiting) look();
  }

  /** Resolves with true once everything up to this sequence is applied, with false after `ms`. */
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
