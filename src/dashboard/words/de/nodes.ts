/** German: the sender nodes, in the settings. */
import type { nodes as english } from '../en/nodes.ts';
import type { Translation } from '../translation.ts';

export const nodes: Translation<typeof english> = {
  'settings.nodes': 'Knoten',
  'nodes.name': 'Knoten',
  'nodes.otherRelease': 'der Dienst hat {version}',
  'nodes.state': 'Zustand',
  'nodes.state.sending': 'Sendet',
  'nodes.state.waiting': 'Wartet',
  'nodes.state.draining': 'Wird beendet',
  'nodes.state.refused': 'Vom Relay abgewiesen',
  'nodes.state.silent': 'Stumm',
  'nodes.rate': 'Mails je Sekunde',
  'nodes.has': 'Hat gerade',
  'nodes.accepted': 'Heute angenommen',
  'nodes.refused': '{count} abgelehnt',
  'nodes.warmUp': 'Aufwärmen heute',
  'nodes.heard': 'zuletzt gehört {time}',
  'nodes.hint':
    'Ein Knoten, der beendet wird, verlässt die Liste, sobald er fertig ist. Ein stummer bleibt eine Woche darin, oder bis einer seines Namens wiederkommt. Tage sind die von UTC.',
  'nodes.off.title': 'Dieser Dienst sendet selbst',
  'nodes.off.text':
    'Sendeknoten brauchen Sie, wenn eine Adresse oder eine Leitung zum Relay nicht mehr reicht. Sie beginnen mit NATS_URL.',
  'nodes.none.title': 'Noch ist kein Sendeknoten da',
  'nodes.none.text':
    'Starten Sie auf jedem Rechner, der senden soll, einen: NATS_URL wie hier, und den Befehl sendlark node. Er erscheint hier nach wenigen Sekunden.',
  'health.go.Nodes': 'Knoten öffnen',
  'health.name.Nodes': 'Sendeknoten',
  'health.name.Silent nodes': 'Stumme Knoten',
  'health.name.Refused nodes': 'Abgewiesene Knoten',
  'health.name.Releases of nodes': 'Versionen der Knoten',
  'health.why.Nodes': 'Kampagnen gehen nur über sie hinaus.',
  'health.why.Silent nodes': 'Die anderen senden ihren Anteil mit, so schnell sie können.',
  'health.why.Refused nodes': 'Sie senden nichts, und die anderen haben mehr zu tun.',
  'health.why.Releases of nodes': 'Versionen, die weiter auseinanderliegen, verstehen einander nicht.',
};
