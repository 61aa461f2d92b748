/** Checks whether the links in mails lead to this service, and the certificate. Requests nothing but the public URL. */

import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { TLSSocket } from 'node:tls';
import type { Database } from 'better-sqlite3';
import { findNamedValue, writeNamedValue } from '../../database/named-values.ts';
import type { Tokens } from '../../delivery/links/tokens.ts';
import { sentence } from '../../errors/sentences.ts';
import { parseJson } from '../../json.ts';
import { dayOf } from '../../time/clock.ts';
import { DAY_MS } from '../../units.ts';
import { type CheckResult, type Finding, type KeptFinding, keptFinding, readFinding } from './finding.ts';

// Importing node:http would load everything it offers, including Node's own undici: 14 MB and 35 ms of CPU time in each thread.
const { request: requestHttp } = process.getBuiltinModule('node:http');

const NAME = 'Public address';
const TIMEOUT_MS = 10_000;
/** The number of bytes that are read of a response. */
const MAX_BYTES = 4096;
/** The number of characters that are shown of a text from the response. */
const MAX_SHOWN = 200;
/** A certificate that expires sooner than this was not renewed 30 days before its end, as it should have been. */
const SOON_MS = 14 * DAY_MS;
const PURPOSE = 'healthz';
/** The name of the stored value with the last result. */
const STORED_NAME = 'public_address_seen';

interface Answer {
  status: number;
  /** The target of a redirect; empty if the answer is no redirect. */
  location: string;
  body: string;
  /** Null: the URL does not use TLS. */
  certificate: Certificate | null;
}

interface Certificate {
  /** Why node:tls does not accept the certificate; null if it accepts the certificate. */
  fault: string | null;
  names: string;
  endsAt: Date;
}

/** Returns the reply of /healthz to a challenge. Only a service with the secrets of this database can compute it. */
export function proofOf(tokens: Tokens, challenge: string): string {
  return tokens.sign(PURPOSE, challenge);
}

/** Requests the public URL and describes what was found. Ends within ten seconds and never rejects. `now` is epoch milliseconds. */
export async function publicUrlCheck(publicUrl: string, tokens: Tokens, now: number): Promise<Finding> {
  if (publicUrl === '') return { name: NAME, state: 'warn', found: sentence('address_none') };
  const challenge = randomBytes(16).toString('hex');
  try {
    const answer = await request(new URL(`/healthz?challenge=${challenge}`, publicUrl));
    return { name: NAME, ...judge(publicUrl, answer, (proof) => tokens.read(PURPOSE, proof) === challenge, now) };
  } catch (error) {
    return { name: NAME, state: 'fail', ...unreachable(publicUrl, error) };
  }
}

function request(url: URL): Promise<Answer> {
  return new Promise((resolve, reject) => {
    // An invalid certificate is accepted here, so that its names and end date can be reported.
    const options = { agent: false, rejectUnauthorized: false, headers: { accept: 'application/json' } } as const;
    const call = url.protocol === 'https:' ? requestHttps(url, options) : requestHttp(url, options);
    const timer = setTimeout(() => call.destroy(Object.assign(new Error(), { code: 'ETIMEDOUT' })), TIMEOUT_MS);
    call.on('error', reject);
    call.on('close', () => {
      clearTimeout(timer);
      // After an unusual response such as 101, only this event signals the end.
      reject(new Error('the connection was closed without an answer'));
    });
    call.on('response', (response) => {
      const certificate = response.socket instanceof TLSSocket ? certificateOf(response.socket) : null;
      response.on('error', reject);
      readBody(response, (body) => {
        resolve({ status: response.statusCode ?? 0, location: response.headers.location ?? '', body, certificate });
        call.destroy();
      });
    });
    call.end();
  });
}

function readBody(response: IncomingMessage, done: (body: string) => void): void {
  let body = '';
  response.setEncoding('utf8');
  response.on('data', (part: string) => {
    body += part;
    if (body.length > MAX_BYTES) done(body);
  });
  response.on('end', () => done(body));
}

function certificateOf(socket: TLSSocket): Certificate {
  const { subject, subjectaltname, valid_to } = socket.getPeerCertificate();
  const names = subjectaltname?.replaceAll(/(?:DNS|IP Address):/g, '') || String(subject?.CN ?? '');
  return {
    fault: socket.authorized ? null : String(socket.authorizationError),
    names: shorten(names),
    endsAt: new Date(valid_to),
  };
}

/** Turns an answer into the result of the check. */
function judge(url: string, answer: Answer, isProof: (proof: string) => boolean, now: number): CheckResult {
  const { host } = new URL(url);
  const { status, location, certificate } = answer;
  const day = certificate === null ? '' : dayOf(certificate.endsAt);
  if (certificate?.fault)
    return { state: 'fail', ...certificateFault(certificate.fault, { host, day, ...certificate }) };
  if (status >= 300 && status < 400 && location !== '') {
    const found = sentence('address_redirects', { url, where: shorten(location) });
    return { state: 'fail', found, advice: [sentence('address_redirects_cure')] };
  }
  const { alive, proof }: Record<string, unknown> = Object(parseJson(answer.body));
  if (status !== 200 || alive !== true || typeof proof !== 'string' || !isProof(proof)) {
    const code = status === 200 && alive === true ? 'address_elsewhere' : 'address_other';
    return {
      state: 'fail',
      found: sentence(code, { url, status }),
      advice: [sentence('address_other_cure', { host })],
    };
  }
  if (certificate === null) return { state: 'ok', found: sentence('address_leads_here', { url }) };
  return certificate.endsAt.getTime() - now < SOON_MS
    ? { state: 'warn', found: sentence('address_ends_soon', { url, day }), advice: [sentence('certificate_renewal')] }
    : { state: 'ok', found: sentence('address_certified', { url, day }) };
}

function certificateFault(fault: string, values: { host: string; day: string; names: string }) {
  if (fault === 'CERT_HAS_EXPIRED') {
    return { found: sentence('certificate_expired', values), advice: [sentence('certificate_renewal')] };
  }
  if (fault === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return { found: sentence('certificate_name', values), advice: [sentence('certificate_name_cure', values)] };
  }
  const found = sentence('certificate_untrusted', { ...values, code: shorten(fault) });
  return { found, advice: [sentence('certificate_untrusted_cure')] };
}

function unreachable(publicUrl: string, error: unknown): Pick<Finding, 'found' | 'advice'> {
  const url = new URL(publicUrl);
  const values = { host: url.hostname, port: url.port || (url.protocol === 'https:' ? 443 : 80), url: publicUrl };
  const { code, message }: { code?: unknown; message?: unknown } = Object(error);
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return { found: sentence('address_unknown', values), advice: [sentence('address_unknown_cure', values)] };
  }
  if (code === 'ETIMEDOUT' || code === 'EHOSTUNREACH') {
    return { found: sentence('address_silent', values), advice: [sentence('address_silent_cure', values)] };
  }
  const advice = [sentence('address_refused_cure', values)];
  if (code === 'ECONNREFUSED') return { found: sentence('address_refused', values), advice };
  const reason = shorten(String(message || code));
  return { found: sentence('address_broken', { ...values, reason }), advice };
}

/** Returns a text from the response as one short line. */
function shorten(text: string): string {
  return text
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_SHOWN);
}

interface StoredResult {
  /** The public URL that was checked. */
  url: string;
  /** When it was checked, epoch milliseconds. */
  at: number;
  finding: Finding;
}

/** Replaces the stored result. */
export function recordPublicUrlResult(client: Database, result: StoredResult): void {
  writeNamedValue(client, STORED_NAME, JSON.stringify({ ...result, finding: keptFinding(result.finding) }));
}

/** Returns the last result for this public URL; null if this URL was never checked. */
export function findPublicUrlResult(client: Database, publicUrl: string): StoredResult | null {
  const value = findNamedValue(client, STORED_NAME);
  if (value === null) return null;
  const { finding, ...result }: Omit<StoredResult, 'finding'> & { finding: KeptFinding } = JSON.parse(value);
  return result.url === publicUrl ? { ...result, finding: readFinding(finding) } : null;
}
