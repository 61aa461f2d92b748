/** The expected result for each mail of the corpus, derived from the RFCs and not from the parser's output. */

export interface Expected {
  kind: 'status' | 'complaint' | 'auto-reply' | 'unknown';
  /** The number of the delivery whose return path the mail came to; null: forged. */
  delivery: number | null;
  from?: string;
  /** `kind recipient status verdict` of each recipient. */
  recipients?: string[];
  verdict?: string | null;
  reason?: string;
  /** Part of the first diagnostic. */
  diagnostic?: string;
  encloses?: boolean;
}

const NO_ADDRESS = 'The address does not exist.';

export const expected: Readonly<Record<string, Expected>> = {
  'postfix-user-unknown': {
    kind: 'status',
    delivery: 101,
    recipients: ['failed gull@pier.example 5.1.1 bounce'],
    verdict: 'bounce',
    reason: NO_ADDRESS,
    diagnostic: '550 5.1.1 ‹gull@pier.example›: Recipient address rejected: User unknown in virtual mailbox table',
    encloses: true,
  },
  'postfix-delayed': {
    kind: 'status',
    delivery: 102,
    recipients: ['delayed tern@shoal.example 4.4.1 null'],
    verdict: null,
    encloses: true,
  },
  'postfix-given-up': {
    kind: 'status',
    delivery: 103,
    recipients: ['failed tern@shoal.example 4.4.1 failed'],
    verdict: 'failed',
    reason: 'The receiving server could not be reached.',
    encloses: true,
  },
  'postfix-delivered': {
    kind: 'status',
    delivery: 104,
    recipients: ['delivered skua@pier.example 2.0.0 null'],
    verdict: null,
  },
  'exim-status': {
    kind: 'status',
    delivery: 105,
    recipients: ['failed eider@cove.example 5.0.0 bounce'],
    verdict: 'bounce',
    encloses: true,
  },
  'exim-plain': {
    kind: 'status',
    delivery: 106,
    recipients: ['failed puffin@cove.example 5.1.1 bounce', 'failed auk@cove.example 5.2.1 bounce'],
    verdict: 'bounce',
    diagnostic: '550 5.1.1 ‹puffin@cove.example›: user unknown',
  },
  'exchange-user-unknown': {
    kind: 'status',
    delivery: 107,
    recipients: ['failed pilot@harbourmaster.example 5.1.1 bounce'],
    verdict: 'bounce',
    encloses: true,
  },
  'microsoft365-recipient-not-found': {
    kind: 'status',
    delivery: 108,
    recipients: ['failed purser@ferry.example 5.1.10 bounce'],
    verdict: 'bounce',
    reason: NO_ADDRESS,
    encloses: true,
  },
  'microsoft365-directory-check': {
    kind: 'status',
    delivery: 109,
    recipients: ['failed bosun@ferry.example 5.4.1 bounce'],
    verdict: 'bounce',
    reason: NO_ADDRESS,
    encloses: true,
  },
  'microsoft365-policy': {
    kind: 'status',
    delivery: 110,
    recipients: ['failed purser@ferry.example 5.7.1 failed'],
    verdict: 'failed',
    reason: 'The receiving server refuses the e-mail by its rules: because of reputation, authentication or content.',
  },
  'gmail-no-such-user': {
    kind: 'status',
    delivery: 111,
    recipients: ['failed stoker@webmail.example 5.1.1 bounce'],
    verdict: 'bounce',
    encloses: true,
  },
  'gmail-mailbox-full': {
    kind: 'status',
    delivery: 112,
    recipients: ['failed stoker@webmail.example 5.2.2 failed'],
    verdict: 'failed',
    reason: 'The mailbox is full.',
    encloses: true,
  },
  'qmail-failure-notice': {
    kind: 'status',
    delivery: 113,
    recipients: ['failed keeper@lighthouse.example 5.1.1 bounce'],
    verdict: 'bounce',
    diagnostic: 'Sorry, no mailbox here by that name. (#5.1.1)',
  },
  'qmail-remote-refusal': {
    kind: 'status',
    delivery: 114,
    recipients: ['failed lamp@rock.example 5.7.1 failed'],
    verdict: 'failed',
  },
  'yahoo-no-account': {
    kind: 'status',
    delivery: 140,
    recipients: ['failed heron@lagoon.example null bounce'],
    verdict: 'bounce',
    reason: NO_ADDRESS,
    diagnostic: "This user doesn't have a lagoon.example account",
  },
  'yahoo-over-quota': {
    kind: 'status',
    delivery: 141,
    recipients: ['failed egret@lagoon.example null failed'],
    verdict: 'failed',
    reason: 'The mailbox is full.',
  },
  'ses-bounce': {
    kind: 'status',
    delivery: 115,
    recipients: ['failed cook@galley.example 5.1.1 bounce'],
    verdict: 'bounce',
    encloses: true,
  },
  'ses-complaint': {
    kind: 'complaint',
    delivery: 116,
    from: 'complaints@cloudmail.example',
    recipients: ['cross@webmail.example'],
    encloses: true,
  },
  'complaint-redacted': {
    kind: 'complaint',
    delivery: 117,
    from: 'feedback@bigpost.example',
    recipients: [],
    encloses: true,
  },
  'feedback-not-spam': { kind: 'unknown', delivery: 118, from: 'feedback@bigpost.example' },
  'several-recipients': {
    kind: 'status',
    delivery: 119,
    recipients: [
      'failed old-member@club.example 5.1.1 bounce',
      'delivered new-member@club.example 2.1.5 null',
      'relayed far-member@island.example 2.1.9 null',
      'expanded list@club.example 2.1.5 null',
      'delayed slow-member@shoal.example 4.4.1 null',
    ],
    verdict: 'failed',
    encloses: true,
  },
  'no-enhanced-code': {
    kind: 'status',
    delivery: 120,
    recipients: ['failed captain@oldpost.example 5.0.0 bounce'],
    verdict: 'bounce',
    reason: NO_ADDRESS,
  },
  'no-enhanced-code-unclear': {
    kind: 'status',
    delivery: 121,
    recipients: ['failed captain@oldpost.example 5.0.0 failed'],
    verdict: 'failed',
    reason: 'The receiving server refused the e-mail.',
  },
  internationalized: {
    kind: 'status',
    delivery: 122,
    recipients: ['failed möwe@küste.example 5.1.1 bounce'],
    verdict: 'bounce',
    encloses: true,
  },
  vacation: { kind: 'auto-reply', delivery: 123 },
  'out-of-office-like-a-bounce': { kind: 'auto-reply', delivery: 124 },
  'read-receipt': { kind: 'auto-reply', delivery: 125 },
  'markup-in-diagnostic': {
    kind: 'status',
    delivery: 126,
    recipients: ['failed "‹svg/onload=alert(2)›"@wreck.example 5.1.1 bounce'],
    verdict: 'bounce',
    diagnostic: '550 5.1.1 ‹script›fetch(',
  },
  'forged-return-path': {
    kind: 'status',
    delivery: null,
    recipients: ['failed rival@wreck.example 5.1.1 bounce'],
    verdict: 'bounce',
  },
  'person-writes-back': { kind: 'unknown', delivery: 128, from: 'reader@quay.example' },
  'forwarded-bounce': { kind: 'unknown', delivery: 129, from: 'reader@quay.example' },
};
