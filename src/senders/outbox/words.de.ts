/** German: the outbox. */

import type { Translation } from '../../ui/words/translation.ts';
import type { outbox as english } from './words.en.ts';

export const outbox: Translation<typeof english> = {
  'testMode.title': 'Testbetrieb: Niemand erhält Ihre Mails',
  'testMode.connect': 'SMTP-Server verbinden',
  'testMode.ask': 'Ein Inhaber des ersten Kontos kann einen SMTP-Server verbinden.',
  'outbox.kept': {
    one: '{count} Mail blieb im Test-Postausgang.',
    other: '{count} Mails blieben im Test-Postausgang.',
  },
  'outbox.about':
    'Es gibt keinen SMTP-Server, deshalb bleiben Mails hier, statt gesendet zu werden: die neuesten {count}.',
  'outbox.empty.title': 'Noch keine Mail',
  'outbox.empty.text':
    'Ohne SMTP-Server bleibt jede Mail hier, genau so, wie sie gesendet worden wäre. Nichts verlässt diesen Rechner.',
  'outbox.relay.title': 'Mails sendet Ihr SMTP-Server',
  'outbox.relay.text': 'Mails gehen über Ihren SMTP-Server hinaus und bleiben nicht hier.',
  'outbox.search': 'Absender, Empfänger oder Betreff',
  'outbox.none': 'Keine Mail passt dazu.',
  'outbox.noSubject': 'Kein Betreff',
  'outbox.from': 'Von',
  'outbox.to': 'An',
  'outbox.time': 'Zeit',
  'outbox.views': 'Die Mail als',
  'outbox.view.look': 'Vorschau',
  'outbox.view.text': 'Text',
  'outbox.view.headers': 'Kopfzeilen',
  'outbox.view.source': 'Quelltext',
  'outbox.view.links': 'Links',
  'outbox.view.check': 'Prüfung',
  'outbox.hidden':
    'Links, die für den Empfänger handeln, etwa zum Abmelden, führen hier ins Leere, weil Ihre Rolle nur lesen darf.',
  'outbox.webCopy': 'Web-Kopie',
  'outbox.note': 'Links führen wie in der Mail an ihr Ziel, jeder in einem neuen Tab.',
  'outbox.be.title': 'Als dieser Empfänger handeln',
  'outbox.be.text':
    'Öffnen Sie die Mail, klicken Sie auf ihre Links und melden Sie sich ab, wie es {to} könnte. Alles zählt für diesen Empfänger: Einen Moment später steht es im Bericht und im Verlauf des Kontakts.',
  'outbox.be.open': 'Als Empfänger öffnen',
  'outbox.be.opened': 'Das zählt als Öffnung: Alle Bilder wurden geladen, wie in einem Mailprogramm.',
  'outbox.be.leave': 'Abmelden',
  'outbox.be.report': 'Bericht öffnen',
  'outbox.be.contact': 'Kontakt öffnen',
  'outbox.header': 'Kopfzeile',
  'outbox.value': 'Wert',
  'outbox.noLinks': 'Diese Mail hat keine Links.',
  'outbox.linkText': 'Gezeigt als',
  'outbox.linkBare': 'kein Text',
  'outbox.linkUrl': 'Führt nach',
  'outbox.check.good': 'Gut',
  'outbox.check.look': 'Bitte prüfen',
  'outbox.check.size': 'Das HTML hat {size}. Gmail zeigt die ersten {limit} und versteckt den Rest.',
  'outbox.check.unsubscribe.good': 'Mailprogramme können das Abmelden mit einem Klick anbieten.',
  'outbox.check.unsubscribe.bad':
    'Die Kopfzeile für das Abmelden mit einem Klick fehlt. Gmail und Yahoo verlangen sie.',
  'outbox.check.plainText.good': 'Es gibt eine Nur-Text-Fassung.',
  'outbox.check.plainText.bad': 'Es gibt keine Nur-Text-Fassung. Manche Spamfilter mögen das nicht.',
  'outbox.check.language.good': 'Die Mail nennt ihre Sprache, deshalb sprechen Vorleseprogramme sie richtig aus.',
  'outbox.check.language.bad': 'Die Mail nennt ihre Sprache nicht (lang des html-Elements).',
  'outbox.check.images.good': 'Jedes Bild hat einen Alternativtext.',
  'outbox.check.images.bad': {
    one: '{count} Bild hat keinen Alternativtext.',
    other: '{count} Bilder haben keinen Alternativtext.',
  },
  'outbox.check.links.good': 'Jeder Link lässt sich vorlesen.',
  'outbox.check.links.bad': {
    one: '{count} Link hat keinen Text, den man vorlesen kann.',
    other: '{count} Links haben keinen Text, den man vorlesen kann.',
  },
  'outbox.check.contrast.good': 'Text hebt sich genug von seinem Hintergrund ab.',
  'outbox.check.contrast.bad': {
    one: '{count} Text hebt sich zu wenig von seinem Hintergrund ab.',
    other: '{count} Texte heben sich zu wenig von ihrem Hintergrund ab.',
  },
};
