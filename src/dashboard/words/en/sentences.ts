/** English: the sentences of the service that use words of the API, in the words of the dashboard; the others are shown as they are. */
import type { SentenceCode } from '../../../errors/sentences.ts';

export const sentences: Readonly<Partial<Record<SentenceCode, string>>> = {
  suppressed_bounce: 'blocked because an earlier mail bounced',
  suppressed_complaint: 'blocked after an earlier complaint',
  suppression_bounce: 'bounced mail: {diagnostic}',
  suppression_complaint: 'spam complaint: {diagnostic}',
  left_target: 'no longer in its contact type or segment',
  not_in_target: 'not in its contact type or segment',
  contact_deleted: 'the person was deleted',
  kept_in_outbox: 'kept in the outbox',
  returned: '{cause} {reply}',
  held_missed_time: 'Missed its time by {minutes} min: {cause}',
  group_used:
    'Mailings that are not finished ({single_sends}) and automations ({automations}) use the group: choose another one there first',
  field_used:
    'The field is used by mailings that are not finished ({single_sends}), automations ({automations}), templates ({templates}), saved blocks ({blocks}) and segments ({segments}): take it out there first',
  live_no_group: 'Choose an unsubscribe group first',
  live_no_target: 'Choose first whom the automation is for',
  live_no_mail: 'Add a mail first',
  live_no_segment: 'The automation cannot be started: {problem}',
  live_mail_broken: 'With the mail “{subject}” the automation cannot be started: {problem}',
  dkim_none_cure: 'Unless your relay signs: make a key for {domain} here.',
  dkim_make: 'Make a DKIM key for {domain},',
  not_cancellable: 'Only a scheduled or running mailing can be cancelled',
  not_pausable: 'Only a running mailing can be paused',
  not_resumable: 'Only a paused mailing can be resumed',
  only_cancellable: 'The sender was deleted: the mailing can only be cancelled',
  not_retriable: 'Only a finished mailing that failed for some people can be sent to them again',
  not_changeable: 'A mailing that is running or finished cannot be changed',
  payload_too_large: 'This is more than the service reads at once',
  not_found: 'There is no such record',
};
