/** German: the sentences on webhooks. */
import type { WEBHOOK_SENTENCES } from '../../../sentences/webhooks.ts';

export const webhookSentences: Readonly<Record<keyof typeof WEBHOOK_SENTENCES, string>> = {
  webhook_url: 'Nennen Sie die Adresse eines Endpunkts wie https://example.com/hooks/sendlark.',
  webhook_plain: 'Die Adresse muss mit https:// beginnen, weil das Gesendete Personen nennt.',
  webhook_login: 'Die Adresse darf weder Benutzernamen noch Passwort enthalten.',
  webhook_no_events: 'Wählen Sie mindestens ein Ereignis.',
  webhooks_many: 'Ein Konto kann {count} Webhooks haben. Löschen Sie zuerst einen.',
  webhook_many_waiting:
    'Für diesen Webhook warten schon Ereignisse, die noch einmal gesendet werden ({count}). Versuchen Sie es danach noch einmal.',

  webhook_private: 'Die Adresse ist nicht öffentlich, und private sind hier nicht erlaubt.',
  webhook_silent: 'Es kam nicht rechtzeitig eine Antwort.',
  webhook_redirect: 'Die Antwort leitet weiter; dem wird nicht gefolgt.',
  webhook_no_host: 'Sein Name führt zu keinem Server.',
  webhook_unreachable: 'Dort antwortet nichts.',
  webhook_tls: 'Mit ihm kam keine Verschlüsselung zustande.',
  webhook_closed: 'Die Verbindung wurde vor der Antwort geschlossen.',

  webhook_off_by_owner: 'Er wurde abgeschaltet.',
  webhook_off_failing: 'Er hat drei Tage lang kein Ereignis angenommen und wurde deshalb abgeschaltet.',
  webhook_off_gone: 'Er hat mit 410 geantwortet, will also keine Ereignisse mehr, und wurde deshalb abgeschaltet.',
  webhook_off_too_many: 'Zu viele Ereignisse warteten auf ihn; deshalb wurde er abgeschaltet.',

  webhooks_well: 'Kein Webhook wurde von selbst abgeschaltet',
  webhooks_off: 'Keine Ereignisse mehr an: {name}',
  webhooks_cure:
    'Sehen Sie in den Einstellungen nach, warum der Webhook aus ist, bringen Sie sein Programm in Ordnung und schalten Sie ihn wieder ein.',
};
