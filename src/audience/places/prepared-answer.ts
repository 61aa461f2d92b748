/** The prepared answer of the country, state and city endpoint, in each content coding. */
import { readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { PLACES, type PlacesIndex, readPlacesIndex } from '../../database/seed.ts';

export type PlacesCoding = 'br' | 'gzip' | 'identity';

interface PlacesBody {
  /** A strong, quoted ETag, different for each coding (RFC 9110, 8.8.3.3). */
  etag: string;
  /** Bytes in this coding. */
  length: number;
  content: Buffer | Readable;
}

/** Node's default of 16 KiB takes twice the time, and unpacking Brotli instead of gzip three times. */
const CHUNK_BYTES = 65_536;

const packed = new Map<string, Buffer>();
let knownIndex: PlacesIndex | undefined;

/** The ETag of the answer in a coding. Does not load the body. */
export function placesEtag(coding: PlacesCoding): string {
  const { hash } = index().body;
  return coding === 'identity' ? `"${hash}"` : `"${hash}-${coding}"`;
}

/**
 * The answer `{"status":"success","message":{"countries":…,"states":…,"cities":…}}` in a coding. The compressed forms are read once and
 * kept in memory (2.7 MB together); the plain form (11 MB) is unpacked again each time it is sent.
 */
export function placesBody(coding: PlacesCoding): PlacesBody {
  const etag = placesEtag(coding);
  if (coding === 'identity') {
    const unpacking = createGunzip({ chunkSize: CHUNK_BYTES });
    unpacking.end(packedBody('body.json.gz'));
    return { etag, length: index().body.length, content: unpacking };
  }
  const content = packedBody(coding === 'br' ? 'body.json.br' : 'body.json.gz');
  return { etag, length: content.length, content };
}

function index(): PlacesIndex {
  knownIndex ??= readPlacesIndex();
  return knownIndex;
}

function packedBody(file: string): Buffer {
  const content = packed.get(file) ?? readFileSync(new URL(file, PLACES));
  packed.set(file, content);
  return content;
}
