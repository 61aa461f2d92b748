/** A form that searches a list, and works without a script. */
import type { ComponentChildren } from 'preact';
import { Button } from './button.tsx';

/** `label` says what is searched for; `find` is the text of the button; `name` is the query parameter. `children` are further fields. */
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
        <Button look="plain" icon="search">
          {find}
        </Button>
      </form>
    </search>
  );
}
