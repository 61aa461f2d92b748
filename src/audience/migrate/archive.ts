/**
 * Opens an export: a ZIP archive, or a single file. A path in an archive is only a name; no file with it is opened or written. All sizes
 * are limited, because archives come from untrusted users: the stated sizes of the unpacked files are added up first, and a file with more
 * bytes than stated is refused while it is read.
 */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { sentence } from '../../errors/sentences.ts';
import { CsvError } from '../import/csv-parse.ts';
import type { ExportFile } from './export-files.ts';

const MAX_ENTRIES = 10_000;
const MEGABYTE = 1_000_000;
/** The maximum unpacked size of all entries together, in bytes. */
const MAX_UNPACKED = 500 * MEGABYTE;
/** The first bytes of a ZIP archive. */
const ZIP_BEGIN = Buffer.from('PK\x03\x04');

/** Folders, hidden files, and files that macOS adds to an archive. */
const NO_FILE = /\/$|(?:^|\/)(?:\.|__MACOSX\/)/;

/** The files of an open export. */
export interface Archive {
  files: ExportFile[];
  close(): void;
}

/** Opens an uploaded file. Returns the files of an archive, or the uploaded file itself. */
export async function openExport({ path, fileName }: { path: string; fileName: string }): Promise<Archive> {
  const file = await open(path);
  const { buffer } = await file
    .read(Buffer.alloc(ZIP_BEGIN.length), 0, ZIP_BEGIN.length, 0)
    .finally(() => file.close());
  if (buffer.equals(ZIP_BEGIN)) return openZip(path);
  return { files: [{ name: fileName, open: () => createReadStream(path) }], close() {} };
}

/** Lists the files of an archive. Throws a `CsvError` if the file is not an archive, is encrypted, or is too large. */
async function openZip(path: string): Promise<Archive> {
  const zip = await openPromise(path, { autoClose: false }).catch((error) => {
    throw refusal(error);
  });
  try {
    const entries = await entriesOf(zip);
    const files = entries.map((entry) => ({ name: entry.fileName, open: () => unpack(zip, entry) }));
    return { files, close: () => zip.close() };
  } catch (error) {
    zip.close();
    throw refusal(error);
  }
}

async function entriesOf(zip: ZipFile): Promise<Entry[]> {
  if (zip.entryCount > MAX_ENTRIES) throw new CsvError(null, sentence('archive_entries', { count: MAX_ENTRIES }));
  const entries: Entry[] = [];
  let unpacked = 0;
  for await (const entry of zip.eachEntry()) {
    unpacked += entry.uncompressedSize;
    if (!NO_FILE.test(entry.fileName)) entries.push(entry);
  }
  if (unpacked > MAX_UNPACKED) throw new CsvError(null, sentence('archive_large', { count: MAX_UNPACKED / MEGABYTE }));
  return entries;
}

async function* unpack(zip: ZipFile, entry: Entry): AsyncGenerator<Buffer> {
  try {
    yield* await zip.openReadStreamPromise(entry);
  } catch (error) {
    throw refusal(error);
  }
}

/** Returns the error that yauzl found, without the details of the format. */
function refusal(error: unknown): CsvError {
  return error instanceof CsvError ? error : new CsvError(null, sentence('archive_broken'));
}
