/** English: a mail shown in a page. */

export const mailFrames = {
  'mail.note':
    'Images from your library are shown. Others load when you ask for them. Links do not work here, and nothing counts as an open.',
  'mail.images': 'Load images from other sites',
  'mail.desktop': 'Computer',
  'mail.phone': 'Phone',
  'mail.plainText': 'Plain text',
  'mail.noText': 'This e-mail has no plain-text version.',
  'mail.textCut': {
    one: 'The first character of {all}.',
    other: 'The first {count} characters of {all}.',
  },
} as const;
