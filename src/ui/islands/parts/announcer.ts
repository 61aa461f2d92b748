/** Makes screen readers announce changes. */

/**
 * Returns a function that announces a text in a live region of the page (role=status), which must not be replaced. Of several
 * texts within `everyMs` only the last is announced. The text of an end is announced at once.
 */
export function announcer(findRegion: () => Element | null, everyMs: number): (text: string, isEnd?: boolean) => void {
  let saidAt = Number.NEGATIVE_INFINITY;
  let next = '';
  let timer: ReturnType<typeof setTimeout> | undefined;
  const say = () => {
    timer = undefined;
    saidAt = performance.now();
    const region = findRegion();
    if (region !== null && region.textContent !== next) region.textContent = next;
  };
  return (text, isEnd = false) => {
    next = text;
    if (isEnd) {
      clearTimeout(timer);
      say();
    } else {
      timer ??= setTimeout(say, Math.max(0, saidAt + everyMs - performance.now()));
    }
  };
}
