/**
 * Computes the size of a mail with one contact's values. It is computed before anything is merged, because a template may repeat a long
 * value any number of times.
 */
import { sentence } from '../../errors/sentences.ts';
import { MEBIBYTE } from '../../units.ts';
import { type Content, ContentError } from '../content/compiled-content.ts';
import { escapeHtml, mergeLine, resolve, type Values } from '../content/merge.ts';
import { type Placeholder, scan, type Template } from '../content/placeholders.ts';
import { unstructuredField } from './header-fields.ts';
import { quotedPrintable } from './quoted-printable.ts';

/** The maximum length of a merged subject in characters, which is the maximum length of a line in a mail (RFC 5322 2.1.1). */
const MAX_SUBJECT = 998;
/** The maximum size of a merged mail in characters. The template counts as written, values count as encoded. */
export const MAX_MERGED = 2 * MEBIBYTE;
/** The number of characters that values may add even if the template alone is nearly as large as the maximum, or larger. */
const MIN_ROOM = MEBIBYTE / 4;
/**
 * The maximum number of characters that one character of a value becomes: three bytes of UTF-8, each written as `=XX` or `%XX`, and line
 * breaks between them.
 */
const MAX_EXPANSION = 10;
/** The maximum number of characters added once for each place of a value, such as `https://` or the frame of an encoded word. */
const PER_PLACE = 40;

/** Thrown if the recipient's values make the mail too large. The message explains it to the owner. */
export class MergedTooLarge extends ContentError {
  override name = 'MergedTooLarge';

  constructor(part: 'mail' | 'subject') {
    super(
      part === 'mail'
        ? sentence('merged_too_large', { size: MAX_MERGED / MEBIBYTE })
        : sentence('merged_subject_too_long', { count: MAX_SUBJECT }),
    );
  }
}

/** All places of one placeholder with the same context. */
interface PlaceholderUse {
  readonly placeholder: Placeholder;
  readonly encode: (text: string) => string;
  times: number;
  /** The total length of the encoded defaults, which differ from place to place. */
  defaults: number;
}

/**
 * The sizes that all mails of one content share. They are computed once for each mailing, so that a recipient costs one multiplication per
 * placeholder.
 */
export class MergedSize {
  readonly #subject: string;
  readonly #subjectParts: Template;
  readonly #constantValues: Values;
  readonly #uses: readonly PlaceholderUse[];
  /** The number of characters between the placeholders. */
  readonly #templateCharacters: number;
  /** The number of characters added by values that are the same for all recipients. */
  readonly #constantCharacters: number;

  /** @param constants values that are the same for all recipients. */
  constructor({ subject, html, text }: Pick<Content, 'subject' | 'html' | 'text'>, constants: Values = {}) {
    this.#subject = subject;
    this.#subjectParts = scan(subject);
    this.#constantValues = constants;
    const parts = [
      placeholderUses(this.#subjectParts, (value) => unstructuredField('', value)),
      placeholderUses(html, (value) => quotedPrintable(escapeHtml(value))),
      placeholderUses(text, quotedPrintable),
    ];
    const uses = parts.flatMap((part) => part.uses);
    const isConstant = ({ placeholder }: PlaceholderUse) => Object.hasOwn(constants, placeholder.name);
    this.#templateCharacters = parts.reduce((sum, { characters }) => sum + characters, 0);
    this.#constantCharacters = uses
      .filter(isConstant)
      .reduce((sum, use) => sum + mergedLength(use, constants[use.placeholder.name]), 0);
    this.#uses = uses.filter((use) => !isConstant(use));
  }

  /**
   * Throws MergedTooLarge if the mail with these values would have more than 2 MiB, or its subject more than 998 characters. The values may
   * add `leastRoom` characters even if the template alone is nearly too large.
   */
  requireFits(find: (name: string) => string | undefined, leastRoom = MIN_ROOM): void {
    const room = Math.max(MAX_MERGED - this.#templateCharacters, leastRoom);
    let upperBound = this.#constantCharacters;
    for (const { placeholder, times, defaults } of this.#uses) {
      const value = find(placeholder.name);
      upperBound +=
        typeof value === 'string' && value !== '' ? times * (value.length * MAX_EXPANSION + PER_PLACE) : defaults;
    }
    if (upperBound > room && this.#isLarger(room, find)) throw new MergedTooLarge('mail');
    if (this.#isSubjectTooLong(find)) throw new MergedTooLarge('subject');
  }

  /** Returns true if the merged subject is too long. The subject is merged only if the total length of its parts is too large. */
  #isSubjectTooLong(find: (name: string) => string | undefined): boolean {
    const values: Record<string, string> = Object.create(null);
    let characters = 0;
    for (const piece of this.#subjectParts) {
      if (typeof piece !== 'string') {
        const { name } = piece;
        const value = Object.hasOwn(this.#constantValues, name) ? this.#constantValues[name] : find(name);
        if (value !== undefined) values[name] = value;
        characters += resolve(piece, value).length;
      } else characters += piece.length;
    }
    return characters > MAX_SUBJECT && mergeLine(this.#subject, values).length > MAX_SUBJECT;
  }

  /** Returns true if the values add more characters than there is room for. Each value is encoded once, until the room is used up. */
  #isLarger(room: number, find: (name: string) => string | undefined): boolean {
    let sum = this.#constantCharacters;
    return (
      sum > room ||
      this.#uses.some((use) => {
        sum += mergedLength(use, find(use.placeholder.name));
        return sum > room;
      })
    );
  }
}

/** Returns the number of characters in all places of a placeholder with this value. */
function mergedLength({ placeholder, encode, times, defaults }: PlaceholderUse, value: string | undefined): number {
  return typeof value === 'string' && value !== '' ? times * encode(resolve(placeholder, value)).length : defaults;
}

function placeholderUses(
  template: Template,
  encode: PlaceholderUse['encode'],
): { uses: PlaceholderUse[]; characters: number } {
  const uses = new Map<string, PlaceholderUse>();
  let characters = 0;
  for (const piece of template) {
    if (typeof piece === 'string') {
      characters += piece.length;
      continue;
    }
    const key = `${piece.place} ${piece.name}`;
    const use = uses.get(key) ?? { placeholder: piece, encode, times: 0, defaults: 0 };
    uses.set(key, use);
    use.times++;
    use.defaults += encode(resolve(piece, undefined)).length;
  }
  return { uses: [...uses.values()], characters };
}
