/** The complete list of countries, states and cities: one body for each content coding, with its ETag. */
import { readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { PLACES, type PlacesIndex, readPlacesIndex } from '../../database/place-data.ts';

export type PlacesCoding = 'br' | 'gzip' | 'identity';

interface PlacesBody {
  /** A strong, quoted ETag, different for each content coding (RFC 9110, 8.8.3.3). */
  etag: string;
  /** The size in bytes in this coding. */
  length: number;
  content: Buffer | Readable;
}

/**
 * The size of the pieces in which the list is unpacked. With Node's default of 16 KiB unpacking takes twice as long. Brotli
 * would take three times as long as gzip.
 */
const CHUNK_BYTES = 65_536;

const packed = new Map<string, Buffer>();
let knownIndex: PlacesIndex | undefined;

/** Returns the ETag of the complete list in a content coding. Does not load the list. */
export function placesEtag(coding: PlacesCoding): string {
  const { hash } = index().body;
  return coding === 'identity' ? `"${hash}"` : `"${hash}-${coding}"`;
}

/**
 * Returns the answer `{"status":"success","message":{"countries":…,"states":…,"cities":…}}` in a coding. The compressed forms
 * are read once and kept in memory (2.7 MB together); the plain form (11 MB) is unpacked each time it is sent.
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
