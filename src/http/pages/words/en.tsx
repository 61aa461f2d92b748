/** English texts of public pages. */

/** The texts of a page with a single message. */
export interface Message {
  title: string;
  /** Set if it differs from the title. */
  heading?: string;
  /** One paragraph each. */
  text: readonly string[];
}

export const en = {
  messages: {
    unknownLink: {
      title: 'This link does not work',
      heading: 'This link no longer works',
      text: [
        'It is incomplete, was changed on its way, or belongs to an e-mail that we no longer keep. Please open the link in the newest e-mail you have from us.',
        'If you want no more mail from us, please reply to the e-mail and say so.',
      ],
    },
    unknownPage: {
      title: 'Page not found',
      text: ['There is no page at this address. If you came by a link, it may be incomplete.'],
    },
    busy: {
      title: 'Please try again in a moment',
      text: ['The service is busy and could not save this yet.'],
    },
    refused: {
      title: 'That did not work',
      text: ['Please open the page again.'],
    },
    failed: {
      title: 'Something went wrong',
      text: ['Nothing was changed. Please try again in a moment.'],
    },
    tooLarge: {
      title: 'This e-mail is too large',
      text: ['With the data of its recipient it is larger than 2 MB, so it cannot be shown.'],
    },
    linkTooLong: {
      title: 'This link is too long',
      text: ['With the data of the recipient its address has more than 8000 characters, so it cannot be opened.'],
    },
    outdatedLink: {
      title: 'This link does not work',
      text: ['It is incomplete, too old, or the sender was changed since. Ask for a new verification e-mail.'],
    },
    sharedCopy: {
      title: 'You can unsubscribe in the e-mail',
      text: [
        'You came from a copy of an e-mail in the browser. Such copies are passed on, so the link that unsubscribes is only in the e-mail itself. Please open the e-mail and use the link at its end, or the unsubscribe button of your e-mail program.',
      ],
    },
  } satisfies Record<string, Message>,
  preferences: {
    title: 'Your e-mail preferences',
    forAddress: (email: string) => `For ${email}`,
    question: 'What would you like to get?',
    own: 'The e-mail you came from is about this topic',
    save: 'Save my choices',
    noneTitle: 'No mail at all',
    noneAbout: (email: string) => `Unsubscribes ${email} from everything, now and in the future.`,
    none: 'Unsubscribe from all mail',
    getsNothing: (email: string) => `${email} gets no mail from us at all.`,
    back: 'Get mail again',
    saved: 'Your choices are saved.',
    tooOften:
      'You have changed your choices very often. You can still unsubscribe, but please wait an hour before you choose anything else.',
    unsubscribedAll: 'You will get no more mail from us.',
    subscribedAgain: 'Welcome back. Please check your choices below.',
    trackingTitle: 'Opens and clicks',
    trackingText:
      'We would like to record whether and when you open our e-mails and which links in them you follow, to see which e-mails are worth reading. You can change your mind at any time.',
    trackingOn: 'At the moment this is recorded.',
    trackingOff: 'At the moment this is not recorded.',
    trackingAllow: 'You may record it',
    trackingRefuse: 'Do not record it',
    trackingAllowed: 'Thank you. Your opens and clicks are recorded from the next e-mail on.',
    trackingRefused: 'Your opens and clicks are no longer recorded. Links in e-mails keep working.',
    unsubscribed: 'You are unsubscribed.',
    unsubscribedGroup: (group: string): string => `You are unsubscribed from “${group}”.`,
  },
  verify: {
    kind: 'Sender address',
    title: 'Confirm this address',
    somebody: 'Somebody wants to send mail from',
    warning: 'Confirm only if this mailbox is yours and you know about it. If not, close this page: nothing happens.',
    confirm: 'Yes, confirm this address',
    doneTitle: 'Address confirmed',
    done: (email: string) => (
      <>
        Mail can now be sent from <strong>{email}</strong>.
      </>
    ),
    close: 'You can close this page.',
  },
  archive: {
    title: 'Mail archive',
    untitled: 'Without a subject',
    older: 'Older e-mails',
    newer: 'Newer e-mails',
    pages: 'Pages',
    feed: 'Follow in a feed reader',
  },
  form: {
    email: 'E-mail address',
    fields: {
      first_name: 'First name',
      last_name: 'Last name',
      state: 'State',
      city: 'City',
      address_line1: 'Address',
      address_line2: 'Address, second line',
      state_province_region: 'State, province or region',
      postal_code: 'Postal code',
    },
    optional: 'optional',
    groups: 'What would you like to get?',
    privacy: 'Privacy policy',
    trap: 'Leave this field empty',
    faults: {
      required: 'Please fill this in.',
      invalid: 'Please check this.',
      long: 'This is too long.',
      email: 'Please enter a valid e-mail address.',
      consent: 'Please agree, so that we may write to you.',
    },
    faulty: 'Please check the marked fields.',
    again: 'One more step: please check what you filled in, and press the button.',
    busy: 'This form gets too many sign-ups at the moment. Please try again in an hour.',
    unproven:
      'To keep robots away, this form needs JavaScript at the moment. Please switch it on, or try again in an hour.',
    working: 'One moment, checking that you are not a robot …',
    confirmFor: (email: string) => (
      <>
        Do you want to subscribe <strong>{email}</strong>?
      </>
    ),
    filledIn: 'What was filled in',
    chosen: 'Chosen',
    confirm: 'Yes, subscribe me',
    notYou: 'If you did not ask for this, close this page: nothing happens.',
    toForm: 'Go to the form',
    suppressed: (contact: string): string =>
      `Your choice is saved, but this address gets no mail from us: it is on our suppression list, because an e-mail to it came back or was reported as spam.\nTo get mail again, write to ${contact} and ask for the address to be removed from that list.`,
  },
};
