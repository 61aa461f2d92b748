/** Describes the rules of a segment in a sentence. */

import { readStored } from '../../../errors/stored.ts';
import { plainSubject } from '../../../ui/components/subject.tsx';
import { isWordKey, type Language } from '../../../ui/words/index.ts';
import { countryNamer, fieldLabel, findCountry } from '../../../ui/words/known.ts';
import { eventOfField } from '../../events/names.ts';
import { isValidValue } from '../../fields/custom-fields.ts';
import { NOT_ARRIVED } from '../rules.ts';
import type { RuleChoices, RuleField } from './choices.ts';
import { type Draft, isFilledIn, operandsOf, type Rule, typeOf } from './rules.ts';

/** Returns the sentence, such as “Everybody in Customers whose country is Germany”. Rules without a value are omitted. */
export function rulesInWords(
  language: Language,
  { typeId, join, rules }: Omit<Draft, 'name'>,
  choices: RuleChoices,
): string {
  const type = choices.types.find(({ id }) => String(id) === typeId)?.name ?? '–';
  const phrases = rules.filter(isFilledIn).map((rule) => ruleInWords(language, rule, choices));
  if (phrases.length === 0) return language.say('segments.words.nobody', { type });
  const joined = phrases.reduce((one, other) => language.say(`segments.words.${join}`, { one, other }));
  return language.say('segments.words', { type, rules: joined });
}

function ruleInWords(language: Language, rule: Rule, choices: RuleChoices): string {
  const type = typeOf(rule.field, choices.fields) ?? 'text';
  const operands = operandsOf(rule);
  // The second operand of a rule about a mail is the number of a link, or the reason why the mail did not arrive.
  const [value = '', until = '', filter = ''] = operands.map((operand, at) =>
    type === 'mail' && at === 1 && rule.operator === NOT_ARRIVED
      ? language.say('segments.words.quoted', { value: language.sentence(readStored(operand)) })
      : valueInWords(language, rule, type === 'mail' && at === 1 ? 'text' : type, operand, choices),
  );
  // The plural form depends on the number of days or mails, which is the second operand if there are two.
  const count = Number(operands[1] ?? operands[0]);
  const event = eventOfField(rule.field);
  const eventKey = `rule.event.${rule.operator}`;
  if (event !== null && isWordKey(eventKey))
    return language.fill(eventKey, { name: event, value, until, filter, count });
  const activityKey = `rule.${rule.field}.${rule.operator}`;
  const key = isWordKey(activityKey) ? activityKey : `rule.${rule.operator}`;
  const field = fieldInWords(language, rule.field);
  return isWordKey(key) ? language.fill(key, { field, value, until, count }) : `${field} ${rule.operator} ${value}`;
}

/**
 * Returns a field's name for use within a sentence. In English, the name of a reserved field begins with a small letter; in German, it is
 * in quotation marks.
 */
function fieldInWords(language: Language, name: string): string {
  if (!isWordKey(`field.${name}`)) return name.replaceAll('_', ' ');
  const label = fieldLabel(language, name);
  return language.code === 'en' ? label.charAt(0).toLowerCase() + label.slice(1) : label;
}

function valueInWords(
  language: Language,
  { field, operator }: Rule,
  type: RuleField['field_type'],
  value: string,
  { mails, automations }: RuleChoices,
): string {
  if (type === 'mail' || type === 'automation') {
    const named =
      type === 'mail'
        ? mails.find(({ utr }) => utr === value)?.subject
        : automations.find(({ utr }) => utr === value)?.name;
    if (named === undefined) return language.say('segments.notListed');
    return language.say('segments.words.quoted', { value: type === 'mail' ? plainSubject(language, named) : named });
  }
  if (type === 'event') return /^-?\d{1,15}(\.\d{1,9})?$/.test(value) ? language.number(Number(value)) : value;
  if (
    type === 'mails' ||
    /(within|in the next)$/.test(operator) ||
    (type === 'number' && /^-?\d{1,15}(\.\d{1,2})?$/.test(value))
  )
    return language.number(Number(value));
  // 2024 has a 29 February, and the year is not shown.
  if (type === 'yearly-date' && isValidValue(type, value)) return language.calendarDay(`2024-${value}`);
  const [, day, time] = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d))?$/.exec(value) ?? [];
  if (type === 'datetime-local' && day !== undefined && !Number.isNaN(Date.parse(day)))
    return time === undefined
      ? language.calendarDate(day)
      : language.say('segments.words.moment', { day: language.calendarDate(day), time });
  const country = field === 'country' ? findCountry(value) : undefined;
  if (country !== undefined) return countryNamer(language)(country);
  return type === 'text' || type === 'link' ? language.say('segments.words.quoted', { value }) : value;
}
