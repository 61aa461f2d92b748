/** German: the settings for bounces and complaints. */

import type { Translation } from '../../ui/words/translation.ts';
import type { providers as english } from './words.en.ts';

export const providers: Translation<typeof english> = {
  'settings.returns': 'Bounces & Beschwerden',
  'settings.done.providerAdded':
    'Die Adresse wurde erstellt. Kopieren Sie sie unten und tragen Sie sie bei Ihrem Anbieter ein.',
  'settings.done.roleMailDeleted': 'Die Mail wurde gelöscht.',
  'roleMails.title': 'Feedback-Loops und Mails an abuse@ und postmaster@',
  'roleMails.off':
    'Wer den Server betreut, kann BOUNCE_LISTEN setzen. Dann empfängt Sendlark Beschwerden aus den Feedback-Loops der Mailanbieter und Mails an die Adressen abuse@ und postmaster@ Ihrer Domain für Bounces.',
  'roleMails.text':
    'Melden Sie die erste dieser Adressen bei den Feedback-Loops der Mailanbieter an. Kontakte, die Ihre Mails dort als Spam markieren, werden dann automatisch gesperrt.',
  'roleMails.none': 'Keine Mails zu lesen.',
  'roleMails.unknown':
    'Diese Mails ließen sich keiner Ihrer Mails zuordnen, also wurde niemand gesperrt. Die neuesten 200 werden gespeichert.',
  'roleMails.noSubject': '(kein Betreff)',
  'roleMails.from': 'Von {sender},',
  'roleMails.delete': 'Mail löschen',
  'settings.done.providerDeleted': 'Die Adresse wurde gelöscht. Meldungen an sie werden ab jetzt abgewiesen.',
  'audit.provider_added': 'Adresse für Meldungen eines SMTP-Anbieters erstellt',
  'audit.provider_removed': 'Adresse für Meldungen eines SMTP-Anbieters gelöscht',
  'providers.title': 'Von Ihrem SMTP-Anbieter gemeldet',
  'providers.text':
    'Anbieter wie Amazon SES oder Mailgun empfangen Bounces und Beschwerden selbst und melden sie an eine Webadresse, die Sie hier erstellen. Kontakte mit Bounces oder Beschwerden werden dann gesperrt. Wer sich beim Anbieter abmeldet, ist auch hier von allen Mails abgemeldet.',
  'providers.add': 'Anbieter verbinden',
  'providers.field.provider': 'Anbieter',
  'providers.field.secret': 'Schlüssel oder Passwort',
  'providers.hint.secret':
    'Mailgun: der „HTTP webhook signing key“. SendGrid: der „verification key“ des signierten Event-Webhooks. Amazon SES: leer lassen. Andere: ein Passwort Ihrer Wahl. Ohne Passwort sind Sie nur geschützt, solange die Adresse geheim bleibt.',
  'providers.add.submit': 'Adresse erstellen',
  'providers.name.ses': 'Amazon SES',
  'providers.name.mailgun': 'Mailgun',
  'providers.name.postmark': 'Postmark',
  'providers.name.sendgrid': 'SendGrid',
  'providers.name.brevo': 'Brevo',
  'providers.name.sparkpost': 'SparkPost',
  'providers.state.waits': 'Wartet auf die erste Meldung',
  'providers.state.works': 'Funktioniert',
  'providers.state.refuses': 'Letzte Meldung abgewiesen',
  'providers.watching':
    'Der Status wird grün, sobald die erste Meldung eintrifft. Die meisten Anbieter haben eine Schaltfläche, die einen Test sendet.',
  'providers.last': 'Letzte Meldung: „{event}“, {time}',
  'providers.refusedLast': 'Eine Meldung wurde abgewiesen ({time}):',
  'providers.refusal.signature':
    'Die Signatur passt nicht. Prüfen Sie, ob der Schlüssel zu dieser Adresse gehört. Wenn nicht, löschen Sie die Adresse und erstellen Sie eine neue mit dem richtigen Schlüssel.',
  'providers.refusal.expired':
    'Die Signatur ist älter als ein Tag. Prüfen Sie die Uhr des Servers, auf dem Sendlark läuft.',
  'providers.refusal.login':
    'Das Passwort der Meldung fehlte oder war falsch. Tragen Sie beim Anbieter das Passwort ein, das Sie hier gewählt haben.',
  'providers.refusal.topic':
    'Die Meldung kam von einem anderen Amazon-SNS-Topic als dem zuerst bestätigten. Erstellen Sie für ein anderes Topic eine weitere Adresse.',
  'providers.refusal.malformed':
    'Die Meldung hatte nicht die Form, die dieser Anbieter beschreibt. Prüfen Sie, ob der Anbieter stimmt.',
  'providers.topic': 'Amazon-SNS-Topic: {topic}',
  'providers.address': 'Adresse für den Anbieter:',
  'providers.copy': 'Adresse kopieren',
  'providers.secret': 'Geben Sie diese Adresse nicht weiter: Wer sie kennt, könnte falsche Meldungen senden.',
  'providers.steps': 'Was bei {name} zu tun ist',
  'providers.step.ses.1':
    'Erstellen Sie in Amazon SNS ein Standard-Topic und ein Abonnement dazu: Protokoll HTTPS, diese Adresse als Endpunkt, „raw message delivery“ aus. Das Abonnement wird automatisch bestätigt.',
  'providers.step.ses.2':
    'Öffnen Sie in Amazon SES Ihre Identität und dort „Notifications“: Wählen Sie das Topic für Bounces und Beschwerden.',
  'providers.step.ses.3':
    'Schalten Sie für beide „Include original email headers“ ein, damit sich jede Meldung ihrer Mail zuordnen lässt.',
  'providers.step.mailgun.1':
    'Öffnen Sie „Sending“, „Webhooks“ Ihrer Domain. Tragen Sie diese Adresse für „permanent failure“, „temporary failure“, „spam complaints“ und „unsubscribes“ ein.',
  'providers.step.mailgun.2':
    'Der „HTTP webhook signing key“ steht auf derselben Seite. Mit „Test webhook“ probieren Sie es aus.',
  'providers.step.postmark.1':
    'Öffnen Sie Ihren Server, den „message stream“ und dort „Webhooks“: Tragen Sie diese Adresse für „bounce“, „spam complaint“ und „subscription change“ ein.',
  'providers.step.postmark.2': 'Mit „Send test“ probieren Sie es aus.',
  'providers.step.sendgrid.1':
    'Öffnen Sie „Settings“, „Mail Settings“, „Event Webhook“: Tragen Sie diese Adresse ein und wählen Sie „bounced“, „dropped“, „deferred“, „spam reports“ und „unsubscribed“.',
  'providers.step.sendgrid.2':
    'Schalten Sie dort den „signed event webhook“ ein und kopieren Sie seinen „verification key“. Mit „Test integration“ probieren Sie es aus.',
  'providers.step.brevo.1':
    'Öffnen Sie „Transactional“, „Settings“, „Webhook“: Tragen Sie diese Adresse für „soft bounce“, „hard bounce“, „blocked“, „complaint“, „invalid email“ und „unsubscribed“ ein.',
  'providers.step.brevo.2': 'Für Marketing-Kampagnen hat Brevo eigene Webhooks. Diese brauchen Sie nicht.',
  'providers.step.sparkpost.1':
    'Öffnen Sie „Configuration“, „Webhooks“: Erstellen Sie einen mit dieser Adresse für „bounce“, „out of band“, „delay“, „spam complaint“, „list unsubscribe“ und „link unsubscribe“.',
  'providers.step.sparkpost.2': 'Mit „Test“ probieren Sie es aus.',
  'providers.step.password':
    'Sie haben ein Passwort gewählt: Wählen Sie dort „basic authentication“ mit beliebigem Benutzernamen und diesem Passwort.',
  'providers.count.permanent': 'Bounces: gesperrt',
  'providers.count.returned': 'Bounces, die nicht an der Adresse liegen: nicht gesperrt',
  'providers.count.temporary': 'Verzögert: nichts geändert',
  'providers.count.complaints': 'Beschwerden: gesperrt',
  'providers.count.unsubscribes': 'Von allen Mails abgemeldet',
  'providers.count.others': 'Andere Meldungen',
  'providers.count.unmatched': 'Kein Kontakt dieses Kontos',
  'providers.count.duplicates': 'Wiederholungen, einmal gezählt',
  'providers.count.refused': 'Abgewiesene Meldungen',
  'providers.delete': 'Adresse löschen',
  'providers.delete.title': 'Adresse von {name} löschen?',
  'providers.delete.text':
    'Meldungen von {name} werden dann abgewiesen, und Adressen mit Bounces bekommen weiter Mails. Was bisher gemeldet wurde, gilt weiter.',
};
