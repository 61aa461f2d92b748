/** Checks whether the links in mails lead to this service, and its certificate. Requests only the public URL. */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { TLSSocket } from 'node:tls';
import type { Database } from 'better-sqlite3';
import { findNamedValue, writeNamedValue } from '../../database/named-values.ts';
import type { Tokens } from '../../delivery/links/tokens.ts';
import { sentence } from '../../errors/sentences.ts';
import { type CheckResult, type Finding, type KeptFinding, keptFinding, readFinding } from './finding.ts';

// Importing node:http would load everything it offers, including Node's own undici: 14 MB and 35 ms of CPU time in each thread.
const { request: requestHttp } = process.getBuiltinModule('node:http');

const NAME = 'Public address';
const PATIENCE_MS = 10_000;
/** The number of bytes read of a response, and of characters shown of a foreign text. */
const MAX_BYTES = 4096;
const MAX_SHOWN = 200;
const DAY_MS = 24 * 60 * 60 * 1000;
/** A certificate that expires sooner than this was not renewed 30 days before its end, as it should have been. */
const SOON_MS = 14 * DAY_MS;
const PURPOSE = 'healthz';
const KEPT = 'public_address_seen';

interface Answer {
  status: number;
  /** The target of a redirect; empty if there is none. */
  location: string;
  body: string;
  /** Null: the URL does not use TLS. */
  certificate: Certificate | null;
}

interface Certificate {
  /** The reason of node:tls for not accepting the certificate; null if it is accepted. */
  fault: string | null;
  names: string;
  endsAt: Date;
}

/** The reply of /healthz to a challenge: only a service with the secrets of this database can compute it. */
export function proofOf(tokens: Tokens, challenge: string): string {
  return tokens.sign(PURPOSE, challenge);
}

/** Requests the public URL, and describes any problem. Ends within ten seconds and never rejects. `now` is epoch milliseconds. */
export async function publicUrlCheck(publicUrl: string, tokens: Tokens, now: number): Promise<Finding> {
  if (publicUrl === '') return { name: NAME, state: 'warn', found: sentence('address_none') };
  const challenge = randomBytes(16).toString('hex');
  try {
    const answer = await ask(new URL(`/healthz?challenge=${challenge}`, publicUrl));
    return { name: NAME, ...judge(publicUrl, answer, (proof) => tokens.read(PURPOSE, proof) === challenge, now) };
  } catch (error) {
    return { name: NAME, state: 'fail', ...unreachable(publicUrl, error) };
  }
}

function ask(url: URL): Promise<Answer> {
  return new Promise((resolve, reject) => {
    // A bad certificate is judged here, so that its names and end date can be reported.
    const options = { agent: false, rejectUnauthorized: false, headers: { accept: 'application/json' } } as const;
    const call = url.protocol === 'https:' ? requestHttps(url, options) : requestHttp(url, options);
    const timer = setTimeout(() => call.destroy(Object.assign(new Error(), { code: 'ETIMEDOUT' })), PATIENCE_MS);
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
    names: shortened(names),
    endsAt: new Date(valid_to),
  };
}

function judge(url: string, answer: Answer, isProof: (proof: string) => boolean, now: number): CheckResult {
  const { host } = new URL(url);
  const { status, location, certificate } = answer;
  const day = certificate?.endsAt.toISOString().slice(0, 10) ?? '';
  if (certificate?.fault)
    return { state: 'fail', ...certificateFault(certificate.fault, { host, day, ...certificate }) };
  if (status >= 300 && status < 400 && location !== '') {
    const found = sentence('address_redirects', { url, where: shortened(location) });
    return { state: 'fail', found, advice: [sentence('address_redirects_cure')] };
  }
  const { alive, proof } = jsonOf(answer.body);
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
  const found = sentence('certificate_untrusted', { ...values, code: shortened(fault) });
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
  const reason = shortened(String(message || code));
  return { found: sentence('address_broken', { ...values, reason }), advice };
}

function jsonOf(text: string): { alive?: unknown; proof?: unknown } {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/** A foreign text as one short line. */
function shortened(text: string): string {
  return text
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_SHOWN);
}

interface KeptResult {
  /** The public URL at that time. */
  url: string;
  /** Epoch milliseconds. */
  at: number;
  finding: Finding;
}

/** Replaces the stored result. */
export function recordPublicUrlResult(client: Database, seen: KeptResult): void {
  writeNamedValue(client, KEPT, JSON.stringify({ ...seen, finding: keptFinding(seen.finding) }));
}

/** The last result for this public URL, with its time; null if there is none. */
export function findPublicUrlResult(client: Database, publicUrl: string): KeptResult | null {
  const value = findNamedValue(client, KEPT);
  if (value === null) return null;
  const { finding, ...seen }: Omit<KeptResult, 'finding'> & { finding: KeptFinding } = JSON.parse(value);
  return seen.url === publicUrl ? { ...seen, finding: readFinding(finding) } : null;
}
