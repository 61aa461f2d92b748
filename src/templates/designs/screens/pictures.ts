/** The requests by which the design page lists pictures and uploads them. */
import type { FastifyInstance } from 'fastify';
import { conflict } from '../../../errors/failure.ts';
import type { Deps } from '../../../operations/deps.ts';
import { MAX_PICTURE_BYTES, type OfferedPicture, offeredPictures, storePicture } from '../../pictures/pictures.ts';
import type { Design } from '../designs.ts';
import type { Call } from './call.ts';

/** The maximum length of a file's name. Longer names are cut off. */
const MAX_FILE_NAME = 255;

/**
 * Registers the list and the upload of pictures. The body of an upload is the file itself. `requireDesign` returns the design of a valid
 * link, otherwise throws.
 */
export async function designPictures(
  app: FastifyInstance,
  deps: Deps,
  requireDesign: (token: string) => Design,
): Promise<void> {
  const { db, publicUrl } = deps;
  const withUrl = ({ path, ...picture }: OfferedPicture) => ({ src: publicUrl() + path, ...picture });

  app.addContentTypeParser(
    'application/octet-stream',
    { parseAs: 'buffer', bodyLimit: MAX_PICTURE_BYTES },
    (_request, body, done) => done(null, body),
  );

  app.get<Call>('/design/:token/pictures', async ({ params }) => {
    const { user_id } = requireDesign(params.token);
    return { pictures: offeredPictures(db, user_id).map(withUrl) };
  });

  // The link is checked before the body is read, so that a request with a wrong link costs only the check of its signature.
  const onRequest = async ({ params }: { params: Call['Params'] }) => {
    requireDesign(params.token);
  };
  app.post<Call>('/design/:token/pictures', { onRequest }, async ({ params, query, body }) => {
    const { user_id, locked } = requireDesign(params.token);
    if (locked !== null) throw conflict(locked);
    const fileName = String(query.name ?? '').slice(0, MAX_FILE_NAME);
    const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
    const { id } = await storePicture(deps, user_id, { bytes, fileName });
    return { pictures: offeredPictures(db, user_id, id).map(withUrl) };
  });
}
