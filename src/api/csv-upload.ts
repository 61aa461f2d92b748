/** Reads an uploaded CSV file straight to disk. */
import type { FastifyRequest } from 'fastify';
import { SENTENCES } from '../sentences.ts';
import { type FileUpload, readFileUpload } from './file-upload.ts';

/** Reads a form and writes its field `file` to `path`, which must be named as a CSV file is. Throws 413 past `maxBytes`. */
export async function readCsvUpload(request: FastifyRequest, path: string, maxBytes: number): Promise<FileUpload> {
  const upload = await readFileUpload(request, path, maxBytes);
  if (!upload.errors.has('file') && !/\.csv$/i.test(upload.fileName)) upload.errors.add('file', SENTENCES.file_not_csv);
  return upload;
}
