/** The sentences on sender nodes, with their codes; part of those in sentences.ts. */

export const NODE_SENTENCES = {
  // Why mail waits although nothing is held.
  waits_nats:
    'The service cannot reach NATS, so mail waits. Look whether nats-server runs at NATS_URL and lets the service in.',
  waits_no_node:
    'There is no sender node, so mail waits. Start one with “sendlark node”; if one runs, its log says why it does not come.',
  waits_release:
    'The sender nodes and the service are of releases that do not understand each other, so mail waits. Bring all to the same release.',
  waits_refused:
    'The relays take no mail from any sender node, so mail waits. The list of nodes says what the relays answer.',
  waits_warm_up:
    'Every sender node has sent what its warm-up allows today, so mail waits until 0:00 UTC. Another node, or a higher WARM_UP, sends more.',

  // What a check of the nodes found, and what to do.
  nodes_well: 'there are {count}, and mail leaves',
  nodes_silent: 'no sign of life from {names}',
  nodes_silent_cure:
    'Start them again, or look whether they reach NATS. What they had is with others; they leave the list after a week.',
  nodes_waits_cure: 'Settings › Nodes, or sendlark nodes, lists them with what is wrong.',
  nodes_refused: 'the relays take no mail from {names}: {reply}',
  nodes_refused_cure:
    'Look whether the address of this node is on a blocklist, and whether its login is right. It tries again by itself; the other nodes do its share.',
  nodes_releases: 'not of this release, {version}: {names}',
  nodes_releases_cure: 'Bring them to the release of the service. One release apart works for the time of an upgrade.',
} as const;
