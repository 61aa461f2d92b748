/** Conditions on reported events as SQL. Names and values are bound, so no input becomes SQL text. */
import { fold } from '../../database/functions/fold.ts';
import { type PropertyFilter, parseFilter } from './names.ts';

/** Binds a value and returns the name of its parameter. */
type Bind = (value: string) => string;

/** Returns SQL for the id of a name of the account; null if no event and no property had it yet. */
export function wordId(account: number, word: string, bind: Bind): string {
  return `(SELECT id FROM event_words WHERE user_id = ${bind(String(account))} AND word = ${bind(word)})`;
}

/**
 * Returns the condition that event `v` passes a filter, as `parseFilter` accepts it: 0 or 1, never null. Texts are compared without
 * regard to case, sizes as numbers. An event without the property passes no filter except `!=`.
 */
export function filterHolds(filter: string, account: number, bind: Bind): string {
  const parsed = parseFilter(filter);
  if (parsed === null) throw new Error('a malformed filter of events was stored');
  const { comparison, operand } = parsed;
  const given = propertyValue(parsed, account, bind);
  const isEqual = `ifnull(fold(CAST(${given} AS TEXT)) = ${bind(fold(operand))}, 0)`;
  if (comparison === '=') return isEqual;
  if (comparison === '!=') return `NOT ${isEqual}`;
  // A text counts as a number if it is written like one, because forms have only texts.
  return `ifnull((SELECT iif(typeof(g) = 'text' AND (g = '' OR g GLOB '*[^0-9.-]*'), 0, CAST(g AS REAL) ${comparison} CAST(${bind(operand)} AS REAL))
    FROM (SELECT ${given} AS g)), 0)`;
}

function propertyValue({ property }: PropertyFilter, account: number, bind: Bind): string {
  if (property === 'value' || property === 'currency') return `v.${property}`;
  return `(v.properties ->> ('$."' || ${wordId(account, property, bind)} || '"'))`;
}

/** Returns the condition that event `v` passes a filter, as SQL that begins with AND, with what it binds; nothing for an empty filter. */
export function filterOf(filter: string, account: number): { passes: string; values: Record<string, string> } {
  const values: Record<string, string> = {};
  const bind = (value: string) => {
    const parameter = `filter${Object.keys(values).length}`;
    values[parameter] = value;
    return `@${parameter}`;
  };
  return { passes: filter === '' ? '' : `AND ${filterHolds(filter, account, bind)}`, values };
}
