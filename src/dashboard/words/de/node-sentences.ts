/** German: the sentences on sender nodes. */
import type { NODE_SENTENCES } from '../../../sentences/nodes.ts';

export const nodeSentences: Readonly<Record<keyof typeof NODE_SENTENCES, string>> = {
  waits_nats:
    'Der Dienst erreicht NATS nicht, deshalb warten Mails. Sehen Sie nach, ob nats-server unter NATS_URL läuft und den Dienst einlässt.',
  waits_no_node:
    'Es ist kein Sendeknoten da, deshalb warten Mails. Starten Sie einen mit „sendlark node“; läuft schon einer, steht in seinem Protokoll, warum er nicht kommt.',
  waits_release:
    'Sendeknoten und Dienst haben Versionen, die einander nicht verstehen, deshalb warten Mails. Bringen Sie alle auf dieselbe Version.',
  waits_refused:
    'Die Relays nehmen von keinem Sendeknoten Mails an, deshalb warten Mails. In der Liste der Knoten steht, was die Relays antworten.',
  waits_warm_up:
    'Jeder Sendeknoten hat gesendet, was seine Aufwärmphase heute erlaubt, deshalb warten Mails bis 0:00 Uhr UTC. Mit einem weiteren Knoten oder einem höheren WARM_UP geht mehr hinaus.',

  nodes_well: '{count} sind da, und Mails gehen hinaus',
  nodes_silent: 'Kein Lebenszeichen von {names}',
  nodes_silent_cure:
    'Starten Sie sie neu, oder sehen Sie nach, ob sie NATS erreichen. Was sie hatten, haben jetzt andere; nach einer Woche verschwinden sie aus der Liste.',
  nodes_waits_cure: 'Einstellungen › Knoten, oder sendlark nodes, zeigt sie mit dem, was nicht stimmt.',
  nodes_refused: 'Die Relays nehmen keine Mails an von {names}: {reply}',
  nodes_refused_cure:
    'Sehen Sie nach, ob die Adresse dieses Knotens auf einer Sperrliste steht und ob die Anmeldung stimmt. Er versucht es von selbst wieder; die anderen Knoten übernehmen seinen Anteil.',
  nodes_releases: 'Nicht von dieser Version, {version}: {names}',
  nodes_releases_cure:
    'Bringen Sie sie auf die Version des Dienstes. Mit einer Version Abstand geht es für die Dauer einer Aktualisierung.',
};
