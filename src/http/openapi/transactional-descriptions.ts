/** Descriptions of the fields of transactional mail. */

/** By name, or by `Schema.name`, as in descriptions.ts. */
export const TRANSACTIONAL_DESCRIPTIONS = {
  'PostTransactionalSendBody.sender_id': 'Id of the sender, from the list of senders.',
  'PostTransactionalSendBody.email': 'The one recipient.',
  'PostTransactionalSendBody.template_id': 'Id of a template, built-in or of your own; 0 or 1 for none.',
  'PostTransactionalSendAnswer.utr': 'UUID of the mail; the same for a repeated request.',
  'TransactionalMail.email': "The recipient's address, as it was given.",
  'TransactionalMail.name': "The recipient's name.",
  'TransactionalMail.subject': 'The subject with its values.',
  'TransactionalMail.attachments': 'The files that went with it.',
  'TransactionalMail.file_name': 'The name that the file has in the mail.',
  'TransactionalMail.type': 'Its media type.',
  'TransactionalMail.size': 'Its size in bytes.',
  'TransactionalMail.message_id': 'Its Message-ID without the angle brackets, the same at every try.',
  'TransactionalMail.state': 'What became of it: queued and sending are not final.',
  'TransactionalMail.attempts': 'How often it was handed to the relay.',
  'TransactionalMail.reply': "The server's reply, or why there was no mail; null before.",
  'TransactionalMail.next_try_at': 'When it is tried again, UTC; null unless it waits for that.',
  'TransactionalMail.complained_at': 'When its recipient complained, UTC; null when they did not.',
  'GetTransactionalDetailsAnswer.mail': 'The mail.',
  'GetTransactionalListAnswer.mails': 'The mails, the newest first.',
  'GetTransactionalListAnswer.next_before_id': 'The before_id of the next page; null at the end.',
};
