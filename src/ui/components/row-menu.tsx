/** The menu at the end of a row: a button with three dots, and the actions on the record of the row. It needs no script. */
import type { ComponentChildren } from 'preact';

/** The menu of a row. `id` must be unique on the page; `label` is the name of the button for screen readers. */
export function RowMenu({ id, label, children }: { id: string; label: string; children: ComponentChildren }) {
  return (
    <>
      <button type="button" class="quiet row-menu-button" popovertarget={id} aria-label={label}>
        ⋯
      </button>
      <div popover="auto" id={id} class="row-menu">
        {children}
      </div>
    </>
  );
}
