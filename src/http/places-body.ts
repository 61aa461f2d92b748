/** The finished answer of the country, state and city endpoint, in each coding a client may ask for. */
import { readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { PLACES, type PlacesIndex, readPlacesIndex } from '../database/places.ts';

export type PlacesCoding = 'br' | 'gzip' | 'identity';

interface PlacesBody {
  /** Strong, quoted, and another one per coding (RFC 9110 8.8.3.3). */
  etag: string;
  /** Bytes in this coding. */
  length: number;
  content: Buffer | Readable;
}

/** Bytes. Node's own 16 KiB cost twice the time, and Brotli's unpacking three times. */
const CHUNK = 65_536;

const packed = new Map<string, Buffer>();
let knownIndex: PlacesIndex | undefined;

/** The ETag of the answer in a coding; needs no body in memory. */
export function placesEtag(coding: PlacesCoding): string {
  const { hash } = index().body;
  return coding === 'identity' ? `"${hash}"` : `"${hash}-${coding}"`;
}

/**
 * The answer `{"status":"success","message":{"countries":…,"states":…,"cities":…}}` (interface "Country, state, city") in a coding.
 * The compressed forms are read once and kept (2.7 MB together); the plain form, 11 MB, is unpacked anew as it is sent.
 */
export function placesBody(coding: PlacesCoding): PlacesBody {
  const etag = placesEtag(coding);
  if (coding === 'identity') {
    const unpacking = createGunzip({ chunkSize: CHUNK });
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
