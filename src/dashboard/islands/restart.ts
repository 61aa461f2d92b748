/** Waits until the service has started again, then opens the page for signing in. */
const EVERY_MS = 1000;
/** The service starts again although the restore failed, and nobody has to sign in; then this is the way back, too. */
const LONGEST_MS = 60_000;

const startedAt = Date.now();
let wasAway = false;

async function look(): Promise<void> {
  const isOver = await fetch('/settings/backup', { redirect: 'manual' }).then(
    // Nobody is signed in any more on a restored database.
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
