/** English: the settings for the check, the language and the links of mails, and for keeping mails as they were sent. */

export const mailSettings = {
  'settings.mails': 'E-mail checks & links',
  'settings.done.mailsSaved': 'Saved. The change applies to campaigns that start from now on.',
  'settings.done.sentMailsSaved': 'Saved. The change applies to e-mails that are sent from now on.',
  'mailSettings.save': 'Save',
  'mailSettings.check.title': 'Check before sending',
  'mailSettings.check.about':
    'Every campaign is checked when it starts, and its report shows what was found. A campaign sent from the dashboard is never stopped by this.',
  'mailSettings.check.stops': 'Stop a campaign that another program sends (API) if the check finds an error',
  'mailSettings.language.title': 'Language',
  'mailSettings.language.about':
    'The language of your e-mails. If a campaign has versions in several languages, contacts whose language is unknown get this one.',
  'mailSettings.links.title': 'Link parameters (UTM)',
  'mailSettings.links.about':
    'Web statistics such as Google Analytics use these parameters to tell which visits came from a campaign. Links that already have such parameters, links that would break if changed, and links to Sendlark’s own pages stay as they are. Reports show links without them.',
  'mailSettings.links.source.hint': 'Such as newsletter. Empty: links get no parameters.',
  'mailSettings.sent.about':
    'Sendlark can keep each e-mail for 90 days, so that you can see and download it exactly as it was sent to a contact. For e-mails of campaigns and automations, Sendlark then stores the values of the contact that are in the e-mail; for transactional e-mails, all of the text and the links, even links to sign in. Everything is deleted after 90 days, or when the contact is deleted permanently.',
  'mailSettings.sent.keep': 'Keep e-mails for 90 days, as they were sent',
} as const;
