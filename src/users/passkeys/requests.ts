/** The requests to a browser for adding a passkey or signing in with one (W3C Web Authentication), and the browser's answers. */
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import type { User } from '../users.ts';
import { ANSWER_MS } from './challenges.ts';
import type { Passkey } from './passkeys.ts';

/** The site that passkeys belong to. */
export interface RelyingParty {
  /** The host name. A passkey works only there. */
  id: string;
  origin: string;
}

/** The signature algorithms in order of preference: ES256, EdDSA, RS256 (RFC 9053). */
export const ALGORITHMS = [-7, -8, -257];

/**
 * Returns the site at `publicUrl` if a browser that requested `host` is on it and may use passkeys: over https or on this
 * machine, by a name. Otherwise returns null.
 */
export function relyingParty(publicUrl: string, host: string): RelyingParty | null {
  const url = new URL(publicUrl);
  return allowsPasskeys(publicUrl) && url.host === host ? { id: url.hostname, origin: url.origin } : null;
}

/** Returns true if browsers offer passkeys at `publicUrl`: over https or on this machine, by a name. */
export function allowsPasskeys(publicUrl: string): boolean {
  const { protocol, hostname } = new URL(publicUrl);
  const isAddress = /^\[|^[\d.]+$/.test(hostname);
  return (protocol === 'https:' || hostname === 'localhost') && !isAddress;
}

/** Returns the user handle that a passkey stores. It contains no address, because it can be read without the user's consent (14.6.1). */
export function userHandle(userId: number): string {
  return Buffer.from(`user ${userId}`).toString('base64url');
}

/** Requests a new passkey that stores its user and requires a fingerprint, a face or a PIN. */
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

/** Requests any passkey of this site. The answer names the user. */
export function signInRequest(party: RelyingParty, challenge: string): PublicKeyCredentialRequestOptionsJSON {
  return { challenge, rpId: party.id, userVerification: 'required', allowCredentials: [], timeout: ANSWER_MS };
}

/** A browser's answer. Each text is in base64url, and empty if missing. */
export interface PasskeyAnswer {
  /** The credential's identifier. */
  id: string;
  challenge: string;
  clientData: string;
  /** For a new passkey. */
  attestation: string;
  transports: string[];
  /** For a sign-in. */
  authenticatorData: string;
  signature: string;
  userHandle: string;
}

/** The maximum length of an identifier: 1023 bytes (4.) in base64url. */
const MAX_ID = 1364;
const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'];

/** Parses a browser's answer from JSON; null if it is not valid. */
export function readPasskeyAnswer(json: string): PasskeyAnswer | null {
  const credential = parse(json);
  const response = part(credential, 'response');
  const id = base64url(credential, 'id');
  const clientData = base64url(response, 'clientDataJSON');
  const challenge = base64url(parse(Buffer.from(clientData, 'base64url').toString()), 'challenge');
  if (id === '' || id.length > MAX_ID || challenge === '') return null;
  const transports = part(response, 'transports');
  return {
    id,
    challenge,
    clientData,
    attestation: base64url(response, 'attestationObject'),
    transports: TRANSPORTS.filter((one) => Array.isArray(transports) && transports.includes(one)),
    authenticatorData: base64url(response, 'authenticatorData'),
    signature: base64url(response, 'signature'),
    userHandle: base64url(response, 'userHandle'),
  };
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

function part(from: unknown, name: string): unknown {
  return typeof from === 'object' && from !== null && Object.hasOwn(from, name) ? Reflect.get(from, name) : undefined;
}

function base64url(from: unknown, name: string): string {
  const value = part(from, name);
  return typeof value === 'string' && /^[\w-]+$/.test(value) ? value : '';
}
