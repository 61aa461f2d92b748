/** Saves what is unsaved before somebody leaves by a link or a form of a page. */

export interface Unsaved {
  mustSave(): boolean;
  /** Saves, and says itself when that fails. Leaving then goes on, and the page asks whether to. */
  save(): Promise<void>;
}

/** Watches the links and forms of a page, which may be the one that frames this one. */
export function saveBeforeLeaving(page: Document, { mustSave, save }: Unsaved): void {
  // Elements are instances of the classes of their own window.
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
