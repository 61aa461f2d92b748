/** Tables, the search form above a list, and the links to further pages. In a narrow window the rows of a table become cards. */
import type { ComponentChildren } from 'preact';
import { type Language, type PlainKey, useLanguage } from '../words/index.ts';
import { Button, LinkButton } from './button.tsx';

/** A column of a table. The first column names the row. */
export interface Column<Row> {
  heading: string;
  /** True if the column contains numbers. */
  isNumber?: boolean;
  /** Returns the content of the column in a row. */
  cell: (row: Row) => ComponentChildren;
}

/** Returns a column with the numbers that the rows have in the field `name`. */
export function numberColumn<Name extends string>(
  language: Language,
  heading: PlainKey,
  name: Name,
): Column<Record<Name, number>> {
  return { heading: language.say(heading), isNumber: true, cell: (row) => language.number(row[name]) };
}

/**
 * A table of records. `caption` describes the table for screen readers and is not visible. `isBrief`: in a narrow window a row is two
 * lines, the name and the other columns without headings and numbers.
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
              {columns.map(({ heading, isNumber, cell }, index) =>
                index === 0 ? (
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
 * A region that scrolls sideways if the table in it is wider than the window. The region can have the focus, so that the keyboard can
 * scroll it (WCAG 2.1.1). `label` is the name of the region.
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

/** The links to the first and the next page of a list. Null: the link is not shown, because the page is the first or the last one. */
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

/**
 * The search form above a list. `label` says what is searched, `find` is the text of the button, and `name` the query parameter.
 * `children` are further fields.
 */
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
