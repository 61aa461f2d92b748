/** Saves unsaved changes before the user leaves through a link or a form of the page. */

export interface Unsaved {
  mustSave(): boolean;
  /** Saves, and reports a failure itself. Leaving then continues, and the browser asks the user to confirm it. */
  save(): Promise<void>;
}

/** Watches the links and forms of a page, which may be the page around this frame. */
export function saveBeforeLeaving(page: Document, { mustSave, save }: Unsaved): void {
  // In another window, elements are instances of that window's classes.
  const view = page.defaultView;
  if (view === null) return;
  let isLeaving = false;
  const saveFirst = (event: Event, leave: () => void) => {
    if (isLeaving || event.defaultPrevented || !mustSave()) return;
    event.preventDefault();
    void save().then(() => {
      isLeaving = true;
      leave();
      isLeaving = false;
    });
  };
  page.addEventListener('click', (event) => {
    const { target, ctrlKey, metaKey, shiftKey } = event;
    const link = target instanceof view.Element ? target.closest<HTMLAnchorElement>('a[href]') : null;
    if (link === null || ctrlKey || metaKey || shiftKey || link.target === '_blank') return;
    const isElsewhere = link.href.startsWith('http') && !link.getAttribute('href')?.startsWith('#');
    if (isElsewhere) saveFirst(event, () => link.click());
  });
  page.addEventListener('submit', (event) => {
    const { target: form, submitter } = event;
    if (form instanceof view.HTMLFormElement && form.method !== 'dialog')
      saveFirst(event, () => form.requestSubmit(submitter));
  });
}
