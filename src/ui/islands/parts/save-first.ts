/** Saves unsaved changes before the user leaves through a link or a form of the page. */

export interface Unsaved {
  /** Returns true if there are changes to save. */
  mustSave(): boolean;
  /** Saves the changes. Reports a failure itself; the user then leaves unless they cancel when the browser asks. */
  save(): Promise<void>;
}

/** Saves before links and forms of `page` lead away. `page` is this page or, in a frame, the page around it. */
export function saveBeforeLeaving(page: Document, { mustSave, save }: Unsaved): void {
  // The elements of a page are instances of the classes of its own window.
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
    const leadsAway = link.href.startsWith('http') && !link.getAttribute('href')?.startsWith('#');
    if (leadsAway) saveFirst(event, () => link.click());
  });
  page.addEventListener('submit', (event) => {
    const { target: form, submitter } = event;
    if (form instanceof view.HTMLFormElement && form.method !== 'dialog')
      saveFirst(event, () => form.requestSubmit(submitter));
  });
}
