/** Tables, which become cards in a narrow window, the search form of a list, and the links to further pages. */
import type { ComponentChildren } from 'preact';
import { type Language, type PlainKey, useLanguage } from '../words/index.ts';
import { Button, LinkButton } from './button.tsx';

/** A column: its heading, whether it contains numbers, and its content for a row. The first column names the row. */
export interface Column<Row> {
  heading: string;
  isNumber?: boolean;
  cell: (row: Row) => ComponentChildren;
}

/** Returns a column with the numbers in this field of the rows. */
export function numberColumn<Name extends string>(
  language: Language,
  heading: PlainKey,
  name: Name,
): Column<Record<Name, number>> {
  return { heading: language.say(heading), isNumber: true, cell: (row) => language.number(row[name]) };
}

/**
 * A table of records. `caption` describes it for screen readers and is not visible. With `isBrief`, a row is two lines
 * in a narrow window: its name, and the rest without headings and numbers.
 */
export function Table<Row>({
  caption,
  columns,
  rows,
  keyOf,
  isBrief = false,
}: {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string | number;
  isBrief?: boolean;
}) {
  return (
    <ScrollRegion label={caption}>
      <table class={isBrief ? 'cards brief' : 'cards'}>
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ heading, isNumber }) => (
              <th key={heading} scope="col" class={isNumber ? 'num' : undefined}>
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ heading, isNumber, cell }, at) =>
                at === 0 ? (
                  <th key={heading} scope="row">
                    {cell(row)}
                  </th>
                ) : (
                  <td key={heading} data-label={heading} class={isNumber ? 'num' : undefined}>
                    {cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}

/**
 * A region that scrolls sideways if its table is wider than the window. It can have the focus, so that the keyboard scrolls it
 * too (WCAG 2.1.1); `label` is its name.
 */
export function ScrollRegion({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <section class="table-wrap" aria-label={label} tabindex={0}>
      {children}
    </section>
  );
}

/** The name of a record as a link to its page. */
export function NamedLink({ href, name }: { href: string; name: string }) {
  return (
    <a href={href}>
      <bdi>{name}</bdi>
    </a>
  );
}

/** Links to the first and the next page of a list that is paged by key; nothing if one page has everything. */
export function Pager({ first, next }: { first: string | null; next: string | null }) {
  const language = useLanguage();
  if (first === null && next === null) return null;
  return (
    <nav class="pager" aria-label={language.say('pager.label')}>
      {first !== null && <LinkButton href={first} look="plain" label={language.say('pager.first')} />}
      {next !== null && <LinkButton href={next} look="plain" label={language.say('pager.next')} />}
    </nav>
  );
}

/** `label` says what can be searched; `find` is the text of the button; `name` is the query parameter. `children` are further fields. */
export function SearchForm({
  name,
  label,
  find,
  value,
  children,
}: {
  name: string;
  label: string;
  find: string;
  value: string;
  children?: ComponentChildren;
}) {
  return (
    <search>
      <form method="get" class="search">
        <label for={name} class="visually-hidden">
          {label}
        </label>
        <input id={name} type="search" name={name} value={value} placeholder={label} />
        {children}
        <Button look="plain" icon="search" label={find} />
      </form>
    </search>
  );
}
