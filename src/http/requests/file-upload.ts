/** Reads an uploaded file straight to disk. */
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { FastifyRequest } from 'fastify';
import { Failure } from '../../failure.ts';
import { messages } from '../../field-errors.ts';
import { sentence } from '../../sentences.ts';
import { assembleFields } from './form-fields.ts';
import { asFailure, fieldText, readParts } from './forms.ts';
import { FieldErrorCollector } from './validation.ts';

/** A file on disk with the other fields of its form, and what is wrong with the file. */
export interface FileUpload {
  /** At most 255 characters. Empty when there is no file, which `errors` says. */
  fileName: string;
  fields: Record<string, unknown>;
  errors: FieldErrorCollector;
}

/** Reads a form and writes its field `file` to `path`; the other fields may come before or after it. Throws 413 past `maxBytes`. */
export async function readFileUpload(request: FastifyRequest, path: string, maxBytes: number): Promise<FileUpload> {
  const errors = new FieldErrorCollector();
  const pairs: [string, string][] = [];
  let fileName: string | undefined;
  let isTooLarge = false;
  if (request.isMultipart()) {
    const limits = { fileSize: maxBytes, files: 1 };
    for await (const part of readParts(request, maxBytes + 64 * 1024, { limits })) {
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
  if (isTooLarge) throw new Failure(413, { file: [sentence('file_too_large', { count: maxBytes })] });
  if (fileName === undefined || fileName === '') errors.add('file', messages.required('file'));
  return { fileName: (fileName ?? '').slice(0, 255), fields: assembleFields(pairs), errors };
}
