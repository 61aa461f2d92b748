/** Conditions on reported events as SQL. Names and values are bound, so no input becomes SQL text. */
import { fold } from '../../database/functions/fold.ts';
import { type PropertyFilter, parseFilter } from './names.ts';

/** Binds a value and returns the name of its parameter. */
export type Bind = (value: string) => string;

/** Returns SQL for the id of a name of events or properties in the account; null if none of them had this name yet. */
export function wordId(account: number, word: string, bind: Bind): string {
  return `(SELECT id FROM event_words WHERE user_id = ${bind(String(account))} AND word = ${bind(word)})`;
}

/** SQL: 1 if text `g` is written like a number, such as `-12.5`. */
const IS_NUMERIC_TEXT = "g GLOB '*[0-9]*' AND NOT (g GLOB '*[^0-9.-]*' OR g GLOB '?*-*' OR g GLOB '*.*.*')";

/**
 * Returns SQL that is 1 if event `v` passes a filter, and otherwise 0. Texts are compared without regard to case. Numbers are compared as
 * numbers, so a value of 50 passes `value = 50` and `value = 50.0`. An event without the property passes only filters with `!=`. Throws if
 * `parseFilter` does not accept the filter.
 */
export function filterHolds(filter: string, account: number, bind: Bind): string {
  const parsed = parseFilter(filter);
  if (parsed === null) throw new Error('a malformed filter of events was stored');
  const { comparison, operand, isNumber } = parsed;
  const fromProperty = `FROM (SELECT ${propertyValue(parsed, account, bind)} AS g)`;
  const operandAsNumber = () => `CAST(${bind(operand)} AS REAL)`;
  if (comparison === '=' || comparison === '!=') {
    const isSameText = `fold(CAST(g AS TEXT)) = ${bind(fold(operand))}`;
    const isSame = isNumber ? `iif(typeof(g) = 'text', ${isSameText}, g = ${operandAsNumber()})` : isSameText;
    const isEqual = `ifnull((SELECT ${isSame} ${fromProperty}), 0)`;
    return comparison === '=' ? isEqual : `NOT ${isEqual}`;
  }
  // A text counts as a number if it is written like one, because forms have only texts.
  return `ifnull((SELECT iif(typeof(g) = 'text' AND NOT (${IS_NUMERIC_TEXT}), 0, CAST(g AS REAL) ${comparison} ${operandAsNumber()}) ${fromProperty}), 0)`;
}

function propertyValue({ property }: PropertyFilter, account: number, bind: Bind): string {
  if (property === 'value' || property === 'currency') return `v.${property}`;
  return `(v.properties ->> ('$."' || ${wordId(account, property, bind)} || '"'))`;
}

/**
 * Returns the condition `filterHolds` as SQL that begins with AND, and the values of its parameters by name. The SQL of an empty filter is
 * empty.
 */
export function filterClause(filter: string, account: number): { passes: string; values: Record<string, string> } {
  const values: Record<string, string> = {};
  const bind = (value: string) => {
    const parameter = `filter${Object.keys(values).length}`;
    values[parameter] = value;
    return `@${parameter}`;
  };
  return { passes: filter === '' ? '' : `AND ${filterHolds(filter, account, bind)}`, values };
}
