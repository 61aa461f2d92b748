/**
 * Conditions in mails: `((if plan = "pro"))…((else))…((end))`. They compare the values of merge tags as the rules of segments do, and are
 * parsed once for each mailing.
 */
import { TOPIC } from '../../audience/contacts/contact-fields.ts';
import { fold } from '../../database/functions/fold.ts';
import { type Sentence, sentence } from '../../errors/sentences.ts';

/** The operators, named as in the rules of segments. */
const OPERATORS = [
  'is',
  'is not',
  'contains',
  'does not contain',
  'starts with',
  'ends with',
  'is greater than',
  'is less than',
  'is equal or greater than',
  'is equal or less than',
  'is blank',
  'is not blank',
] as const;
type Operator = (typeof OPERATORS)[number];

/** Compares the value of one merge tag. */
interface Rule {
  readonly name: string;
  readonly operator: Operator;
  /** The value to compare with; empty for `is blank` and `is not blank`. */
  readonly operand: string;
}

/** A condition as plain data. */
export interface Condition {
  /** True if one rule that holds is enough; false if all rules must hold. */
  readonly any: boolean;
  readonly rules: readonly Rule[];
}

/** The maximum number of rules in one condition. */
const MAX_RULES = 10;
/** The maximum depth of conditions within conditions. */
export const MAX_DEPTH = 3;
/** The maximum number of rules in all conditions of a text, because each rule may be evaluated for every recipient. */
export const MAX_TEXT_RULES = 500;

const SYMBOLS: Readonly<Record<string, Operator>> = {
  '=': 'is',
  '!=': 'is not',
  '>': 'is greater than',
  '<': 'is less than',
  '>=': 'is equal or greater than',
  '<=': 'is equal or less than',
};

// Every repetition is bounded and no two can match the same text, so that hostile input takes only linear time.
const NAME = /[ \t]*(\w{1,255})/y;
const SYMBOL = /[ \t]*(!=|>=|<=|=|>|<)/y;
const WORDS = new RegExp(
  `[ \\t]+(${[...OPERATORS]
    .sort((one, other) => other.length - one.length)
    .join('|')
    .replaceAll(' ', '[ \\t]+')})(?!\\w)`,
  'iy',
);
const OPERAND = /[ \t]*(?:"([^"]*)"|'([^']*)'|[\u201c\u201e\u201d]([^\u201c\u201e\u201d]*)[\u201c\u201d]|([\w.+-]+))/y;
const JOINT = /[ \t]+(and|or)(?!\w)/iy;

/** Parses the plain text that follows `if`. Returns the condition, or the first fault in it and the position of the fault. */
export function parseCondition(condition: string): Condition | { fault: Sentence; at: number } {
  // Editors often insert a non-breaking space for a typed space.
  const written = condition.replaceAll('\u00a0', ' ');
  let at = 0;
  const next = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(written);
    if (match !== null) at = pattern.lastIndex;
    return match;
  };
  const rules: Rule[] = [];
  let joint: string | null = null;
  for (;;) {
    const name = next(NAME)?.[1];
    if (name === undefined) return { fault: sentence('condition_no_name'), at };
    const symbol = next(SYMBOL)?.[1];
    const words = symbol === undefined ? next(WORDS)?.[1] : undefined;
    const operator = symbol === undefined ? operatorOf(words) : SYMBOLS[symbol];
    // A name without an operator asks whether the merge tag has a value.
    if (operator === undefined || operator === 'is blank' || operator === 'is not blank')
      rules.push({ name, operator: operator ?? 'is not blank', operand: '' });
    else {
      const operand = next(OPERAND)
        ?.slice(1)
        .find((text) => text !== undefined);
      if (operand === undefined) return { fault: sentence('condition_no_value', { after: symbol ?? words ?? '' }), at };
      rules.push({ name, operator, operand });
    }
    if (rules.length > MAX_RULES) return { fault: sentence('condition_many_rules', { count: MAX_RULES }), at };
    if (written.slice(at).trim() === '') return { any: joint === 'or', rules };
    const before = at;
    const word = next(JOINT)?.[1]?.toLowerCase();
    if (word === undefined)
      return { fault: sentence('condition_unclear', { text: written.slice(before).trim().slice(0, 40) }), at: before };
    if (joint !== null && joint !== word) return { fault: sentence('condition_mixed'), at: before };
    joint = word;
  }
}

function operatorOf(words: string | undefined): Operator | undefined {
  const plain = words?.toLowerCase().replaceAll(/[ \t]+/g, ' ');
  return OPERATORS.find((operator) => operator === plain);
}

/** Finds the value of a merge tag; undefined or empty if there is none. */
export type FindValue = (name: string) => string | undefined;

/** Values up to this number of characters are folded again for each rule, because looking up a kept value would cost more. */
const MAX_SHORT_CHARACTERS = 100;

/** The values of one contact as conditions compare them. A long value is folded at most once, and only if a rule compares it. */
export class AskedValues {
  readonly #find: FindValue;
  readonly #compared = new Map<string, Compared>();

  constructor(find: FindValue) {
    this.#find = find;
  }

  /** Returns the value of a merge tag; empty if there is none. */
  value(name: string): string {
    const value = this.#find(name);
    // On a plain object, a name like `constructor` finds an inherited member, which is not a string.
    return typeof value === 'string' ? value : '';
  }

  /** Returns the value of a merge tag as rules compare it. */
  compared(name: string): Compared {
    const value = this.value(name);
    if (value.length <= MAX_SHORT_CHARACTERS) return new Compared(fold(value));
    const known = this.#compared.get(name) ?? new Compared(fold(value));
    this.#compared.set(name, known);
    return known;
  }
}

/** A folded value, as rules compare it. */
class Compared {
  readonly text: string;
  #number: number | null | undefined;

  constructor(text: string) {
    this.text = text;
  }

  /** The value as a number; null if it is not a number. It is parsed only when a rule needs it. */
  get number(): number | null {
    if (this.#number === undefined) this.#number = numberOf(this.text);
    return this.#number;
  }
}

type Test = (values: AskedValues) => boolean;

/** The prepared tests. They are kept because a mailing evaluates the same condition for each of its recipients. */
const prepared = new WeakMap<Condition, Test>();

/** Prepares a condition for many contacts. Returns a test that takes the values of one contact. */
export function prepareCondition(condition: Condition): Test {
  const known = prepared.get(condition);
  if (known !== undefined) return known;
  const tests = condition.rules.map(prepareRule);
  const test: Test = condition.any
    ? (values) => tests.some((test) => test(values))
    : (values) => tests.every((test) => test(values));
  prepared.set(condition, test);
  return test;
}

/** Prepares a rule. A merge tag without a value is blank: `is` and `contains` are false for it, and their negations are true. */
function prepareRule({ name, operator, operand }: Rule): Test {
  if (operator === 'is blank') return (values) => values.value(name) === '';
  if (operator === 'is not blank') return (values) => values.value(name) !== '';
  const wanted = fold(operand);
  const number = numberOf(operand);
  const order = (value: Compared): number => {
    if (number !== null && value.number !== null) return value.number - number;
    if (value.text === wanted) return 0;
    return value.text < wanted ? -1 : 1;
  };
  const tests: Readonly<Record<typeof operator, (value: Compared) => boolean>> = {
    is: (value) => value.text === wanted || (number !== null && value.number === number),
    'is not': (value) => !tests.is(value),
    contains: ({ text }) => text.includes(wanted),
    'does not contain': (value) => !tests.contains(value),
    'starts with': ({ text }) => text.startsWith(wanted),
    'ends with': ({ text }) => text.endsWith(wanted),
    'is greater than': (value) => value.text !== '' && order(value) > 0,
    'is less than': (value) => value.text !== '' && order(value) < 0,
    'is equal or greater than': (value) => value.text !== '' && order(value) >= 0,
    'is equal or less than': (value) => value.text !== '' && order(value) <= 0,
  };
  const test = name === TOPIC ? testOfLines(tests[operator], operator) : tests[operator];
  return (values) => test(values.compared(name));
}

/**
 * Returns a test for a value with several lines, such as the topics that a contact gets: one matching line is enough. For a negation, no
 * line may match.
 */
function testOfLines(test: (value: Compared) => boolean, operator: Operator): (value: Compared) => boolean {
  const isNegated = operator === 'is not' || operator === 'does not contain';
  return ({ text }) => {
    const lines = text.split('\n').map((line) => new Compared(line));
    return isNegated ? lines.every(test) : lines.some(test);
  };
}

/** Returns the number in a text that is written as contacts' number fields are; null for any other text. */
function numberOf(text: string): number | null {
  return /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)\s*$/.test(text) ? Number(text) : null;
}
