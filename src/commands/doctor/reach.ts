/** Whether the links in mails lead back to the service. */
import type { Config } from '../../config.ts';
import type { Finding } from '../../health-checks/finding.ts';

const PATIENCE_MS = 10_000;
const NAME = 'Public address';

export async function reachCheck({ PUBLIC_URL }: Config): Promise<Finding> {
  if (PUBLIC_URL === '') return { name: NAME, state: 'warn', found: 'PUBLIC_URL is not set' };
  const advice = ['Start the service, and check DNS, firewall, certificate and reverse proxy.'];
  try {
    const response = await fetch(`${PUBLIC_URL}/healthz`, { signal: AbortSignal.timeout(PATIENCE_MS) });
    const answer: unknown = await response.json().catch(() => null);
    if (response.ok && Object(answer).alive === true) {
      return { name: NAME, state: 'ok', found: `${PUBLIC_URL} leads to Sendlark` };
    }
    return { name: NAME, state: 'fail', found: `${PUBLIC_URL} leads to something else (${response.status})`, advice };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    return { name: NAME, state: 'fail', found: `${PUBLIC_URL} cannot be reached: ${cause}`, advice };
  }
}
