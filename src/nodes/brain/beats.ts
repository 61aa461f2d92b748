/** Answers signs of life of nodes: which run of the brain this is, whether the lease is renewed, and what the node must not begin. */
import { type Beat, type BeatReply, isUnderstood, PROTOCOL } from '../protocol.ts';
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

/** The answer to a sign of life. A node that speaks to another run of the brain, or not our protocol, only learns so. */
export function answerBeat(beat: Beat, { fleet, withdrawals, brain, settings }: BeatDeps): BeatReply {
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
