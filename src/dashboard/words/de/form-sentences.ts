/** German: the sentences on forms. */
import type { FORM_SENTENCES } from '../../../sentences/forms.ts';

export const formSentences: Readonly<Record<keyof typeof FORM_SENTENCES, string>> = {
  forms_many: 'Ein Konto kann {count} Formulare haben: Löschen Sie zuerst eines',
  form_field_twice: 'Ein Feld kann nur einmal abgefragt werden.',
  form_field_unknown: 'Dieses Feld kann ein Formular nicht abfragen: {name}',
  form_address: 'Geben Sie eine Adresse an, die mit https:// oder http:// beginnt.',
  form_segment_type: 'Das Segment gehört zu einem anderen Kontakttyp als das Formular.',
  form_consent: 'Zugestimmt: „{text}“. Angefragt am {time} UTC von {asker}, bestätigt von {confirmer}.',
  request_closed: 'die Anmeldung ist bestätigt, zu alt oder nicht mehr gewünscht',

  form_off: 'Es ist ausgeschaltet.',
  form_type_deleted: 'Sein Kontakttyp wurde gelöscht: Wählen Sie einen anderen.',
  form_sender_deleted: 'Sein Absender wurde gelöscht: Wählen Sie einen anderen.',
  form_sender_unverified: 'Sein Absender ist noch nicht bestätigt.',
};
