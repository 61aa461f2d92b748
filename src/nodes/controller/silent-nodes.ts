/** Decides when to give up silent nodes: only after all reports have been read that they may have sent. */
import type { Fleet, FleetNode } from './fleet.ts';

/**
 * A node without a heartbeat for this long has lost its pages. This time is longer than NODE_LEASE_MS, so that the node can no longer start
 * mails of these pages.
 */
export const LOST_AFTER_MS = 12_000;

/** A position in the stream of reports. */
export interface StreamPosition {
  /** When the stream was created, which distinguishes it from a later stream with the same name. */
  stream: string;
  sequence: number;
}

/** Remembers up to which report a silent node may still be heard, and tells when all of these reports have been read. */
export class SilentNodes {
  readonly #fleet: Fleet;
  /** The newest report in the stream when a node was first found silent, by the node's run. */
  readonly #awaited = new Map<string, StreamPosition>();

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** The runs of nodes that have been silent for so long that they can start no more mails. */
  get runs(): string[] {
    return this.#fleet.all.filter((node) => this.#fleet.silenceOf(node) >= LOST_AFTER_MS).map(({ run }) => run);
  }

  /**
   * Returns the nodes among these runs that are given up now: they are still silent, and their reports have been taken. `last` is the newest
   * report in the stream, and `taken` the last report that has been taken.
   */
  due(runs: readonly string[], last: StreamPosition, taken: StreamPosition): FleetNode[] {
    const silent = this.runs;
    for (const run of this.#awaited.keys()) if (!silent.includes(run)) this.#awaited.delete(run);
    return runs.flatMap((run) => {
      const node = this.#fleet.find(run);
      if (node === undefined || !silent.includes(run)) return [];
      const awaited = this.#awaited.get(run) ?? last;
      this.#awaited.set(run, awaited);
      const isTaken = awaited.sequence === 0 || (taken.stream === awaited.stream && taken.sequence >= awaited.sequence);
      return isTaken ? [node] : [];
    });
  }
}
