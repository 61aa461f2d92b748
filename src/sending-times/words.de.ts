/** German texts of the sending times. */

import type { Translation } from '../dashboard/words/translation.ts';
import type { times as english } from './words.en.ts';

export const times: Translation<typeof english> = {
  'settings.times': 'Häufigkeit und Zeiten',
  'settings.done.windowSaved': 'Die Zeiten sind gespeichert. Sie gelten ab jetzt.',
  'settings.done.capsSaved': 'Die Grenzen sind gespeichert. Sie gelten ab der nächsten Mail.',
  'caps.title': 'Mails je Person',
  'caps.about':
    'Eine Person bekommt höchstens so viele Mails, wie Sie hier erlauben, aus allen Mailings und Automationen zusammen. Ein Mailing lässt aus, wer schon so viele hatte, und sein Bericht nennt den Grund. Eine Mail einer Automation wartet bis zu einer Woche und wird dann ausgelassen. Transaktionsmails sind weder begrenzt noch zählen sie.',
  'caps.number': 'Grenze {number}',
  'caps.mails': 'Höchstens so viele Mails',
  'caps.days': 'In so vielen Tagen',
  'caps.hint': 'Der laufende Tag zählt mit. Leer: keine Grenze.',
  'caps.save': 'Grenzen speichern',
  'caps.field': 'Grenze für Mails je Person',
  'caps.holds': 'Auslassen, wer schon so viele hatte',
  'caps.ignored': 'Auch an diese Personen senden',
  'caps.holds.automation': 'Warten, bis wieder eine Mail erlaubt ist',
  'caps.ignored.automation': 'Alle Mails zu ihrer Zeit senden',
  'window.title': 'Wann Mails hinausgehen',
  'window.about':
    'Mailings und Mails von Automationen gehen nur an diesen Tagen und zu diesen Stunden hinaus ({zone}). Was zu einer anderen Zeit fällig ist, wartet. Ohne Tag gehen Mails jederzeit hinaus. Transaktionsmails, Tests und Bestätigungen gehen immer hinaus.',
  'window.days': 'Tage',
  'window.from': 'Von',
  'window.to': 'Bis',
  'window.save': 'Zeiten speichern',
  'window.waits':
    'Mails gehen nur zu den Zeiten hinaus, die die Einstellungen erlauben. Weiter geht es {time} ({zone}).',
  'window.now': 'Zu dieser Zeit gehen keine Mails hinaus. Weiter geht es {time} ({zone}).',
  'window.booked': 'Eingeplant für {time} ({zone}). Dann gehen keine Mails hinaus; sie beginnt {opens}.',
  'local.option': 'Eigene Zeitzone jeder Person',
  'local.known':
    'Eigene Zeitzone bekannt: {known}. Unbekannt oder ein Ort mit mehreren: {others}; für sie gilt die Uhr von {zone}.',
  'local.about':
    'Bei eigenen Zeitzonen stehen Mail und Empfänger fest, sobald der erste Ort der Erde die Zeit erreicht. Wer dann schon darüber hinaus ist, bekommt die Mail sofort.',
  'local.is': 'Es ist geplant für {time} in der eigenen Zeitzone jeder Person.',
  'local.done':
    'Geplant für {time} in der eigenen Zeitzone jeder Person. Es lässt sich bis {first} ({zone}) ändern; dann erreichen die Ersten die Zeit.',
  'local.doneNow':
    'Geplant für {time} in der eigenen Zeitzone jeder Person. Wer schon darüber hinaus ist, bekommt die Mail jetzt.',
  'local.waits': {
    one: '{count} Person bekommt sie später, nach der eigenen Zeitzone: {last} ({zone}).',
    other:
      '{count} Personen bekommen sie später, nach eigenen Zeitzonen: die nächsten {next}, die letzten {last} ({zone}).',
  },
  'holding.title': 'Wenn die Ergebnisse schlecht sind',
  'holding.on': 'Jedes Mailing wird von selbst angehalten, wenn seine Ergebnisse schlecht sind.',
  'holding.off':
    'Von selbst angehalten wird nur ein Mailing, das ein erster Teil der Personen vor den anderen bekommt.',
  'holding.about': 'Niemand sonst bekommt es, bis Sie entschieden haben. Angehalten wird bei zu vielen:',
  'holding.bounces': 'Rückläufern: mehr als {share}, mindestens {least}',
  'holding.failed': 'Ablehnungen: mehr als {share}, mindestens {least}',
  'holding.complaints': 'Beschwerden: mehr als {share}, mindestens {least}',
  'holding.chance': 'Geprüft wird ab {least} Ergebnissen, und ein Anteil muss über den Zufall hinaus zu hoch sein.',
  'holding.switchOn': 'Jedes Mailing mit schlechten Ergebnissen anhalten',
  'holding.switchOff': 'Nur Mailings mit einem ersten Teil anhalten',
  'holding.isOn': 'Ab jetzt wird jedes Mailing angehalten, wenn seine Ergebnisse schlecht sind.',
  'holding.isOff': 'Ab jetzt werden nur Mailings mit einem ersten Teil angehalten.',
  'holding.refused': 'Nicht geändert: {reason}',
};
