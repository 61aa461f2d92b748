/** The picture library on the design page: whoever has a mail's signed link can use the account's pictures in the mail, and add more. */
import type { FastifyInstance } from 'fastify';
import { conflict } from '../../errors/failure.ts';
import type { Deps } from '../../operations/deps.ts';
import { MAX_PICTURE_BYTES, type OfferedPicture, offeredPictures, storePicture } from '../../pictures/pictures.ts';
import type { Design } from '../designs.ts';

const MAX_FILE_NAME = 255;

interface Call {
  Params: { token: string };
  Querystring: { name?: string };
}

/** Registers the list and the upload, whose body is the file itself. `requireDesign` gives the design of a valid link, or throws. */
export async function designPictures(
  app: FastifyInstance,
  deps: Deps,
  requireDesign: (token: string) => Design,
): Promise<void> {
  const { db, publicUrl } = deps;
  const asset = ({ path, ...picture }: OfferedPicture) => ({ src: publicUrl() + path, ...picture });

  app.addContentTypeParser(
    'application/octet-stream',
    { parseAs: 'buffer', bodyLimit: MAX_PICTURE_BYTES },
    (_request, body, done) => done(null, body),
  );

  app.get<Call>('/design/:token/pictures', async ({ params }) => {
    const { user_id } = requireDesign(params.token);
    return { pictures: offeredPictures(db, user_id).map(asset) };
  });

  // The link is checked before the body is read, so that a wrong one costs only the check of its signature.
  const onRequest = async ({ params }: { params: Call['Params'] }) => {
    requireDesign(params.token);
  };
  app.post<Call>('/design/:token/pictures', { onRequest }, async ({ params, query, body }) => {
    const { user_id, locked } = requireDesign(params.token);
    if (locked !== null) throw conflict(locked);
    const fileName = String(query.name ?? '').slice(0, MAX_FILE_NAME);
    const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
    const { id } = await storePicture(deps, user_id, { bytes, fileName });
    return { pictures: offeredPictures(db, user_id, id).map(asset) };
  });
}
