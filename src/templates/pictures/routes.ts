/** The API for pictures. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { makeUploadFolder } from '../../audience/import/uploads.ts';
import { notFound } from '../../errors/failure.ts';
import { MAX_LINE_CHARACTERS, messages } from '../../errors/field-errors.ts';
import { inTurn } from '../../http/account-share.ts';
import { sendRecord } from '../../http/list-response.ts';
import { contextOf, operationRoutes } from '../../http/operation-routes.ts';
import { type FileUpload, readFileUpload } from '../../http/requests/file-upload.ts';
import { line, successWith, zeroOrOne } from '../../http/requests/schemas.ts';
import type { Deps } from '../../operations/deps.ts';
import type { Context } from '../../operations/operation.ts';
import { MEBIBYTE } from '../../units.ts';
import { deletePicture, listPictures, listPictureUses, Picture, readPicture, updatePicture } from './operations.ts';
import { MAX_PICTURE_BYTES, storePicture } from './pictures.ts';

const TAG = 'Images (pictures)';

const UploadBody = Type.Object({
  file: Type.String({
    format: 'binary',
    description: `A PNG, JPEG, GIF or WebP of ${MAX_PICTURE_BYTES / MEBIBYTE} MiB at most.`,
  }),
  name: Type.Optional(line({ description: 'The name of the image; the name of the file by default.' })),
  alt: Type.Optional(line({ description: 'The alternative text.' })),
});

export const pictureRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  app.post(
    '/pictures/upload',
    {
      schema: {
        tags: [TAG],
        summary: 'Add an image for e-mails (addition)',
        description:
          'The format is recognized from the bytes, not from the name. Whoever has the URL can load the image without keys. An image that the account has already is not stored again: is_new is 0.',
        body: UploadBody,
        consumes: ['multipart/form-data'],
        response: successWith({
          picture: Picture,
          is_new: zeroOrOne(
            '1: the image was stored; 0: the account had an image with the same bytes, and `picture` is that image.',
          ),
        }),
      },
      // The handler reads the body itself; the schema is only for the OpenAPI document.
      validatorCompiler: () => () => true,
      config: { upload: true },
    },
    async (request, reply) => {
      const { picture, is_new } = await receivePicture(contextOf(request, deps), request);
      return sendRecord(reply, 'picture', picture, { is_new });
    },
  );

  const routes = operationRoutes(app, deps, TAG);
  routes.list('GET /pictures', listPictures);
  routes.record('GET /pictures/details', readPicture);
  routes.list('GET /pictures/uses', listPictureUses);
  routes.change('POST /pictures/update', updatePicture, 'Updated Successfully');
  routes.change('POST /pictures/delete', deletePicture, 'Deleted Successfully');
};

/**
 * Stores the picture in a submitted form. Returns the picture's record as JSON, and in `is_new` 0 if the account had the picture already.
 * Throws 413 if the file is too large, 422 if it is no accepted picture, and 503 if too many uploads wait.
 */
export async function receivePicture(
  context: Context,
  form: FastifyRequest,
): Promise<{ picture: string; is_new: 0 | 1 }> {
  const { accountId, config } = context;
  const folder = await makeUploadFolder(config.DATABASE_PATH);
  try {
    const path = join(folder, 'picture');
    const upload = await readFileUpload(form, path, MAX_PICTURE_BYTES);
    const { name, alt } = readTexts(upload);
    upload.errors.throwIfAny();
    const { fileName } = upload;
    const { id, isNew } = await inTurn(accountId, async () =>
      storePicture(context, accountId, { bytes: await readFile(path), fileName, name, alt }),
    );
    const picture = await readPicture.json(context, { id: String(id) });
    if (picture === undefined) throw notFound();
    return { picture, is_new: isNew ? 1 : 0 };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Reads the texts of a submitted form. Adds their faults to the errors of the upload. */
function readTexts({ fields, errors }: FileUpload): { name?: string; alt?: string } {
  const texts: { name?: string; alt?: string } = {};
  for (const field of ['name', 'alt'] as const) {
    const value = fields[field];
    if (value === undefined) continue;
    if (typeof value !== 'string') {
      errors.add(field, messages.string(field));
      continue;
    }
    const text = value.trim();
    if (text.length > MAX_LINE_CHARACTERS) errors.add(field, messages.maximum(field, MAX_LINE_CHARACTERS));
    if (/[\p{Cc}\u2028\u2029]/u.test(text)) errors.add(field, messages.oneLine(field));
    texts[field] = text;
  }
  return texts;
}
