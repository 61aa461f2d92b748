/**
 * Checks what a passkey signed, in a separate thread for each check. The packages that parse keys and certificates take a third
 * of a second to load. In a thread, no other request waits for them, and their memory is freed when the thread ends.
 */
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { Failure } from '../../errors/failure.ts';
import { sentence } from '../../errors/sentences.ts';
import { threadFile } from '../../thread-files.ts';
import type { NewPasskey } from './passkeys.ts';
import type { PasskeyAnswer, RelyingParty } from './requests.ts';

/** The task of the thread, passed as its workerData. */
export interface PasskeyTask {
  answer: PasskeyAnswer;
  party: RelyingParty;
  /** The stored passkey whose signature is checked; undefined for a new passkey. */
  known?: { publicKey: Uint8Array; counter: number };
}

/** The thread's reply. `refused` says for the log why the answer is not valid. */
export type PasskeyVerdict = { added: NewPasskey } | { counter: number } | { refused: string };

// The limits of one thread.
const TIME_LIMIT_MS = 30_000;
const MEMORY_LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 6 };
const MAX_WAITING = 20;

let lastCheck: Promise<unknown> = Promise.resolve();
/** The number of checks that wait or run. */
let waiting = 0;

/** Returns the new passkey in a browser's answer, or null if the answer is not valid. The caller has used up the challenge. */
export async function checkNewPasskey(answer: PasskeyAnswer, party: RelyingParty): Promise<NewPasskey | null> {
  const verdict = await inTurn({ answer, party });
  return 'added' in verdict ? verdict.added : null;
}

/** Returns the counter that a known passkey sent; null if the signature is not valid. The caller has used up the challenge. */
export async function checkSignature(
  answer: PasskeyAnswer,
  party: RelyingParty,
  known: { publicKey: Uint8Array; counter: number },
): Promise<number | null> {
  const verdict = await inTurn({ answer, party, known });
  return 'counter' in verdict ? verdict.counter : null;
}

/** Runs a check after all earlier checks. Throws 503 if too many checks wait. */
async function inTurn(task: PasskeyTask): Promise<PasskeyVerdict> {
  if (waiting >= MAX_WAITING) throw new Failure(503, sentence('too_many_sign_ins'));
  waiting++;
  const result = lastCheck.then(() => runThread(task)).finally(() => waiting--);
  lastCheck = result.catch(() => undefined);
  return result;
}

async function runThread(task: PasskeyTask): Promise<PasskeyVerdict> {
  const thread = new Worker(threadFile('passkey-thread'), { workerData: task, resourceLimits: MEMORY_LIMITS });
  const ended = new AbortController();
  const { signal } = ended;
  try {
    const [verdict]: PasskeyVerdict[] = await Promise.race([
      once(thread, 'message', { signal }),
      once(thread, 'exit', { signal }).then(() => []),
      setTimeout(TIME_LIMIT_MS, [], { signal }),
    ]);
    if (verdict === undefined) throw new Error('A passkey could not be checked: the thread for it gave no answer');
    return verdict;
  } finally {
    ended.abort();
    await thread.terminate();
  }
}
