/** English: the sender nodes, in the settings. */

export const nodes = {
  'settings.nodes': 'Nodes',
  'nodes.name': 'Node',
  'nodes.otherRelease': 'the service is {version}',
  'nodes.state': 'State',
  'nodes.state.sending': 'Sends',
  'nodes.state.waiting': 'Waits',
  'nodes.state.draining': 'Ends',
  'nodes.state.refused': 'Refused by its relay',
  'nodes.state.silent': 'Silent',
  'nodes.rate': 'Mails a second',
  'nodes.has': 'Has now',
  'nodes.accepted': 'Taken today',
  'nodes.refused': '{count} refused',
  'nodes.warmUp': 'Warm-up today',
  'nodes.heard': 'last heard {time}',
  'nodes.hint':
    'A node that is told to end leaves the list once it has finished. A silent one stays in it for a week, or until one of its name is back. Days are those of UTC.',
  'nodes.off.title': 'This service sends by itself',
  'nodes.off.text':
    'Sender nodes are needed when one address or one relay link is not enough. They begin with NATS_URL.',
  'nodes.none.title': 'No sender node has come yet',
  'nodes.none.text':
    'Start one on each machine that is to send: NATS_URL as here, and the command sendlark node. It appears here within seconds.',
  'health.go.Nodes': 'Open the nodes',
  'health.name.Nodes': 'Sender nodes',
  'health.name.Silent nodes': 'Silent nodes',
  'health.name.Refused nodes': 'Refused nodes',
  'health.name.Releases of nodes': 'Releases of nodes',
  'health.why.Nodes': 'Campaign mail leaves from them alone.',
  'health.why.Silent nodes': 'The others send their share, as fast as they can.',
  'health.why.Refused nodes': 'They send nothing, and the others have more to do.',
  'health.why.Releases of nodes': 'Releases that are further apart do not understand each other.',
} as const;
