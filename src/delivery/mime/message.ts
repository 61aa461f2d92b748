/** Builds messages. Everything that the recipients of a mailing share is encoded once, so that each recipient costs only a few joins. */
import type { Content } from '../content/compiled-content.ts';
import { AskedValues, type Condition, prepareCondition } from '../content/conditions.ts';
import { escapeHtml, foldToOneLine, mergeText, resolve, type Values } from '../content/merge.ts';
import {
  type Branches,
  branchesAt,
  CLICK_URL,
  OPEN_URL,
  type Placeholder,
  PREFERENCES,
  scan,
  type Template,
  WEB_COPY,
} from '../content/placeholders.ts';
import { MIXED_START } from './attachments.ts';
import { dateField, mailboxField, plainField, unstructuredField } from './header-fields.ts';
import { type FilledIn, MailData, MailForm } from './mail-data.ts';
import { MergedSize } from './merged-size.ts';
import { quotedPrintable } from './quoted-printable.ts';

/** The data that all messages of a mailing share, in addition to the content. */
export interface MailingFacts {
  readonly from: { readonly name: string; readonly address: string };
  /** The address for replies; null if replies go to the sender. */
  readonly replyTo: string | null;
  /** Values that are the same for all recipients, such as `sender_address`. */
  readonly constants: Values;
  /** The mailing's List-ID (without brackets, RFC 2919) and Feedback-ID; null for transactional mail. */
  readonly bulk: { readonly listId: string; readonly feedbackId: string } | null;
  /** The attachments, as `attachedParts` encodes them; null or absent if there are none. */
  readonly attached?: MailData | null;
}

export interface Recipient {
  readonly address: string;
  /** The display name; may be empty. */
  readonly name: string;
  readonly values: Values;
  /** The Message-ID without angle brackets. */
  readonly messageId: string;
  readonly date: Date;
  /** The recipient's personal URLs, in ASCII; null only for transactional mail. */
  readonly urls: RecipientUrls | null;
}

export interface RecipientUrls {
  readonly preferences: string;
  /** The URL for the POST request of RFC 8058. */
  readonly oneClick: string;
  readonly webCopy: string;
  readonly open: string;
  /** The click URL without the link number at its end. */
  readonly click: string;
}

/** Returns the encoded text for one recipient at one place. */
type Encoder = (recipient: Recipient) => FilledIn;

/**
 * A mailing's message, encoded except for the values that differ from recipient to recipient. Each value in the form is the result of the
 * encoder with the same number.
 */
export interface PreparedMessage {
  readonly form: MailForm;
  readonly encoders: readonly Encoder[];
  readonly size: MergedSize;
}

// Quoted-printable never contains "=_", so no part can contain the boundary (RFC 2045 §6.7).
const boundary = '=_sendlark';

/**
 * Encodes the shared part of a mailing's messages (RFC 5322, 2045, 2046, 8058).
 * @throws TypeError for facts that are not valid in a header field, such as a sender that is not a plain address.
 */
export function prepare(content: Content, facts: MailingFacts): PreparedMessage {
  const { from, replyTo, constants, bulk, attached = null } = facts;
  const assembly = new Assembly();
  assembly.add(mailboxField('From', foldToOneLine(from.name), from.address));
  assembly.add(({ name, address }) => mailboxField('To', foldToOneLine(name), address));
  if (replyTo) assembly.add(mailboxField('Reply-To', '', replyTo));
  const subject = withConstants(scan(content.subject), constants, identity);
  assembly.add(({ values }) => unstructuredField('Subject', foldToOneLine(mergeText(subject, values))));
  const dateOnce = cachedDateField();
  assembly.add(({ date, messageId }) => `${dateOnce(date)}${plainField('Message-ID', `<${messageId}>`)}`);
  if (bulk) {
    assembly.add((recipient) => plainField('List-Unsubscribe', `<${requireUrls(recipient).oneClick}>`));
    assembly.add('List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n');
    assembly.add(plainField('List-ID', `<${bulk.listId}>`) + plainField('Feedback-ID', bulk.feedbackId));
  } else {
    assembly.add('Auto-Submitted: auto-generated\r\n');
  }
  assembly.add(`MIME-Version: 1.0\r\n${attached === null ? '' : MIXED_START}`);
  assembly.add(`Content-Type: multipart/alternative; boundary="${boundary}"\r\n`);
  assembly.addPart('plain', withConstants(content.text, constants, identity), identity);
  assembly.addPart('html', withConstants(content.html, constants, escapeHtml), escapeHtml);
  assembly.add(`\r\n--${boundary}--\r\n`);
  const size = new MergedSize(content, constants);
  return {
    form: new MailForm(assembly.fixed, assembly.order, attached),
    encoders: assembly.encoders,
    size,
  };
}

/**
 * One recipient's message: printable ASCII in lines of at most 998 characters that end with CRLF.
 * @param target a buffer to write to if it is large enough; the result is then a view of it. Reusing a buffer halves the cost and saves
 * garbage collection.
 * @throws TypeError for an address that is not a plain one, and MergedTooLarge.
 */
export function render({ form, encoders, size }: PreparedMessage, recipient: Recipient, target?: Buffer): MailData {
  size.requireFits((name) => valueFor(name, recipient));
  return MailData.filled(
    form,
    encoders.map((encode) => encode(recipient)),
    target,
  );
}

/** Returns a function that writes the Date field, and builds it at most once per second. */
function cachedDateField(): (date: Date) => string {
  let second = Number.NaN;
  let field = '';
  return (date) => {
    const now = Math.floor(date.getTime() / 1000);
    if (now !== second) field = dateField(date);
    second = now;
    return field;
  };
}

const PERSONAL_URLS: readonly string[] = [PREFERENCES, WEB_COPY, OPEN_URL, CLICK_URL];

/**
 * Returns true if a placeholder stands for a personal URL of the recipient and nothing is added to it. The characters of such a URL need no
 * encoding for HTML.
 */
function isPersonalUrl({ name, place }: Placeholder): boolean {
  return PERSONAL_URLS.includes(name) && (place === 'text' || place === 'url-start');
}

/** Returns the encoder of a placeholder. If several recipients in a row have the same value, such as a country, it is encoded once. */
function valueEncoder(piece: Placeholder, encode: (text: string) => string): Encoder {
  const { name } = piece;
  if (isPersonalUrl(piece)) return (recipient) => quotedPrintable(valueFor(name, recipient) ?? '');
  let last: string | undefined;
  let encoded = quotedPrintable(encode(resolve(piece, last)));
  return (recipient) => {
    const value = valueFor(name, recipient);
    if (value !== last) encoded = quotedPrintable(encode(resolve(piece, value)));
    last = value;
    return encoded;
  };
}

/** Collects the pieces of a message. An encoder used in several places runs once for each recipient. */
class Assembly {
  readonly fixed: string[] = [''];
  readonly order: number[] = [];
  readonly encoders: Encoder[] = [];
  readonly conditions = new Conditions();
  /** The numbers of the encoders of personal URLs, by name. Both parts of the mail use the same encoders. */
  readonly #urlEncoders = new Map<string, number>();

  add(piece: string | Encoder): void {
    if (typeof piece === 'string') this.fixed.push((this.fixed.pop() ?? '') + piece);
    else this.#place(this.encoders.push(piece) - 1);
  }

  addPart(subtype: 'plain' | 'html', template: Template, encode: (text: string) => string): void {
    this.add(`\r\n--${boundary}\r\nContent-Type: text/${subtype}; charset=utf-8\r\n`);
    this.add('Content-Transfer-Encoding: quoted-printable\r\n\r\n');
    const known = new Map<string, number>();
    for (let at = 0; at < template.length; at++) {
      const piece = template[at] ?? '';
      if (typeof piece === 'string') {
        this.add(quotedPrintable(piece));
        continue;
      }
      const branches = branchesAt(template, at);
      if (branches !== null) {
        this.add(conditionalEncoder(branches, this.conditions, encode));
        at = branches.next - 1;
        continue;
      }
      const [encoders, key] = isPersonalUrl(piece) ? [this.#urlEncoders, piece.name] : [known, JSON.stringify(piece)];
      const number = encoders.get(key);
      if (number !== undefined) this.#place(number);
      else {
        encoders.set(key, this.encoders.length);
        this.add(valueEncoder(piece, encode));
      }
    }
  }

  #place(number: number): void {
    this.order.push(number);
    this.fixed.push('');
  }
}

/** The conditions of a mail. A condition is evaluated once for each recipient, even if the mail contains it several times. */
class Conditions {
  #recipient: Recipient | null = null;
  #values = new AskedValues(() => undefined);
  readonly #known = new Map<string, (recipient: Recipient) => boolean>();

  /** Returns a function that tells whether the condition holds for a recipient. */
  prepare(when: Condition): (recipient: Recipient) => boolean {
    const key = JSON.stringify(when);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const test = prepareCondition(when);
    let last: Recipient | null = null;
    let answer = false;
    const holds = (recipient: Recipient) => {
      if (recipient !== last) answer = test(this.#valuesOf(recipient));
      last = recipient;
      return answer;
    };
    this.#known.set(key, holds);
    return holds;
  }

  #valuesOf(recipient: Recipient): AskedValues {
    if (recipient !== this.#recipient) this.#values = new AskedValues((name) => valueFor(name, recipient));
    this.#recipient = recipient;
    return this.#values;
  }
}

/** Returns an encoder of the branch of a condition that the recipient gets. What all recipients of a branch share is encoded once. */
function conditionalEncoder(
  { when, ifTrue, ifFalse }: Branches,
  conditions: Conditions,
  encode: (text: string) => string,
): Encoder {
  const holds = conditions.prepare(when);
  const [whenTrue, whenFalse] = [ifTrue, ifFalse].map((branch) => branchEncoder(branch, conditions, encode));
  return (recipient) => (holds(recipient) ? whenTrue : whenFalse)?.(recipient) ?? '';
}

function branchEncoder(template: Template, conditions: Conditions, encode: (text: string) => string): Encoder {
  const parts: (string | Encoder)[] = [];
  for (let at = 0; at < template.length; at++) {
    const piece = template[at] ?? '';
    const branches = branchesAt(template, at);
    if (typeof piece === 'string') parts.push(quotedPrintable(piece));
    else if (branches === null) parts.push(valueEncoder(piece, encode));
    else {
      parts.push(conditionalEncoder(branches, conditions, encode));
      at = branches.next - 1;
    }
  }
  const [only = ''] = parts;
  if (parts.length <= 1 && typeof only === 'string') {
    const same = MailData.of(only);
    return () => same;
  }
  return (recipient) => parts.map((part) => textOf(typeof part === 'string' ? part : part(recipient))).join('');
}

function textOf(value: FilledIn): string {
  return typeof value === 'string' ? value : value.bytes.toString('latin1');
}

function withConstants(template: Template, constants: Values, encode: (text: string) => string): Template {
  return template.map((piece) =>
    typeof piece === 'string' || !Object.hasOwn(constants, piece.name)
      ? piece
      : encode(resolve(piece, constants[piece.name])),
  );
}

function identity(text: string): string {
  return text;
}

function valueFor(name: string, recipient: Recipient): string | undefined {
  switch (name) {
    case PREFERENCES:
      return requireUrls(recipient).preferences;
    case WEB_COPY:
      return requireUrls(recipient).webCopy;
    case OPEN_URL:
      return requireUrls(recipient).open;
    case CLICK_URL:
      return requireUrls(recipient).click;
    default:
      return recipient.values[name];
  }
}

function requireUrls({ urls }: Recipient): RecipientUrls {
  if (!urls) throw new TypeError('a campaign message needs its recipient addresses');
  return urls;
}
