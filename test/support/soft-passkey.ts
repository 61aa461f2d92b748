/** A passkey made of a key and a counter, for tests of what a server must refuse; what it answers can be bent. */
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** What a device says, where it is not what the server asked for. */
export interface Bent {
  origin?: string;
  rpId?: string;
  type?: string;
  userHandle?: string;
  /** True if the device has recognized its person. */
  isVerified?: boolean;
  counter?: number;
  /** Signs something else. */
  isForged?: boolean;
  id?: string;
  challenge?: string;
}

const PRESENT = 1;
const VERIFIED = 4;
const WITH_KEY = 64;

export class SoftPasskey {
  readonly id = randomBytes(16);
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  readonly #origin: string;
  counter = 0;

  constructor(origin: string) {
    this.#origin = origin;
  }

  /** The answer to a request for a new passkey, in JSON. */
  register(challenge: string, bent: Bent = {}): string {
    const { x = '', y = '' } = this.#keys.publicKey.export({ format: 'jwk' });
    const key = cbor(
      new Map<number, Cbor>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(x, 'base64url')],
        [-3, Buffer.from(y, 'base64url')],
      ]),
    );
    const credential = Buffer.concat([Buffer.alloc(16), Buffer.from([0, this.id.length]), this.id, key]);
    const authData = Buffer.concat([this.#authenticatorData(bent, WITH_KEY), credential]);
    const attestation = new Map<string, Cbor>([
      ['fmt', 'none'],
      ['attStmt', new Map<string, Cbor>()],
      ['authData', authData],
    ]);
    return this.#answer(challenge, bent, 'webauthn.create', {
      attestationObject: cbor(attestation).toString('base64url'),
    });
  }

  /** The answer to a request to sign in, in JSON. */
  signIn(challenge: string, userHandle: string, bent: Bent = {}): string {
    this.counter = bent.counter ?? this.counter + 1;
    const data = this.#authenticatorData(bent, 0);
    const clientData = this.#clientData(challenge, bent, 'webauthn.get');
    const signed = Buffer.concat([data, createHash('sha256').update(clientData).digest()]);
    const signature = sign('sha256', bent.isForged ? Buffer.concat([signed, data]) : signed, this.#keys.privateKey);
    return this.#answer(challenge, bent, 'webauthn.get', {
      authenticatorData: data.toString('base64url'),
      signature: signature.toString('base64url'),
      userHandle: bent.userHandle ?? userHandle,
    });
  }

  #answer(challenge: string, bent: Bent, type: string, response: Record<string, string>): string {
    const id = bent.id ?? this.id.toString('base64url');
    const clientDataJSON = this.#clientData(challenge, bent, type).toString('base64url');
    return JSON.stringify({ id, rawId: id, type: 'public-key', response: { clientDataJSON, ...response } });
  }

  #clientData(challenge: string, bent: Bent, type: string): Buffer {
    const { origin = this.#origin } = bent;
    return Buffer.from(JSON.stringify({ type: bent.type ?? type, challenge: bent.challenge ?? challenge, origin }));
  }

  #authenticatorData({ rpId = new URL(this.#origin).hostname, isVerified = true }: Bent, flags: number): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.counter);
    const all = PRESENT | (isVerified ? VERIFIED : 0) | flags;
    return Buffer.concat([createHash('sha256').update(rpId).digest(), Buffer.from([all]), counter]);
  }
}

type Cbor = number | string | Buffer | Map<string, Cbor> | Map<number, Cbor>;

/** What of CBOR (RFC 8949) is needed. */
function cbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  const parts = [...value].flatMap(([name, item]) => [cbor(name), cbor(item)]);
  return Buffer.concat([head(5, value.size), ...parts]);
}

function head(major: number, size: number): Buffer {
  if (size < 24) return Buffer.from([(major << 5) | size]);
  return size < 256 ? Buffer.from([(major << 5) | 24, size]) : Buffer.from([(major << 5) | 25, size >> 8, size & 255]);
}
