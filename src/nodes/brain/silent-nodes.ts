/** When nodes that are not heard any more are given up: not before everything is taken that they can have reported. */
import type { Fleet, FleetNode } from './fleet.ts';

/** A place in the stream of reports. */
export interface Place {
  /** When the stream was made, by which one is told from another. */
  stream: string;
  sequence: number;
}

export class SilentNodes {
  readonly #fleet: Fleet;
  /** By the run of a silent node: the newest report when it was first found silent. */
  readonly #awaited = new Map<string, Place>();

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** The runs of nodes that were not heard for so long that they begin nothing any more. */
  get runs(): string[] {
    return this.#fleet.all.filter((node) => this.#fleet.isSilent(node)).map(({ run }) => run);
  }

  /**
   * Which of these runs to give up, if they are still silent. `last` is the newest report in the stream, and reports are taken up to
   * `taken`.
   */
  due(runs: readonly string[], last: Place, taken: Place): FleetNode[] {
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
