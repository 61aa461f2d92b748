/** The message: everything a mailing's recipients share is encoded once, so that a recipient costs a handful of joins. */
import type { Content } from '../content/compiled-content.ts';
import {
  CLICK_URL,
  escapeHtml,
  foldToOneLine,
  mergeText,
  OPEN_URL,
  PREFERENCES,
  resolve,
  type Slot,
  scan,
  type Template,
  type Values,
  WEB_COPY,
} from '../content/merge.ts';
import { dateField, mailboxField, plainField, unstructuredField } from './header-fields.ts';
import { MailData } from './mail-data.ts';
import { quotedPrintable } from './quoted-printable.ts';

/** What all messages of a mailing have in common besides their content. */
export interface MailingFacts {
  readonly from: { readonly name: string; readonly address: string };
  /** One address, or null to have replies go to the sender. */
  readonly replyTo: string | null;
  /** Values that are the same for everybody, such as `sender_address`. */
  readonly constants: Values;
  /** The mailing's List-ID (without brackets, RFC 2919) and Feedback-ID; null for a mail that is not a campaign's. */
  readonly bulk: { readonly listId: string; readonly feedbackId: string } | null;
}

export interface Recipient {
  readonly address: string;
  /** The display name; may be empty. */
  readonly name: string;
  readonly values: Values;
  /** Without its angle brackets. */
  readonly messageId: string;
  readonly date: Date;
  /** The recipient's own addresses, ASCII; null only for a mail that is not a campaign's. */
  readonly urls: RecipientUrls | null;
}

export interface RecipientUrls {
  readonly preferences: string;
  /** Takes the POST of RFC 8058. */
  readonly oneClick: string;
  readonly webCopy: string;
  readonly open: string;
  /** What comes before the number of a link. */
  readonly click: string;
}

/** Makes the encoded text that stands for one recipient at one place. */
type Encoder = (recipient: Recipient) => string;

/** A mailing's messages, ready but for what differs: `fixed[0]`, the encoder numbered `order[0]`, `fixed[1]` and so on. */
export interface Prepared {
  readonly fixed: readonly MailData[];
  readonly order: readonly number[];
  readonly encoders: readonly Encoder[];
}

// Quoted-printable never holds "=_", so the parts cannot hold the boundary (RFC 2045 §6.7).
const boundary = '=_sendlark';

/**
 * Encodes a mailing's messages once (RFC 5322, 2045, 2046, 8058).
 * @throws TypeError for facts that cannot stand in a header field, such as a sender that is not a plain address.
 */
export function prepare(content: Content, facts: MailingFacts): Prepared {
  const { from, replyTo, constants, bulk } = facts;
  const assembly = new Assembly();
  assembly.add(mailboxField('From', foldToOneLine(from.name), from.address));
  assembly.add(({ name, address }) => mailboxField('To', foldToOneLine(name), address));
  if (replyTo) assembly.add(mailboxField('Reply-To', '', replyTo));
  const subject = withConstants(scan(content.subject), constants, asIs);
  assembly.add(({ values }) => unstructuredField('Subject', foldToOneLine(mergeText(subject, values))));
  const dated = datedBySecond();
  assembly.add(({ date, messageId }) => `${dated(date)}${plainField('Message-ID', `<${messageId}>`)}`);
  if (bulk) {
    assembly.add((recipient) => plainField('List-Unsubscribe', `<${urlsOf(recipient).oneClick}>`));
    assembly.add('List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n');
    assembly.add(plainField('List-ID', `<${bulk.listId}>`) + plainField('Feedback-ID', bulk.feedbackId));
  } else {
    assembly.add('Auto-Submitted: auto-generated\r\n');
  }
  assembly.add(`MIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary="${boundary}"\r\n`);
  assembly.addPart('plain', withConstants(content.text, constants, asIs), asIs);
  assembly.addPart('html', withConstants(content.html, constants, escapeHtml), escapeHtml);
  assembly.add(`\r\n--${boundary}--\r\n`);
  return { ...assembly, fixed: assembly.fixed.map((piece) => MailData.of(piece)) };
}

/**
 * One recipient's message as it is sent: printable ASCII, lines of at most 998 characters, CRLF only.
 * @param target memory to write it to, if it is large enough: the result is then a view of it. Reusing memory halves
 * the cost and spares the collector.
 * @throws TypeError for an address that is not a plain one.
 */
export function render({ fixed, order, encoders }: Prepared, recipient: Recipient, target?: Buffer): MailData {
  return MailData.merged(
    fixed,
    encoders.map((encode) => encode(recipient)),
    order,
    target,
  );
}

/** The Date field, made once a second. */
function datedBySecond(): (date: Date) => string {
  let second = Number.NaN;
  let field = '';
  return (date) => {
    const now = Math.floor(date.getTime() / 1000);
    if (now !== second) field = dateField(date);
    second = now;
    return field;
  };
}

/** Collects a message's pieces; an encoder that stands in several places runs once per recipient. */
class Assembly {
  readonly fixed: string[] = [''];
  readonly order: number[] = [];
  readonly encoders: Encoder[] = [];

  add(piece: string | Encoder): void {
    if (typeof piece === 'string') this.fixed.push((this.fixed.pop() ?? '') + piece);
    else this.#place(this.encoders.push(piece) - 1);
  }

  addPart(subtype: 'plain' | 'html', template: Template, encode: (text: string) => string): void {
    this.add(`\r\n--${boundary}\r\nContent-Type: text/${subtype}; charset=utf-8\r\n`);
    this.add('Content-Transfer-Encoding: quoted-printable\r\n\r\n');
    const known = new Map<string, number>();
    for (const piece of template) {
      if (typeof piece === 'string') {
        this.add(quotedPrintable(piece));
        continue;
      }
      const key = JSON.stringify(piece);
      const number = known.get(key);
      if (number !== undefined) this.#place(number);
      else {
        known.set(key, this.encoders.length);
        this.add((recipient) => quotedPrintable(encode(resolve(piece, valueFor(piece, recipient)))));
      }
    }
  }

  #place(number: number): void {
    this.order.push(number);
    this.fixed.push('');
  }
}

function withConstants(template: Template, constants: Values, encode: (text: string) => string): Template {
  return template.map((piece) =>
    typeof piece === 'string' || !Object.hasOwn(constants, piece.name)
      ? piece
      : encode(resolve(piece, constants[piece.name])),
  );
}

function asIs(text: string): string {
  return text;
}

function valueFor({ name }: Slot, recipient: Recipient): string | undefined {
  switch (name) {
    case PREFERENCES:
      return urlsOf(recipient).preferences;
    case WEB_COPY:
      return urlsOf(recipient).webCopy;
    case OPEN_URL:
      return urlsOf(recipient).open;
    case CLICK_URL:
      return urlsOf(recipient).click;
    default:
      return recipient.values[name];
  }
}

function urlsOf({ urls }: Recipient): RecipientUrls {
  if (!urls) throw new TypeError('a campaign message needs its recipient addresses');
  return urls;
}
