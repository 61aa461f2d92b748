/** German: the test outbox. */

import type { Translation } from '../../ui/words/translation.ts';
import type { outbox as english } from './words.en.ts';

export const outbox: Translation<typeof english> = {
  'testMode.title': 'Testbetrieb: Niemand erhält Ihre Mails',
  'testMode.connect': 'SMTP-Server verbinden',
  'testMode.ask': 'Wer Sendlark hier betreibt (Inhaber des ersten Kontos), kann einen SMTP-Server verbinden.',
  'outbox.kept': {
    one: '{count} Mail blieb im Test-Postausgang.',
    other: '{count} Mails blieben im Test-Postausgang.',
  },
  'outbox.about':
    'Es gibt keinen SMTP-Server, deshalb bleiben Mails hier, statt gesendet zu werden: die neuesten {count} Mails.',
  'outbox.empty.title': 'Noch keine Mails',
  'outbox.empty.text':
    'Ohne SMTP-Server bleibt jede Mail hier, genau so, wie sie gesendet worden wäre. Nichts verlässt Sendlark.',
  'outbox.relay.title': 'Ihr SMTP-Server sendet die Mails',
  'outbox.relay.text': 'Mails werden über Ihren SMTP-Server gesendet und hier nicht aufbewahrt.',
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
    'Links, die beim Empfänger etwas ändern, etwa der Abmeldelink, funktionieren hier nicht, weil Ihre Rolle nur lesen darf.',
  'outbox.webCopy': 'Webversion',
  'outbox.note': 'Links führen wie in der Mail an ihr Ziel, jeder in einem neuen Tab.',
  'outbox.be.title': 'Die Mail wie dieser Empfänger ausprobieren',
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
  'outbox.linkUrl': 'Ziel',
  'outbox.check.good': 'Gut',
  'outbox.check.look': 'Bitte prüfen',
  'outbox.check.size': 'Das HTML ist {size} groß. Gmail zeigt die ersten {limit} und versteckt den Rest.',
  'outbox.check.unsubscribe.good': 'Mailprogramme können das Abmelden mit einem Klick anbieten.',
  'outbox.check.unsubscribe.bad':
    'Die Kopfzeile für das Abmelden mit einem Klick fehlt. Gmail und Yahoo verlangen sie.',
  'outbox.check.plainText.good': 'Es gibt eine Nur-Text-Fassung.',
  'outbox.check.plainText.bad': 'Es gibt keine Nur-Text-Fassung. Manche Spamfilter mögen das nicht.',
  'outbox.check.language.good': 'Die Mail nennt ihre Sprache, deshalb sprechen Vorleseprogramme sie richtig aus.',
  'outbox.check.language.bad':
    'Die Mail nennt ihre Sprache nicht, deshalb sprechen Vorleseprogramme sie vielleicht falsch aus. Ergänzen Sie in eigenem HTML lang im html-Tag, etwa <html lang="de">.',
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
  'outbox.check.clippedUnsubscribe.good': 'Gmail schneidet den Abmeldelink nicht ab.',
  'outbox.check.clippedUnsubscribe.bad':
    'Gmail schneidet den Abmeldelink ab, weil er hinter den ersten 102 kB steht. Kürzen Sie die Mail.',
  'outbox.check.clippedPixel.good': 'Gmail schneidet das Zählpixel nicht ab, das Öffnungen zählt.',
  'outbox.check.clippedPixel.bad':
    'Gmail schneidet das Zählpixel ab, das Öffnungen zählt, weil es hinter den ersten 102 kB steht. Kürzen Sie die Mail.',
  'outbox.check.imagesOnly.good': 'Die Mail lässt sich ohne ihre Bilder lesen.',
  'outbox.check.imagesOnly.bad': 'Ohne ihre Bilder sagt die Mail fast nichts, und viele Mailprogramme laden keine.',
  'outbox.check.headings.good':
    'Keine Überschrift ist leer oder überspringt eine Ebene, etwa von Überschrift 1 zu Überschrift 3.',
  'outbox.check.headings.bad': {
    one: '{count} Überschrift ist leer oder überspringt eine Ebene, etwa von Überschrift 1 zu Überschrift 3.',
    other: '{count} Überschriften sind leer oder überspringen eine Ebene, etwa von Überschrift 1 zu Überschrift 3.',
  },
  'outbox.check.examples.good': 'Kein Link führt zu einer Beispieladresse.',
  'outbox.check.examples.bad': {
    one: '{count} Link führt zu einer Beispieladresse: {names}',
    other: '{count} Links führen zu Beispieladressen: {names}',
  },
  'outbox.check.http.good': 'Jeder Link ist verschlüsselt (https).',
  'outbox.check.http.bad': {
    one: '{count} Link ist nicht verschlüsselt (http): {names}',
    other: '{count} Links sind nicht verschlüsselt (http): {names}',
  },
  'outbox.check.spamWords.good': 'Die Mail enthält kein Wort aus den üblichen Listen von Spam-Wörtern.',
  'outbox.check.spamWords.bad': {
    one: '{count} Wort steht auf Listen von Spam-Wörtern: {names}. Die Zahl ist sein Gewicht dort, von 1 bis 3. Solche Wörter zählen wenig: Mailanbieter achten auf Beschwerden und Authentifizierung.',
    other:
      '{count} Wörter stehen auf Listen von Spam-Wörtern: {names}. Die Zahlen sind ihr Gewicht dort, von 1 bis 3. Solche Wörter zählen wenig: Mailanbieter achten auf Beschwerden und Authentifizierung.',
  },
  'outbox.check.oneClick.good': 'Die Kopfzeilen erlauben das Abmelden mit einem Klick.',
  'outbox.check.oneClick.bad': {
    one: 'Gmail und Yahoo verlangen das Abmelden mit einem Klick. Diese Kopfzeile fehlt oder ist falsch: {names}',
    other: 'Gmail und Yahoo verlangen das Abmelden mit einem Klick. Diese Kopfzeilen fehlen oder sind falsch: {names}',
  },
  'outbox.check.freemail.good': 'Der Absender hat eine eigene Domain.',
  'outbox.check.freemail.bad': {
    one: 'Der Absender ist eine Adresse bei {names}. Solche Mails bestehen DMARC nicht; Mailanbieter weisen sie ab oder legen sie als Spam ab. Verwenden Sie eine Adresse Ihrer eigenen Domain.',
    other:
      'Der Absender ist eine Adresse bei {names}. Solche Mails bestehen DMARC nicht; Mailanbieter weisen sie ab oder legen sie als Spam ab. Verwenden Sie eine Adresse Ihrer eigenen Domain.',
  },
  'outbox.check.signature.good': 'Eine DKIM-Signatur der Absender-Domain ist da, wie DMARC es verlangt.',
  'outbox.check.signature.bad': {
    one: 'Es fehlt eine DKIM-Signatur, die DMARC für {names} gelten lässt. Gmail, Yahoo und Microsoft verlangen sie von großen Versendern. Siehe Einstellungen › Absender.',
    other:
      'Es fehlt eine DKIM-Signatur, die DMARC für {names} gelten lässt. Gmail, Yahoo und Microsoft verlangen sie von großen Versendern. Siehe Einstellungen › Absender.',
  },
  'outbox.check.headers.good': 'Jede nötige Kopfzeile ist genau einmal da.',
  'outbox.check.headers.bad': {
    one: 'Diese Kopfzeile muss genau einmal da sein: {names}',
    other: 'Diese Kopfzeilen müssen genau einmal da sein: {names}',
  },
};
