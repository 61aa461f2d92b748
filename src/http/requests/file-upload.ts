/** Reads a form with a file, which is written to disk as it arrives. */
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { FastifyRequest } from 'fastify';
import { Failure, payloadTooLarge } from '../../errors/failure.ts';
import { messages } from '../../errors/field-errors.ts';
import { sentence } from '../../errors/sentences.ts';
import { assembleFields } from './form-fields.ts';
import { asFailure, fieldText, readParts } from './forms.ts';
import { FieldErrorCollector } from './validation.ts';

/** Limits of the fields next to a file, which are kept in memory while the file arrives. */
const FIELD_LIMITS = { fields: 100, fieldSize: 16 * 1024 };

/** An uploaded file on disk with the other fields of its form, and the errors of the file. */
export interface FileUpload {
  /** At most 255 characters. Empty if there is no file; `errors` then has an error. */
  fileName: string;
  fields: Record<string, unknown>;
  errors: FieldErrorCollector;
}

/**
 * Reads a form and writes its field `file` to `path`; the other fields may come before or after it. Throws 413 beyond `maxBytes`, or if the
 * other fields are too many or too long, and 401 or 403 if the caller lost the right to upload while the file arrived.
 */
export async function readFileUpload(request: FastifyRequest, path: string, maxBytes: number): Promise<FileUpload> {
  const errors = new FieldErrorCollector();
  const pairs: [string, string][] = [];
  let fileName: string | undefined;
  let isTooLarge = false;
  if (request.isMultipart()) {
    const limits = { ...FIELD_LIMITS, fileSize: maxBytes, files: 1 };
    for await (const part of readParts(request, maxBytes + 64 * 1024, { limits })) {
      if (part.type === 'field' && part.valueTruncated) throw payloadTooLarge();
      if (part.type === 'field') pairs.push([part.fieldname, fieldText(part.value)]);
      else if (part.fieldname !== 'file') part.file.resume();
      else {
        fileName = part.filename;
        await pipeline(part.file, createWriteStream(path)).catch((error) => {
          throw asFailure(error);
        });
        isTooLarge = part.file.truncated;
      }
    }
  }
  // A file may take an hour to arrive. Meanwhile the keys may be revoked, the session ended, or the user's role lowered.
  request.requireCaller();
  if (isTooLarge) throw new Failure(413, { file: [sentence('file_too_large', { count: maxBytes })] });
  if (fileName === undefined || fileName === '') errors.add('file', messages.required('file'));
  return { fileName: (fileName ?? '').slice(0, 255), fields: assembleFields(pairs), errors };
}
