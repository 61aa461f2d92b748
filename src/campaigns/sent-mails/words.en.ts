/** English: mails as sent. */

export const sentMails = {
  'sentMails.title': 'E-mail as sent',
  'sentMails.about': 'Exactly this e-mail was sent to this contact. Looking at it here does not count as an open.',
  'sentMails.back': 'Back to the e-mail',
  'sentMails.download': 'Download (.eml)',
  'sentMails.views': 'Views of the e-mail',
} as const;
