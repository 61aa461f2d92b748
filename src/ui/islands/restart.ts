/** Waits until the service has started again after a restore, then opens the sign-in page. */
const CHECK_EVERY_MS = 1000;
/**
 * The longest wait for the restart. If a restore fails, the session stays valid, and only this time limit shows that the restart is
 * over.
 */
const MAX_WAIT_MS = 60_000;

const startedAt = Date.now();
let wasAway = false;

async function check(): Promise<void> {
  const isOver = await fetch('/settings/backup', { redirect: 'manual' }).then(
    // The page redirects to the sign-in page once the database is restored, because nobody is signed in any more.
    ({ type }) => type === 'opaqueredirect' || wasAway || Date.now() - startedAt > MAX_WAIT_MS,
    () => {
      wasAway = true;
      return false;
    },
  );
  if (isOver) location.assign('/login');
  else setTimeout(check, CHECK_EVERY_MS);
}

setTimeout(check, CHECK_EVERY_MS);
