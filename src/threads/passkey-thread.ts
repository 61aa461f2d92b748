/** Entry point of the thread that verifies one passkey response. */
import { parentPort, workerData } from 'node:worker_threads';
import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server';
import { decodeAttestationObject, isoBase64URL } from '@simplewebauthn/server/helpers';
import type { PasskeyTask, PasskeyVerdict } from '../users/passkeys/check.ts';
import { ALGORITHMS } from '../users/passkeys/requests.ts';

/** Verifies a response, for a known passkey or a new one. Errors of the packages mean that the response is faulty. */
async function verify({ answer, party, known }: PasskeyTask): Promise<PasskeyVerdict> {
  const { id, challenge, clientData, attestation, authenticatorData, signature } = answer;
  const expected = {
    expectedChallenge: challenge,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
  };
  const credential = { id, rawId: id, type: 'public-key', clientExtensionResults: {} } as const;
  if (known !== undefined) {
    const response = { clientDataJSON: clientData, authenticatorData, signature };
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      ...expected,
      response: { ...credential, response },
      credential: { id, publicKey: Uint8Array.from(known.publicKey), counter: known.counter },
    });
    return verified ? { counter: authenticationInfo.newCounter } : { refused: 'the signature is wrong' };
  }
  if (hasCertificates(attestation)) return { refused: 'it has certificates, which were not asked for' };
  const response = { clientDataJSON: clientData, attestationObject: attestation };
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    ...expected,
    response: { ...credential, response },
    supportedAlgorithmIDs: ALGORITHMS,
  });
  if (!verified) return { refused: 'the attestation is wrong' };
  const { publicKey, counter, id: credentialId } = registrationInfo.credential;
  return { added: { credentialId, publicKey, counter, transports: answer.transports } };
}

/** Returns true if the response contains certificates. Verifying them would fetch revocation lists from URLs that they contain. */
function hasCertificates(attestation: string): boolean {
  const decoded = decodeAttestationObject(isoBase64URL.toBuffer(attestation));
  const format = decoded.get('fmt');
  return format !== 'none' && (format !== 'packed' || decoded.get('attStmt').get('x5c') !== undefined);
}

const task: PasskeyTask = workerData;
const verdict = await verify(task).catch((error: unknown) => ({ refused: String(error) }));
parentPort?.postMessage(verdict);
