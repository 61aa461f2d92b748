/** German: the frequency cap, the sending hours, the best hour and local time of a contact, and auto-pause. */

import type { Translation } from '../../ui/words/translation.ts';
import type { times as english } from './words.en.ts';

export const times: Translation<typeof english> = {
  'settings.times': 'Frequenzgrenze & Sendezeiten',
  'settings.done.windowSaved': 'Die Sendezeiten sind gespeichert und gelten ab jetzt.',
  'settings.done.capsSaved': 'Die Frequenzgrenze ist gespeichert und gilt ab der nächsten Mail.',
  'caps.title': 'Frequenzgrenze',
  'caps.about':
    'Ein Kontakt bekommt höchstens so viele Mails aus allen Kampagnen und Automationen zusammen. Eine Kampagne überspringt Kontakte, die die Grenze erreicht haben; eine Mail einer Automation wartet bis zu einer Woche und wird dann übersprungen. Transaktionsmails zählen nicht.',
  'caps.number': 'Grenze {number}',
  'caps.mails': 'Mails, höchstens',
  'caps.days': 'In wie vielen Tagen',
  'caps.hint': 'Heute zählt als Tag. Leer: keine Grenze.',
  'caps.save': 'Frequenzgrenze speichern',
  'caps.field': 'Frequenzgrenze',
  'caps.holds': 'Kontakte überspringen, die die Grenze erreicht haben',
  'caps.ignored': 'Grenze nicht beachten',
  'caps.holds.automation': 'Warten, bis die Grenze wieder eine Mail erlaubt',
  'caps.ignored.automation': 'Grenze nicht beachten',
  'window.title': 'Sendezeiten',
  'window.about':
    'Kampagnen und Automationen senden nur an diesen Tagen und zu diesen Stunden ({zone}). Was zu einer anderen Zeit fällig ist, wartet. Ist kein Tag gewählt, wird jederzeit gesendet. Transaktionsmails, Tests und Bestätigungen werden immer gesendet.',
  'window.days': 'Tage',
  'window.from': 'Von',
  'window.to': 'Bis',
  'window.save': 'Sendezeiten speichern',
  'window.waits': 'Wartet auf die Sendezeiten: Weiter geht es {time} ({zone}).',
  'window.now': 'Jetzt ist keine Sendezeit. Weiter geht es {time} ({zone}).',
  'window.booked': '{time} ({zone}) liegt außerhalb der Sendezeiten. Gesendet wird ab {opens}.',
  'local.option': 'Zeitzone jedes Kontakts',
  'local.known':
    'Zeitzone bekannt: {known}. Unbekannt oder nicht eindeutig: {others}; für sie gilt die Zeit von {zone}.',
  'local.about':
    'Inhalt und Empfänger stehen fest, sobald es irgendwo auf der Welt so spät ist. Kontakte, deren Zeit dann schon vorbei ist, bekommen die Kampagne sofort.',
  'local.is': 'Geplant für {time} in der Zeitzone jedes Kontakts.',
  'local.done':
    'Geplant für {time} in der Zeitzone jedes Kontakts. Sie können die Kampagne bis {first} ({zone}) ändern; dann ist es für die ersten Kontakte so weit.',
  'local.doneNow':
    'Geplant für {time} in der Zeitzone jedes Kontakts. Kontakte, deren Zeit schon vorbei ist, bekommen die Kampagne jetzt.',
  'local.waits': {
    one: '{count} Kontakt bekommt die Kampagne zu seiner eigenen Zeit: {last} ({zone}).',
    other:
      '{count} Kontakte bekommen die Kampagne zu ihrer eigenen Zeit: die nächsten {next}, die letzten {last} ({zone}).',
  },
  'best.option': 'Beste Stunde jedes Kontakts, innerhalb von 24 Stunden',
  'best.unknown':
    'Noch sind keine Öffnungen oder Klicks bekannt; alle bekommen die Kampagne zur oben gewählten Zeit. Spätere Kampagnen können nutzen, was bis dahin aufgezeichnet wird.',
  'best.known': {
    one: 'Innerhalb von 24 Stunden nach der oben gewählten Zeit bekommt jeder Kontakt die Kampagne zu der Stunde, in der er meist liest. In letzter Zeit Mails geöffnet oder darin auf einen Link geklickt: {known} von {count} Kontakt; für die anderen gilt die übliche Stunde ihrer Liste. Häufigste Stunden ({zone}): {hours}. Einer von zehn bekommt sie zur oben gewählten Zeit, damit der Bericht zeigen kann, ob die Stunden geholfen haben.',
    other:
      'Innerhalb von 24 Stunden nach der oben gewählten Zeit bekommt jeder Kontakt die Kampagne zu der Stunde, in der er meist liest. In letzter Zeit Mails geöffnet oder darin auf einen Link geklickt: {known} von den ersten {count} Kontakten; für die anderen gilt die übliche Stunde ihrer Liste. Häufigste Stunden ({zone}): {hours}. Einer von zehn bekommt sie zur oben gewählten Zeit, damit der Bericht zeigen kann, ob die Stunden geholfen haben.',
  },
  'best.hour': '{hour} ({share})',
  'best.is':
    'Geplant für {time} ({zone}); jeder Kontakt bekommt die Kampagne innerhalb von 24 Stunden zu seiner besten Stunde.',
  'best.done':
    'Geplant für {time} ({zone}). Jeder Kontakt bekommt die Kampagne innerhalb von 24 Stunden danach zu seiner besten Stunde.',
  'best.title': 'Beste Stunde im Vergleich zur geplanten Zeit',
  'best.atHour': { one: 'Beste Stunde ({count} Kontakt)', other: 'Beste Stunde ({count} Kontakte)' },
  'best.atStart': { one: 'Geplante Zeit ({count} Kontakt)', other: 'Geplante Zeit ({count} Kontakte)' },
  'best.difference': 'Unterschied',
  'best.early': 'Zu früh: Der Vergleich beginnt am {day}',
  'best.more': 'Zwischen {low} und {high} Prozentpunkte mehr zur besten Stunde',
  'best.less': 'Zwischen {low} und {high} Prozentpunkte weniger zur besten Stunde',
  'best.none': 'Kein Unterschied zu sehen: zwischen {low} Prozentpunkten weniger und {high} Prozentpunkten mehr',
  'holding.title': 'Automatische Pause',
  'holding.on': 'Jede Kampagne pausiert automatisch, wenn ihre Ergebnisse schlecht sind.',
  'holding.off': 'Nur Kampagnen mit einer ersten Gruppe pausieren automatisch.',
  'holding.about': 'Eine Kampagne pausiert und wartet auf Ihre Entscheidung, wenn es davon zu viele gibt:',
  'holding.bounces': 'Bounces: mehr als {share}, mindestens {least}',
  'holding.failed': 'fehlgeschlagene Mails: mehr als {share}, mindestens {least}',
  'holding.complaints': 'Beschwerden: mehr als {share}, mindestens {least}',
  'holding.chance':
    'Eine Kampagne wird geprüft, sobald {least} ihrer Mails zugestellt wurden, als Bounce zurückkamen oder fehlgeschlagen sind. Sie pausiert nur, wenn der hohe Anteil kein Zufall sein kann.',
  'holding.switchOn': 'Für jede Kampagne einschalten',
  'holding.switchOff': 'Auf Kampagnen mit erster Gruppe beschränken',
  'holding.isOn': 'Ab jetzt pausiert jede Kampagne, wenn ihre Ergebnisse schlecht sind.',
  'holding.isOff': 'Ab jetzt pausieren nur Kampagnen mit einer ersten Gruppe automatisch.',
  'holding.refused': 'Nicht geändert: {reason}',
};
