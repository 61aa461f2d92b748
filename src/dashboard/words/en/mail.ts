/** English: a mail shown in a page. */

export const mail = {
  'mail.note':
    'Pictures of your library are shown; those from elsewhere are not loaded unless you ask for them, and links lead nowhere. Nothing here counts as an open.',
  'mail.images': 'Load images from other sites',
  'mail.desktop': 'On a desk',
  'mail.phone': 'On a phone',
  'mail.plainText': 'Plain text',
  'mail.noText': 'This mail has no plain text.',
  'mail.textCut': {
    one: 'The first character of {all}.',
    other: 'The first {count} characters of {all}.',
  },
} as const;
