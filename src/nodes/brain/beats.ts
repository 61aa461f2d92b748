/** Answers signs of life of nodes: which run of the brain this is, whether the lease is renewed, and what the node must not begin. */
import { type Beat, type BeatReply, isRunOf, isUnderstood, PROTOCOL } from '../protocol.ts';
import type { Fleet } from './fleet.ts';
import type { Withdrawals } from './withdrawals.ts';

interface BeatDeps {
  fleet: Fleet;
  withdrawals: Withdrawals;
  /** The name of this run of the brain. */
  brain: string;
  /** As `settings` of `NodeHandoffsDeps`. */
  settings(nodes: number): string;
}

/** A node that is started again is another run, and the one before is forgotten after some seconds. */
const MAX_RUNS = 20;

/** The answer to a sign of life; null while there are too many runs of one node. A node that speaks to another run of the brain, or not our protocol, only learns so. */
export function answerBeat(beat: Beat, { fleet, withdrawals, brain, settings }: BeatDeps): BeatReply | null {
  const runs = fleet.all.filter(({ run }) => isRunOf(run, beat.name));
  if (runs.length >= MAX_RUNS && !runs.some(({ run }) => run === beat.run)) return null;
  const isOurs = beat.brain === brain && isUnderstood(beat.protocol);
  if (!isOurs) fleet.greet(beat);
  const node = isOurs ? fleet.hear(beat) : undefined;
  const reply = {
    // A node that is not understood sees by this why it has to wait.
    protocol: PROTOCOL,
    brain,
    isRenewed: false,
    isLost: isOurs && node === undefined,
    withdraw: [],
    settings: settings(fleet.all.length),
  };
  if (node === undefined) return reply;
  withdrawals.confirm(node.run, beat.withdrawn);
  return { ...reply, isRenewed: fleet.renew(node), withdraw: node.withdrawals };
}
