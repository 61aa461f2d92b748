/** Waits until the service has started again, then opens the sign-in page. */
const EVERY_MS = 1000;
/**
 * If the restore failed, the service also starts again, but the session stays valid. After this time the page leads back in that case, too.
 */
const LONGEST_MS = 60_000;

const startedAt = Date.now();
let wasAway = false;

async function look(): Promise<void> {
  const isOver = await fetch('/settings/backup', { redirect: 'manual' }).then(
    // On a restored database nobody is signed in any more.
    ({ type }) => type === 'opaqueredirect' || wasAway || Date.now() - startedAt > LONGEST_MS,
    () => {
      wasAway = true;
      return false;
    },
  );
  if (isOver) location.assign('/login');
  else setTimeout(look, EVERY_MS);
}

setTimeout(look, EVERY_MS);
