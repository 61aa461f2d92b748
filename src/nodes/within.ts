/** Waiting for something of NATS, but not for ever. */
import { unavailable } from '../failure.ts';

/** What a promise gives, or 503 when it fails or takes longer. */
export async function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(unavailable()), ms);
  try {
    return await Promise.race([promise, late]);
  } catch {
    throw unavailable();
  } finally {
    clearTimeout(timer);
  }
}
