/**
 * Reads ZIP archives of strangers. A path in one is only a name: it opens and writes no file. Everything has a bound, also what entries
 * unpack to: the sizes that the archive states are added up first, and an entry with more bytes than it states is refused while it is read.
 */
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { SENTENCES, sentence } from '../../errors/sentences.ts';
import { CsvError } from '../import/csv-parse.ts';
import { type ExportFile, unreadable } from './exports.ts';

const MAX_ENTRIES = 10_000;
/** All entries together may unpack to so many bytes. */
const MAX_UNPACKED = 500_000_000;

/** Folders, hidden files, and what macOS adds to an archive. */
const NO_FILE = /\/$|(?:^|\/)(?:\.|__MACOSX\/)/;

/** The files of an archive, as long as it is open. */
export interface Archive {
  files: ExportFile[];
  close(): void;
}

/** Lists the files of an archive. Throws a `CsvError` when it is none, encrypted, or too large. */
export async function openZip(path: string): Promise<Archive> {
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
  if (zip.entryCount > MAX_ENTRIES) throw unreadable(String(sentence('archive_entries', { count: MAX_ENTRIES })));
  const entries: Entry[] = [];
  let unpacked = 0;
  for await (const entry of zip.eachEntry()) {
    unpacked += entry.uncompressedSize;
    if (!NO_FILE.test(entry.fileName)) entries.push(entry);
  }
  if (unpacked > MAX_UNPACKED) throw unreadable(String(sentence('archive_large', { count: MAX_UNPACKED / 1e6 })));
  return entries;
}

async function* unpack(zip: ZipFile, entry: Entry): AsyncGenerator<Buffer> {
  try {
    yield* await zip.openReadStreamPromise(entry);
  } catch (error) {
    throw refusal(error);
  }
}

/** What yauzl found wrong, without the details of the format. */
function refusal(error: unknown): CsvError {
  return error instanceof CsvError ? error : unreadable(SENTENCES.archive_broken);
}
