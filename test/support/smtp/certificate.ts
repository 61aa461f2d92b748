/** A self-signed certificate for localhost, made without openssl, which not every machine has. */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { DAY_MS } from '../../../src/units.ts';

/** Object identifiers as DER writes them: ecdsa-with-SHA256, sha256WithRSAEncryption, commonName, basicConstraints, subjectAltName. */
const ECDSA_SHA256 = '2a8648ce3d040302';
const RSA_SHA256 = '2a864886f70d01010b';
const COMMON_NAME = '550403';
const BASIC_CONSTRAINTS = '551d13';
const ALTERNATIVE_NAMES = '551d11';

/**
 * The key and the certificate of localhost and 127.0.0.1, or of another name, as PEM; valid from two days ago until
 * tomorrow, or as given (RFC 5280 4.1).
 */
export function localhostCertificate({ endsInDays = 1, otherName = '', isRsa = false } = {}): {
  key: string;
  cert: string;
} {
  const { privateKey, publicKey } = isRsa
    ? generateKeyPairSync('rsa', { modulusLength: 2048 })
    : generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const algorithm = isRsa ? sequence(oid(RSA_SHA256), der(0x05)) : sequence(oid(ECDSA_SHA256));
  const name = sequence(der(0x31, sequence(oid(COMMON_NAME), der(0x0c, Buffer.from(otherName || 'localhost')))));
  const names = otherName
    ? sequence(der(0x82, Buffer.from(otherName)))
    : sequence(der(0x82, Buffer.from('localhost')), der(0x87, Buffer.from([127, 0, 0, 1])));
  const extensions = sequence(
    extension(BASIC_CONSTRAINTS, sequence(der(0x01, Buffer.from([0xff])))),
    extension(ALTERNATIVE_NAMES, names),
  );
  const body = sequence(
    der(0xa0, integer(Buffer.from([2]))),
    // The first byte makes it positive and leaves no needless zero.
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    name,
    sequence(utcTime(Date.now() - 2 * DAY_MS), utcTime(Date.now() + endsInDays * DAY_MS)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  );
  const signature = der(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)]));
  const lines =
    sequence(body, algorithm, signature)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
  };
}

/** A value with its tag and length (X.690 8.1). */
function der(tag: number, ...content: Buffer[]): Buffer {
  const value = Buffer.concat(content);
  const { length } = value;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), value]);
}

function sequence(...content: Buffer[]): Buffer {
  return der(0x30, ...content);
}

function integer(value: Buffer): Buffer {
  return der(0x02, value);
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(oid(id), der(0x04, value));
}

function utcTime(time: number): Buffer {
  const digits = new Date(time).toISOString().replaceAll(/\D/g, '').slice(2, 14);
  return der(0x17, Buffer.from(`${digits}Z`));
}
