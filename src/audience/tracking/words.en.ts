/** English: what is learnt of opens and clicks. */
export const tracking = {
  'settings.tracking': 'Opens and clicks',
  'tracking.question': 'What do you want to learn of opens and clicks?',
  'tracking.off': 'Nothing',
  'tracking.off.text': 'Mails have no pixel, and their links lead straight to where they go.',
  'tracking.totals': 'Only how many there were',
  'tracking.totals.text': 'The pixel and the links are the same for everybody. Nothing is stored that says who it was.',
  'tracking.person': 'Who opened and clicked',
  'tracking.person.text': 'Of everybody, except people who refuse it on the page of their choices.',
  'tracking.consent': 'Who opened and clicked, of those who allow it',
  'tracking.consent.text':
    'People allow it on the page of their choices. Everybody else gets mails without a pixel, with links that lead straight to where they go.',
  'tracking.about':
    'Your choice holds at once: for mails that leave from now on, and for opens and clicks of mails that people have already.',
  'tracking.save': 'Save',
} as const;
