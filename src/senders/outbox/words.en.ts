/** English: the test outbox. */

export const outbox = {
  'testMode.title': 'Test mode: nobody receives your e-mail',
  'testMode.connect': 'Connect an SMTP server',
  'testMode.ask': 'Whoever runs Sendlark here (an owner of its first account) can connect an SMTP server.',
  'outbox.kept': {
    one: '{count} e-mail was kept in the test outbox.',
    other: '{count} e-mails were kept in the test outbox.',
  },
  'outbox.about': 'There is no SMTP server, so mail is kept here instead of being sent: the newest {count} e-mails.',
  'outbox.empty.title': 'No e-mails yet',
  'outbox.empty.text':
    'Without an SMTP server, every e-mail is kept here exactly as it would have been sent. Nothing leaves Sendlark.',
  'outbox.relay.title': 'Mail is sent by your SMTP server',
  'outbox.relay.text': 'Mail is sent through your SMTP server and is not kept here.',
  'outbox.search': 'Sender, recipient or subject',
  'outbox.none': 'No e-mail matches.',
  'outbox.noSubject': 'No subject',
  'outbox.from': 'From',
  'outbox.to': 'To',
  'outbox.time': 'Time',
  'outbox.views': 'The e-mail as',
  'outbox.view.look': 'Preview',
  'outbox.view.text': 'Text',
  'outbox.view.headers': 'Headers',
  'outbox.view.source': 'Source',
  'outbox.view.links': 'Links',
  'outbox.view.check': 'Check',
  'outbox.hidden':
    'Links that change something for the recipient, such as the unsubscribe link, do not work here, because your role is read-only.',
  'outbox.webCopy': 'Web version',
  'outbox.note': 'Links lead where they do in the e-mail, each in a new tab.',
  'outbox.be.title': 'Try the e-mail as this recipient',
  'outbox.be.text':
    'Open the e-mail, click its links and unsubscribe as {to} would. Everything counts as theirs: a moment later it is in the report and in the contact’s timeline.',
  'outbox.be.open': 'Open as the recipient',
  'outbox.be.opened': 'This counts as an open: all its images were loaded, as an e-mail program does.',
  'outbox.be.leave': 'Unsubscribe',
  'outbox.be.report': 'Open the report',
  'outbox.be.contact': 'Open the contact',
  'outbox.header': 'Header',
  'outbox.value': 'Value',
  'outbox.noLinks': 'This e-mail has no links.',
  'outbox.linkText': 'Shown as',
  'outbox.linkBare': 'no text',
  'outbox.linkUrl': 'Leads to',
  'outbox.check.good': 'Good',
  'outbox.check.look': 'Please check',
  'outbox.check.size': 'The HTML is {size}. Gmail shows the first {limit} and hides the rest.',
  'outbox.check.unsubscribe.good': 'E-mail programs can offer one-click unsubscribe.',
  'outbox.check.unsubscribe.bad': 'The header for one-click unsubscribe is missing. Gmail and Yahoo require it.',
  'outbox.check.plainText.good': 'There is a plain-text version.',
  'outbox.check.plainText.bad': 'There is no plain-text version. Some spam filters dislike that.',
  'outbox.check.language.good': 'The e-mail says its language, so screen readers pronounce it well.',
  'outbox.check.language.bad':
    'The e-mail does not say its language, so screen readers may mispronounce it. In your own HTML, add lang to the html tag, as in <html lang="en">.',
  'outbox.check.images.good': 'Every image has alternative text.',
  'outbox.check.images.bad': {
    one: '{count} image has no alternative text.',
    other: '{count} images have no alternative text.',
  },
  'outbox.check.links.good': 'Every link can be read aloud.',
  'outbox.check.links.bad': {
    one: '{count} link has no text that can be read aloud.',
    other: '{count} links have no text that can be read aloud.',
  },
  'outbox.check.contrast.good': 'Text has enough contrast with its background.',
  'outbox.check.contrast.bad': {
    one: '{count} text has too little contrast with its background.',
    other: '{count} texts have too little contrast with their background.',
  },
  'outbox.check.clippedUnsubscribe.good': 'Gmail does not cut off the unsubscribe link.',
  'outbox.check.clippedUnsubscribe.bad':
    'Gmail cuts off the unsubscribe link, because it comes after the first 102 kB. Shorten the e-mail.',
  'outbox.check.clippedPixel.good': 'Gmail does not cut off the tracking pixel, which counts opens.',
  'outbox.check.clippedPixel.bad':
    'Gmail cuts off the tracking pixel, which counts opens, because it comes after the first 102 kB. Shorten the e-mail.',
  'outbox.check.imagesOnly.good': 'The e-mail can be read without its images.',
  'outbox.check.imagesOnly.bad':
    'The e-mail says hardly anything without its images, which many e-mail programs do not load.',
  'outbox.check.headings.good': 'No heading is empty or skips a level, such as from heading 1 to heading 3.',
  'outbox.check.headings.bad': {
    one: '{count} heading is empty or skips a level, such as from heading 1 to heading 3.',
    other: '{count} headings are empty or skip a level, such as from heading 1 to heading 3.',
  },
  'outbox.check.examples.good': 'No link leads to an example address.',
  'outbox.check.examples.bad': {
    one: '{count} link leads to an example address: {names}',
    other: '{count} links lead to example addresses: {names}',
  },
  'outbox.check.http.good': 'Every link is encrypted (https).',
  'outbox.check.http.bad': {
    one: '{count} link is not encrypted (http): {names}',
    other: '{count} links are not encrypted (http): {names}',
  },
  'outbox.check.spamWords.good': 'The e-mail has no word from the usual lists of spam words.',
  'outbox.check.spamWords.bad': {
    one: '{count} word is on lists of spam words: {names}. The number is its weight there, from 1 to 3. Such words matter little: mail providers look at complaints and authentication.',
    other:
      '{count} words are on lists of spam words: {names}. The numbers are their weights there, from 1 to 3. Such words matter little: mail providers look at complaints and authentication.',
  },
  'outbox.check.oneClick.good': 'The headers allow one-click unsubscribe.',
  'outbox.check.oneClick.bad': {
    one: 'Gmail and Yahoo require one-click unsubscribe. This header is missing or wrong: {names}',
    other: 'Gmail and Yahoo require one-click unsubscribe. These headers are missing or wrong: {names}',
  },
  'outbox.check.freemail.good': 'The sender has a domain of its own.',
  'outbox.check.freemail.bad': {
    one: 'The sender is an address at {names}. Such mail fails DMARC, so mail providers refuse it or file it as spam. Use an address of your own domain.',
    other:
      'The sender is an address at {names}. Such mail fails DMARC, so mail providers refuse it or file it as spam. Use an address of your own domain.',
  },
  'outbox.check.signature.good': 'A DKIM signature of the sender’s domain is there, as DMARC requires.',
  'outbox.check.signature.bad': {
    one: 'There is no DKIM signature that DMARC accepts for {names}. Gmail, Yahoo and Microsoft require one from large senders. See Settings › Senders.',
    other:
      'There is no DKIM signature that DMARC accepts for {names}. Gmail, Yahoo and Microsoft require one from large senders. See Settings › Senders.',
  },
  'outbox.check.headers.good': 'Every required header is there once.',
  'outbox.check.headers.bad': {
    one: 'This header has to be there exactly once: {names}',
    other: 'These headers have to be there exactly once: {names}',
  },
} as const;
