/** Ends a running command when its process is told to. */

/** At SIGTERM or Ctrl-C closes once and exits: with 0, or with 1 and the error when closing fails. */
export function stopOnSignal(close: () => Promise<void>): void {
  const stop = () => {
    close().then(
      () => process.exit(0),
      (error) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
}
