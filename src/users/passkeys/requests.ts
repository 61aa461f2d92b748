/** The requests to a browser for adding a passkey or signing in with one (W3C Web Authentication), and the browser's answers. */

import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import { parseJson } from '../../json.ts';
import type { User } from '../users.ts';
import { ANSWER_MS } from './challenges.ts';
import type { Passkey } from './passkeys.ts';

/** The site that passkeys belong to. */
export interface RelyingParty {
  /** The host name. A passkey works only at this host. */
  id: string;
  origin: string;
}

/** The signature algorithms in order of preference: ES256, EdDSA, RS256 (RFC 9053). */
export const ALGORITHMS = [-7, -8, -257];

/**
 * Returns the site at `publicUrl` if a browser that requested `host` is on this site and offers passkeys there; otherwise null.
 */
export function relyingParty(publicUrl: string, host: string): RelyingParty | null {
  const url = new URL(publicUrl);
  return allowsPasskeys(publicUrl) && url.host === host ? { id: url.hostname, origin: url.origin } : null;
}

/** Returns true if browsers offer passkeys at `publicUrl`: it must name a host, not an IP address, and use https or be localhost. */
export function allowsPasskeys(publicUrl: string): boolean {
  const { protocol, hostname } = new URL(publicUrl);
  const isIpAddress = /^\[|^[\d.]+$/.test(hostname);
  return (protocol === 'https:' || hostname === 'localhost') && !isIpAddress;
}

/**
 * Returns the user handle that a passkey stores. The handle contains no e-mail address, because it can be read without the user's
 * consent (W3C Web Authentication 14.6.1).
 */
export function userHandle(userId: number): string {
  return Buffer.from(`user ${userId}`).toString('base64url');
}

/**
 * Returns a request for a new passkey, which must store its user and require a fingerprint, a face or a PIN. The `known` passkeys
 * of the user are excluded, so that no device gets a second passkey.
 */
export function registrationRequest(
  party: RelyingParty,
  { id, email, name }: User,
  known: readonly Passkey[],
  challenge: string,
): PublicKeyCredentialCreationOptionsJSON {
  return {
    challenge,
    rp: { id: party.id, name: 'Sendlark' },
    user: { id: userHandle(id), name: email, displayName: name || email },
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ alg, type: 'public-key' })),
    excludeCredentials: known.map(({ credential_id }) => ({ id: credential_id, type: 'public-key' })),
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    attestation: 'none',
    timeout: ANSWER_MS,
  };
}

/** Returns a request to sign in with any passkey of this site. The answer names the user. */
export function signInRequest(party: RelyingParty, challenge: string): PublicKeyCredentialRequestOptionsJSON {
  return { challenge, rpId: party.id, userVerification: 'required', allowCredentials: [], timeout: ANSWER_MS };
}

/** A browser's answer. Each text is in base64url, and empty if missing. */
export interface PasskeyAnswer {
  /** The credential's identifier. */
  id: string;
  challenge: string;
  clientData: string;
  // Only the answer with a new passkey has these two.
  attestation: string;
  transports: string[];
  // Only the answer of a sign-in has these three.
  authenticatorData: string;
  signature: string;
  userHandle: string;
}

/** The maximum length of an identifier: 1023 bytes (W3C Web Authentication 4) in base64url. */
const MAX_ID = 1364;
const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'];

/** Parses a browser's answer from JSON. Returns null if the answer is not valid. */
export function readPasskeyAnswer(json: string): PasskeyAnswer | null {
  const credential = parseJson(json);
  const response = property(credential, 'response');
  const id = base64urlProperty(credential, 'id');
  const clientData = base64urlProperty(response, 'clientDataJSON');
  const challenge = base64urlProperty(parseJson(Buffer.from(clientData, 'base64url').toString()), 'challenge');
  if (id === '' || id.length > MAX_ID || challenge === '') return null;
  const transports = property(response, 'transports');
  return {
    id,
    challenge,
    clientData,
    attestation: base64urlProperty(response, 'attestationObject'),
    transports: TRANSPORTS.filter((transport) => Array.isArray(transports) && transports.includes(transport)),
    authenticatorData: base64urlProperty(response, 'authenticatorData'),
    signature: base64urlProperty(response, 'signature'),
    userHandle: base64urlProperty(response, 'userHandle'),
  };
}

function property(from: unknown, name: string): unknown {
  return typeof from === 'object' && from !== null && Object.hasOwn(from, name) ? Reflect.get(from, name) : undefined;
}

/** Returns an empty text if the property is missing or not in base64url. */
function base64urlProperty(from: unknown, name: string): string {
  const value = property(from, name);
  return typeof value === 'string' && /^[\w-]+$/.test(value) ? value : '';
}
