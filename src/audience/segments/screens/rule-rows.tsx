/** The rules of a segment as rows: a field, an operator, and values. */

import { MAX_LINE_CHARACTERS } from '../../../errors/field-errors.ts';
import { Button } from '../../../ui/components/button.tsx';
import { type Problems, SelectField, TextField } from '../../../ui/components/field.tsx';
import { plainSubject } from '../../../ui/components/subject.tsx';
import { type Language, useLanguage } from '../../../ui/words/index.ts';
import { countryNamer, fieldLabel, knownWord } from '../../../ui/words/known.ts';
import { eventOfField } from '../../events/names.ts';
import { COUNTRIES } from '../../places/operations.ts';
import { MAX_DAYS, MAX_MAIL_DAYS, MAX_MAILS, MAX_NEXT_DAYS, MAX_RULES, MAX_URL } from '../rules.ts';
import type { RuleChoices, RuleField } from './choices.ts';
import { reasonOptions } from './reasons.ts';
import { operandCount, operatorsFor, type Rule, typeOf } from './rules.ts';

const COUNTRY_LIST = 'countries';

/** The rows, which the script replaces when a choice changes them. */
export function Rules({
  rules,
  choices,
  problems,
}: {
  rules: readonly Rule[];
  choices: RuleChoices;
  problems: Problems;
}) {
  const language = useLanguage();
  const nameOf = countryNamer(language);
  return (
    <div id="segment-rules">
      {rules.map((rule, at) => (
        <RuleRow key={at} {...{ rule, at, choices, problems }} canRemove={rules.length > 1} />
      ))}
      {rules.some(({ field }) => field === 'country') && (
        <datalist id={COUNTRY_LIST}>
          {COUNTRIES.map((country) => (
            <option key={country.iso2} value={nameOf(country)} />
          ))}
        </datalist>
      )}
      {rules.length < MAX_RULES && (
        <Button look="plain" icon="plus" name="do" value="add" label={language.say('segments.add')} />
      )}
    </div>
  );
}

function RuleRow({
  rule,
  at,
  choices,
  problems,
  canRemove,
}: {
  rule: Rule;
  at: number;
  choices: RuleChoices;
  problems: Problems;
  canRemove: boolean;
}) {
  const language = useLanguage();
  const { fields } = choices;
  const known = fields.map(({ field_name: name }) => ({ value: name, label: ruleFieldLabel(language, name) }));
  const isListed = fields.some(({ field_name }) => field_name === rule.field);
  const isKnown = typeOf(rule.field, fields) !== undefined;
  const unlisted = {
    value: rule.field,
    label: isKnown ? ruleFieldLabel(language, rule.field) : language.say('segments.fieldGone', { field: rule.field }),
  };
  const operators = isKnown ? operatorsFor(rule.field, fields) : [rule.operator];
  return (
    <fieldset class="segment-rule">
      <legend>{language.say('segments.rule', { number: at + 1 })}</legend>
      <SelectField
        name={`field${at}`}
        label={language.say('segments.field')}
        value={rule.field}
        options={isListed ? known : [unlisted, ...known]}
        problems={problems}
      />
      <SelectField
        name={`operator${at}`}
        label={language.say('segments.operator')}
        value={rule.operator}
        options={operators.map((operator) => ({ value: operator, label: knownWord(language, 'operator', operator) }))}
        problems={problems}
      />
      <Values {...{ rule, at, choices, problems }} />
      {canRemove && (
        <button class="quiet" type="submit" name="do" value={`remove${at}`}>
          {language.say('segments.remove')}
          <span class="visually-hidden"> {language.say('segments.rule', { number: at + 1 })}</span>
        </button>
      )}
    </fieldset>
  );
}

/** Returns the label of a rule's field, such as “Event: purchase”. */
function ruleFieldLabel(language: Language, name: string): string {
  const event = eventOfField(name);
  return event === null ? fieldLabel(language, name) : language.say('segments.event', { name: event });
}

function Values({ rule, at, choices, problems }: { rule: Rule; at: number; choices: RuleChoices; problems: Problems }) {
  const language = useLanguage();
  const count = operandCount(rule.operator);
  const type = typeOf(rule.field, choices.fields) ?? 'text';
  if (type === 'mail' || type === 'automation')
    return (
      <>
        <NamedField named={type === 'mail' ? choices.mails : choices.automations} {...{ rule, at, type, problems }} />
        {count > 1 && <MailDetailField {...{ rule, at, problems }} />}
      </>
    );
  const attributes = (value: string, isSecond = false) => ({
    value,
    autocomplete: 'off',
    maxLength: type === 'link' ? MAX_URL : MAX_LINE_CHARACTERS,
    ...inputType(rule, type, value, isSecond),
    problems,
  });
  const label = firstLabel(type, rule.operator, count);
  const untilLabel = type === 'mails' || type === 'event' ? 'segments.days' : 'segments.valueUntil';
  return (
    <>
      {count > 0 && <TextField name={`value${at}`} label={language.say(label)} {...attributes(rule.values[0])} />}
      {count > 1 && (
        <TextField name={`until${at}`} label={language.say(untilLabel)} {...attributes(rule.values[1], true)} />
      )}
      {count > 2 && (
        <TextField
          name={`filter${at}`}
          label={language.say('segments.filter')}
          hint={language.say('segments.filter.hint')}
          value={rule.values[2]}
          maxLength={MAX_LINE_CHARACTERS}
          autocomplete="off"
          problems={problems}
        />
      )}
    </>
  );
}

/** Returns the key of the label of a rule's first value, of `count` values. */
function firstLabel(type: RuleField['field_type'], operator: string, count: number) {
  if (/(within|in the next)$/.test(operator)) return 'segments.days';
  if (type === 'mails') return 'segments.mails';
  if (type === 'event') return operator.startsWith('totals') ? 'segments.total' : 'segments.times';
  return count === 2 ? 'segments.valueFrom' : 'segments.value';
}

/** The second value of a rule about a mail: the number of a link, or the reason why the mail did not arrive. */
function MailDetailField({ rule, at, problems }: { rule: Rule; at: number; problems: Problems }) {
  const language = useLanguage();
  const field = { name: `until${at}`, value: rule.values[1], problems };
  return rule.operator === 'clicked the link' ? (
    <TextField
      {...field}
      label={language.say('segments.link')}
      hint={language.say('segments.link.hint')}
      type="number"
      min={0}
      step={1}
    />
  ) : (
    <SelectField
      {...field}
      label={language.say('segments.reason')}
      hint={language.say('segments.reason.hint')}
      options={reasonOptions(language, field.value)}
    />
  );
}

/** The choice of a mail or automation. A stored value that is not in the list stays selected. */
function NamedField({
  rule,
  at,
  type,
  named,
  problems,
}: {
  rule: Rule;
  at: number;
  type: 'mail' | 'automation';
  named: readonly { utr: string; name: string; subject?: string }[];
  problems: Problems;
}) {
  const language = useLanguage();
  const [value] = rule.values;
  const options = named.map(({ utr, name, subject }) => ({
    value: utr,
    label: subject === undefined ? name : `${name}: ${plainSubject(language, subject)}`,
  }));
  const isOther = value !== '' && named.every(({ utr }) => utr !== value);
  return (
    <SelectField
      name={`value${at}`}
      label={language.say(`segments.named.${type}`)}
      value={value}
      options={[
        { value: '', label: language.say('segments.choose') },
        ...(isOther ? [{ value, label: language.say('segments.notListed') }] : []),
        ...options,
      ]}
      problems={problems}
    />
  );
}

/**
 * Returns the attributes of the input for the first or the second value of a rule. A stored time keeps its time of day; otherwise whole
 * days are chosen.
 */
function inputType({ field, operator }: Rule, type: RuleField['field_type'], value: string, isSecond: boolean) {
  if (type === 'mails') return { type: 'number', min: 1, max: isSecond ? MAX_MAIL_DAYS : MAX_MAILS, step: 1 } as const;
  if (type === 'event' && isSecond) return { type: 'number', min: 1, max: MAX_DAYS, step: 1 } as const;
  if (type === 'event')
    return operator.startsWith('totals')
      ? ({ type: 'number', step: 'any' } as const)
      : ({ type: 'number', min: 1, step: 1 } as const);
  if (operator.endsWith('within')) return { type: 'number', min: 0, max: MAX_DAYS, step: 1 } as const;
  if (operator.endsWith('in the next')) return { type: 'number', min: 0, max: MAX_NEXT_DAYS, step: 1 } as const;
  if (type === 'yearly-date') return { placeholder: '12-24' } as const;
  if (type === 'number') return { type: 'number', step: 'any' } as const;
  if (type === 'datetime-local')
    return value.includes('T') ? ({ type: 'datetime-local' } as const) : ({ type: 'date' } as const);
  return field === 'country' ? { list: COUNTRY_LIST } : {};
}
