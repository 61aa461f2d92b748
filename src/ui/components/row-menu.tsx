/** The menu at the end of a list's row: a button with three dots, and the actions on the record. It needs no script. */
import type { ComponentChildren } from 'preact';

/**
 * `id` must be unique on the page; `label` is the button's name for screen readers. `children` are links, and forms.
 */
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
