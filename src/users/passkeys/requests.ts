/** What a browser is asked for when somebody adds a passkey or signs in with one (W3C Web Authentication), and what it answers. */
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import type { User } from '../users.ts';
import { ANSWER_MS } from './challenges.ts';
import type { Passkey } from './passkeys.ts';

/** The site that passkeys belong to. */
export interface RelyingParty {
  /** The host name; a passkey works nowhere else. */
  id: string;
  origin: string;
}

/** The algorithms of keys, most wanted first: ES256, EdDSA, RS256 (RFC 9053). */
export const ALGORITHMS = [-7, -8, -257];

/**
 * The site at `publicUrl`, when a browser that asked for `host` is there and may use passkeys: over https or on this machine, by a name.
 * Null otherwise.
 */
export function relyingParty(publicUrl: string, host: string): RelyingParty | null {
  const url = new URL(publicUrl);
  return allowsPasskeys(publicUrl) && url.host === host ? { id: url.hostname, origin: url.origin } : null;
}

/** Whether browsers offer passkeys at `publicUrl`: over https or on this machine, by a name. */
export function allowsPasskeys(publicUrl: string): boolean {
  const { protocol, hostname } = new URL(publicUrl);
  const isAddress = /^\[|^[\d.]+$/.test(hostname);
  return (protocol === 'https:' || hostname === 'localhost') && !isAddress;
}

/** What a passkey stores of its user: no address, since it can be read without the person (14.6.1). */
export function userHandle(userId: number): string {
  return Buffer.from(`user ${userId}`).toString('base64url');
}

/** Asks for a new passkey that knows its user and asks for a finger, a face or a PIN. */
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

/** Asks for any passkey of this site, which then says whose it is. */
export function signInRequest(party: RelyingParty, challenge: string): PublicKeyCredentialRequestOptionsJSON {
  return { challenge, rpId: party.id, userVerification: 'required', allowCredentials: [], timeout: ANSWER_MS };
}

/** What a browser answered; each text is base64url, and empty where it is missing. */
export interface PasskeyAnswer {
  /** The credential's identifier. */
  id: string;
  challenge: string;
  clientData: string;
  /** Of a new passkey. */
  attestation: string;
  transports: string[];
  /** Of a sign-in. */
  authenticatorData: string;
  signature: string;
  userHandle: string;
}

/** The longest identifier (4.) of 1023 bytes in base64url. */
const MAX_ID = 1364;
const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'];

/** Reads a browser's answer in JSON; null where it is none. */
export function readPasskeyAnswer(json: string): PasskeyAnswer | null {
  const given = parse(json);
  const response = part(given, 'response');
  const id = base64url(given, 'id');
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
