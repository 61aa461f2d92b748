/** Makes screen readers announce changes. */

/**
 * Returns a function that announces a text in a live region (role=status) of the page. The region must not be replaced. Of several texts
 * within `everyMs` only the last is announced. A text with `isEnd` is announced at once.
 */
export function announcer(findRegion: () => Element | null, everyMs: number): (text: string, isEnd?: boolean) => void {
  let announcedAt = Number.NEGATIVE_INFINITY;
  let next = '';
  let timer: ReturnType<typeof setTimeout> | undefined;
  const announce = () => {
    timer = undefined;
    announcedAt = performance.now();
    const region = findRegion();
    if (region !== null && region.textContent !== next) region.textContent = next;
  };
  return (text, isEnd = false) => {
    next = text;
    if (isEnd) {
      clearTimeout(timer);
      announce();
    } else {
      timer ??= setTimeout(announce, Math.max(0, announcedAt + everyMs - performance.now()));
    }
  };
}
