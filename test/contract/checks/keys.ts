/** Without the right pair of keys nothing is learned and nothing happens. */
import { missingPublicKey, missingSecretKey, wrongKeys } from '../errors.ts';
import type { Probe } from '../probe.ts';

export async function keys(probe: Probe): Promise<void> {
  const { one, two, anonymous } = probe.place.app;
  const { PublicKey = '', SecretKey = '' } = one.headers;
  const wrongPairs = [
    { PublicKey, SecretKey: `${SecretKey}x` },
    { PublicKey, SecretKey: String(two.headers.SecretKey) },
    { PublicKey: `${PublicKey}x`, SecretKey },
    { PublicKey: SecretKey, SecretKey: PublicKey },
  ];
  // A key failure is answered before any field error: the empty request fails alike.
  for (const options of [probe.valid(), {}]) {
    await probe.refused(options, 401, { ...missingPublicKey, ...missingSecretKey }, anonymous);
    await probe.refused({ ...options, headers: { SecretKey } }, 401, missingPublicKey, anonymous);
    await probe.refused({ ...options, headers: { PublicKey } }, 401, missingSecretKey, anonymous);
    await probe.refused({ ...options, headers: { PublicKey: '', SecretKey } }, 401, missingPublicKey, anonymous);
    for (const headers of wrongPairs) await probe.refused({ ...options, headers }, 401, wrongKeys, anonymous);
  }
}
