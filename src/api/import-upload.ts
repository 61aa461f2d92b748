/** Reads an uploaded file that is to be imported: a CSV file, or the export of another service. */
import type { FastifyRequest } from 'fastify';
import { VENDOR_NAMES, type VendorName } from '../audience/migrate/vendors/index.ts';
import { messages } from '../field-errors.ts';
import { SENTENCES } from '../sentences.ts';
import { type FileUpload, readFileUpload } from './file-upload.ts';

/** Reads a form and writes its field `file` to `path`. `source` is the service that its field of this name gives; else null. Throws 413 past `maxBytes`. */
export async function readImportUpload(
  request: FastifyRequest,
  path: string,
  maxBytes: number,
): Promise<FileUpload & { source: VendorName | null }> {
  const upload = await readFileUpload(request, path, maxBytes);
  const { source: given = '' } = upload.fields;
  const source = VENDOR_NAMES.find((name) => name === given) ?? null;
  if (source === null && given !== '') upload.errors.add('source', messages.selected('source'));
  const isNamed = source === null ? /\.csv$/i : /\.(?:zip|csv|json)$/i;
  if (!upload.errors.has('file') && !isNamed.test(upload.fileName))
    upload.errors.add('file', source === null ? SENTENCES.file_not_csv : SENTENCES.file_not_export);
  return { ...upload, source };
}
