/** English: mails as sent. */

export const sentMails = {
  'sentMails.title': 'Mail as sent',
  'sentMails.about': 'Exactly this mail was sent to this contact. Looking at it here does not count as an open.',
  'sentMails.back': 'Back to the mail',
  'sentMails.download': 'Download (.eml)',
  'sentMails.views': 'Views of the mail',
} as const;
