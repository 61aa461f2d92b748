import { newSecret, secretKey, signedHeaders } from '../../src/webhooks/signature.ts';

/** The body and headers of a webhook that is signed now, and its secret. */
export function signedWebhook(secret = newSecret()) {
  const body = JSON.stringify({
    type: 'contact.created',
    timestamp: new Date().toISOString(),
    data: { contact_id: 1 },
  });
  const signed = signedHeaders([secretKey(secret)], 'evt_1', Date.now(), body);
  const headers = Object.fromEntries(
    signed.flatMap((name, at) => (at % 2 === 0 ? [[name, signed[at + 1] ?? '']] : [])),
  );
  return { secret, body, headers };
}

/** Webhooks that are signed with something that is no secret, and would be taken if it were decoded leniently. */
export const weaklySigned = ['', 'whsec_', 'whsec_AAAA', `${newSecret()}*`].map((secret) => signedWebhook(secret));
