/** English: mails as sent. */

export const sentMails = {
  'sentMails.title': 'Mail as sent',
  'sentMails.about': 'These are the exact bytes that were sent to this contact. Looking at them counts as no open.',
  'sentMails.download': 'Download (.eml)',
  'sentMails.views': 'Views of the mail',
} as const;
